//! The arguments of the tools. Their descriptions are what a model reads in the JSON schemas.

use groupwire_client::Qos;
use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::documents::Edit;

/// No arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

/// Arguments of `join_room`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct JoinRoom {
    /// The name of the room.
    pub(crate) room: String,
    /// Channels to open at once, so that their messages are kept from now on. Channels are also
    /// opened when they are first read or sent on.
    #[serde(default)]
    pub(crate) channels: Vec<String>,
}

/// Arguments of tools that need only a room.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OneRoom {
    /// The name of the room.
    pub(crate) room: String,
}

/// Arguments of `participants`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Participants {
    /// The name of the room.
    pub(crate) room: String,
    /// Only participants with greater numbers: `next_after` of the page before. Default: 0.
    #[serde(default)]
    pub(crate) after: u32,
    /// Most participants in the result. Default: 100.
    #[schemars(range(min = 1, max = 100))]
    pub(crate) limit: Option<u32>,
}

/// Arguments of `set_presence`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetPresence {
    /// The name of the room.
    pub(crate) room: String,
    /// What the other participants see beside the name, for example {"status": "reading"}. It
    /// replaces what was set before. The fields `name` and `agent` are set by the agent's operator
    /// and cannot be changed.
    pub(crate) presence: Map<String, Value>,
}

/// Arguments of `send_message`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SendMessage {
    /// The name of the room.
    pub(crate) room: String,
    /// The name of the channel, which the application of the room has defined.
    pub(crate) channel: String,
    /// The message as text. Give either `text` or `json`.
    pub(crate) text: Option<String>,
    /// The message as a JSON value, which is sent as JSON text. Give either `text` or `json`.
    #[serde(default, deserialize_with = "present")]
    pub(crate) json: Option<Value>,
    /// On an awareness channel: the key of the value. A newer value of a key replaces the older
    /// one.
    pub(crate) key: Option<String>,
    /// The number of the only participant that receives the message. Default: all.
    pub(crate) to: Option<u32>,
    /// The kind of the channel, if the room does not have it yet. Default: transaction.
    #[serde(default)]
    pub(crate) kind: ChannelKind,
}

/// Arguments of `read_messages`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadMessages {
    /// The name of the room.
    pub(crate) room: String,
    /// The name of the channel, which the application of the room has defined.
    pub(crate) channel: String,
    /// Only messages with greater numbers: `next_after` of the page before. Default: 0, for all
    /// messages that are kept.
    #[serde(default)]
    pub(crate) after: u64,
    /// Most messages in the result. Default: 50.
    #[schemars(range(min = 1, max = 100))]
    pub(crate) limit: Option<u32>,
    /// The kind of the channel, if the room does not have it yet. Default: transaction.
    #[serde(default)]
    pub(crate) kind: ChannelKind,
}

/// Arguments of `wait_for_changes`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WaitForChanges {
    /// The name of the room.
    pub(crate) room: String,
    /// Return at once if there are changes with greater numbers: `newest` or `next_after` of an
    /// earlier result. Default: wait for changes from now on.
    pub(crate) after: Option<u64>,
    /// The longest time to wait, in seconds. Default: 30.
    #[schemars(range(min = 0, max = 50))]
    pub(crate) timeout_seconds: Option<u32>,
}

/// Arguments of `read_shared`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadShared {
    /// The name of the room.
    pub(crate) room: String,
    /// The name of the map, list or counter. Default: the names that are known are listed.
    pub(crate) name: Option<String>,
    /// What the application has under this name. Has to be given with `name`.
    pub(crate) kind: Option<DataKind>,
    /// Only the value with this key of a map, or this id of a list.
    pub(crate) key: Option<String>,
    /// How many entries to leave out: `next_skip` of the page before. Default: 0.
    #[serde(default)]
    pub(crate) skip: u32,
    /// Most entries in the result. Default: 50.
    #[schemars(range(min = 1, max = 100))]
    pub(crate) limit: Option<u32>,
}

/// Arguments of `change_shared`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangeShared {
    /// The name of the room.
    pub(crate) room: String,
    /// The changes, at most 50. They count as a whole or not at all, and are undone as a whole.
    #[schemars(length(min = 1, max = 50))]
    pub(crate) changes: Vec<DataChange>,
}

/// Arguments of `undo`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Undo {
    /// The name of the room.
    pub(crate) room: String,
    /// The Yjs document in which the last edit_text is taken back. Default: shared data, whose last
    /// change_shared is.
    pub(crate) document: Option<String>,
}

/// Arguments of `read_text`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadText {
    /// The name of the room.
    pub(crate) room: String,
    /// The name of the Yjs document in the room. Default: yjs.
    pub(crate) document: Option<String>,
    /// The name of the text in the document, which may be empty. Default: the texts that there are
    /// are listed.
    pub(crate) text: Option<String>,
    /// How many characters to leave out: `next_skip` of the part before. Default: 0.
    #[serde(default)]
    pub(crate) skip: u32,
}

/// Arguments of `edit_text`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditText {
    /// The name of the room.
    pub(crate) room: String,
    /// The name of the Yjs document in the room. Default: yjs.
    pub(crate) document: Option<String>,
    /// The name of the text in the document, which may be empty.
    pub(crate) text: String,
    /// What the text is, if it is not there yet.
    pub(crate) kind: Option<TextKind>,
    /// The edits, at most 50, of different words. They count as a whole or not at all, and are
    /// undone as a whole.
    #[schemars(length(min = 1, max = 50))]
    pub(crate) edits: Vec<Edit>,
}

/// A kind of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TextKind {
    /// A text with line breaks: Y.Text, as CodeMirror, Monaco and Quill use it.
    Text,
    /// Paragraphs and other elements: Y.XmlFragment, as Tiptap and ProseMirror use it.
    Blocks,
}

/// A kind of shared data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DataKind {
    /// Values by keys.
    Map,
    /// Values in an order, with ids that stay the same when others are inserted or moved.
    List,
    /// A whole number that all can add to.
    Counter,
}

/// A change of shared data. `name` is the name of the map, list or counter.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum DataChange {
    /// Sets the value of a key.
    MapSet { name: String, key: String, value: Value },
    /// Deletes a key.
    MapDelete { name: String, key: String },
    /// Inserts a value before the one at `index`, counted from 0. Without `index`: at the end.
    ListInsert { name: String, index: Option<u32>, value: Value },
    /// Replaces the value with this id.
    ListSet { name: String, id: String, value: Value },
    /// Moves the value with this id, so that it has this index afterwards.
    ListMove { name: String, id: String, index: u32 },
    /// Deletes the value with this id.
    ListDelete { name: String, id: String },
    /// Adds a whole number, which may be negative.
    CounterAdd { name: String, by: i64 },
}

/// The kind of a channel.
#[derive(Debug, Default, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ChannelKind {
    /// Every message arrives, once and in order.
    #[default]
    Transaction,
    /// Values that newer ones replace, such as positions. Some may be lost.
    Awareness,
}

impl ChannelKind {
    pub(crate) fn qos(self) -> Qos {
        match self {
            ChannelKind::Transaction => Qos::transaction(),
            ChannelKind::Awareness => Qos::awareness(),
        }
    }
}

/// Tells `"json": null`, which is a value, from a missing field.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}
