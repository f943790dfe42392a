//! One session of a drawing program, as events and as messages in seven formats.
//!
//! The session is the one of the GMC paper (section 5.1): four people, 47 minutes, 12,850 messages
//! of seven types. [`generate`] makes one like it from a seed; [`read_events`] reads one from a
//! table. [`encode`] turns either into messages:
//!
//! | format | bytes, on average | a telepointer |
//! | --- | --- | --- |
//! | text | 89 | `(timestamp: 716632726 sender_id: 7 session_id: 9357)(telepointer x: 981.0 y: 688.0)` |
//! | xml | 237 | `<group_event> <timestamp> 716632726 </timestamp> <sender_id> 7 </sender_id> ...` |
//! | java | 273 | what `java.io.ObjectOutputStream` writes for a `TelepointerEvent` |
//! | json | 124 | `{"type":"pointer","userId":"b81d6e04-...","sessionId":9357,"ts":1718000006342,"x":981,"y":688}` |
//! | jsonf | 139 | the same in the coordinates of a zoomed and scrolled canvas, `"x":1303.5,"y":676.1944444444445` |
//! | msgpack | 98 | json's fields in MessagePack |
//! | cbor | 98 | json's fields in CBOR |

mod cbor;
mod events;
mod fields;
mod generate;
mod java;
mod json;
mod json_float;
pub(crate) mod motion;
mod msgpack;
mod participant;
pub(crate) mod random;
mod text;
pub(crate) mod typing;
mod wrapped;
mod xml;

pub(crate) use events::{Colour, Event, Kind, Object, Point, Shape, read_events};
pub(crate) use generate::generate;
pub(crate) use motion::places;
pub(crate) use wrapped::{Envelope, Wrapper};

/// The session's number, in every message: the one of the paper's Figure 6.
pub(crate) const SESSION_ID: u32 = 9357;

/// The format in which events are written as messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Format {
    /// Names and values in parentheses, as GroupKit wrote them.
    Text,
    /// XML elements for the same names and values.
    Xml,
    /// Java's object serialization.
    Java,
    /// A JSON object as web applications send it.
    Json,
    /// The JSON object with coordinates that are not whole numbers.
    JsonFloat,
    /// JSON's fields in MessagePack.
    MessagePack,
    /// JSON's fields in CBOR (RFC 8949).
    Cbor,
}

impl Format {
    /// All formats.
    pub(crate) const ALL: [Self; 7] = [
        Self::Text,
        Self::Xml,
        Self::Java,
        Self::Json,
        Self::JsonFloat,
        Self::MessagePack,
        Self::Cbor,
    ];

    /// The name of the trace in this format.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Xml => "xml",
            Self::Java => "java",
            Self::Json => "json",
            Self::JsonFloat => "jsonf",
            Self::MessagePack => "msgpack",
            Self::Cbor => "cbor",
        }
    }
}

/// Each event as a message.
pub(crate) fn encode(format: Format, events: &[Event]) -> Vec<Vec<u8>> {
    let message = match format {
        Format::Text => text::message,
        Format::Xml => xml::message,
        Format::Java => java::message,
        Format::Json => json::message,
        Format::JsonFloat => json_float::message,
        Format::MessagePack => msgpack::message,
        Format::Cbor => cbor::message,
    };
    events.iter().map(message).collect()
}

#[cfg(test)]
pub(crate) mod tests;
