//! The arguments of the functions of a session: types of `groupwire_ffi`, declared for UniFFI.

use groupwire_ffi::{
    ChannelOptions, Kind, Memory, Options, Overflow, Qos, Recipient, SendOptions, Sent,
};

/// How to join a room.
#[uniffi::remote(Record)]
pub struct Options {
    /// The name of the room, 1 to 256 bytes.
    pub room: String,
    /// A token by which the server decides who may join; empty for none. When another one is
    /// needed, `Event.TokenWanted` asks for it, and
    /// `Session.set_token` gives it.
    pub token: Vec<u8>,
    /// The presence of this participant, which all others see: at most 4,096 bytes.
    pub presence: Vec<u8>,
    /// How the server is authenticated over `https://` and `wss://`: `auto`, `roots`, `roots:FILE`,
    /// `ask`, or SHA-256 hashes of 64 hexadecimal digits, separated by commas
    /// (docs/transports.md). Empty: `auto`.
    pub trust: String,
    /// The memory of the models that compress messages.
    pub memory: Memory,
}

/// The memory of each of the up to four models that compress the messages of a connection.
#[uniffi::remote(Enum)]
pub enum Memory {
    /// 64 KiB.
    Full,
    /// 16 KiB, with which messages take more bytes.
    Small,
}

/// The two kinds of channels.
#[uniffi::remote(Enum)]
pub enum Kind {
    /// Every message reaches everybody, once and in one order.
    Transaction,
    /// Some messages may be lost, and newer ones replace older ones.
    Awareness,
}

/// What happens above the highest rate.
#[uniffi::remote(Enum)]
pub enum Overflow {
    /// `Conflate` for awareness, `Aggregate` for transactions.
    Usual,
    /// Only the newest value of each key is sent.
    Conflate,
    /// All values are sent, in fewer packets.
    Aggregate,
}

/// What the messages of a channel need (docs/qos.md). The participant that opens a channel first
/// decides; the server has the last word.
#[uniffi::remote(Record)]
pub struct Qos {
    /// The kind of the channel.
    pub kind: Kind,
    /// What happens above the highest rate.
    pub overflow: Overflow,
    /// 0 (least) to 255; usually 128.
    pub priority: u8,
    /// True for a compression context of its own, for contents whose length is a secret.
    pub private: bool,
    /// True if the order of a channel of transactions records who left.
    pub departures: bool,
    /// On awareness with `Aggregate`: the number of senders, at most 15, whose frames of sound the
    /// room passes on at a time; 0 for messages of another kind.
    pub speakers: u8,
    /// Awareness only: the share of messages that may be lost or late, 0 to 1.
    pub loss: f64,
    /// Milliseconds after which a message is of no use; 0 for never.
    pub deadline_ms: u64,
    /// The lowest useful rate in messages per second; 0 for none.
    pub min_rate: f64,
    /// The highest useful rate in messages per second; 0 for no bound.
    pub max_rate: f64,
}

/// This participant's own settings of a channel.
#[uniffi::remote(Record)]
pub struct ChannelOptions {
    /// True if this participant sends.
    pub publish: bool,
    /// True if this participant receives.
    pub subscribe: bool,
    /// How messages are compressed between this participant and the server: `template`, `off`,
    /// `auto`, or a codec such as `zstd-3` (docs/codecs.md). Empty: `template`.
    pub compress: String,
}

/// Options of one message.
#[uniffi::remote(Record)]
pub struct SendOptions {
    /// True if receivers are told that the message is text; then it has to be UTF-8.
    pub text: bool,
    /// On a conflated channel, the key whose older values of this participant it replaces.
    pub key: Option<Vec<u8>>,
    /// The priority of this message; `None` for that of the channel.
    pub priority: Option<u8>,
    /// The only receiver; only transactions can have one.
    pub to: Option<Recipient>,
}

/// The only receiver of a message. `Event.Receipt` tells the outcome.
#[uniffi::remote(Record)]
pub struct Recipient {
    /// The participant.
    pub participant: u32,
    /// A number of the program's own, by which it knows the message in the event.
    pub tag: u32,
}

/// What happened to a message that was given to `Session.send`.
#[uniffi::remote(Enum)]
pub enum Sent {
    /// The message is on its way, or waits to be sent.
    Accepted,
    /// It waits, and replaced an older value of its key.
    Conflated,
    /// The message was not taken, because too many messages wait: try again after
    /// `Event.Drain`.
    NotNow,
}
