//! Formats written by hand for the events of a [session](crate::drawing), which the compressor is
//! compared with. They know what a programmer would have to write down: the fields of each message,
//! their ranges, and for the best of them how people move and type.
//!
//! | format | bytes per message, on average | what it is |
//! | --- | --- | --- |
//! | [`bits`] | 10.6 | each field in the fewest bits that its range needs (GMC paper, Table 1: "hand-coded") |
//! | [`primitives`] | 12.8 | each field in the shortest primitive type (GMC paper, section 5.2: "primitives") |
//! | [`asn1_per`] | 21.2 | ASN.1 in unaligned PER, with a schema that names types but no ranges |
//! | [`asn1_text`] | 43 | the same, with a schema that names no types either: all values are text |
//! | [`strong`] | 3.5 | predictions from each sender's last messages, adaptive Rice codes, for an ordered stream |
//!
//! The paper counts no padding; without the padding to whole bytes that sending takes, [`bits`]
//! needs 10.3.

mod asn1;
mod bits;
mod fixed;
mod letters;
mod record;
mod rice;
mod strong;

use crate::drawing::Event;

/// One end of a stream of messages: it encodes or decodes, not both.
pub(crate) trait EventCodec {
    /// Appends the message of an event.
    fn encode(&mut self, event: &Event, out: &mut Vec<u8>);

    /// Decodes a message. Formats that remember earlier messages need all of them, in order; after
    /// an error theirs cannot go on.
    ///
    /// # Errors
    /// These bytes are not what an encoder of this format wrote.
    fn decode(&mut self, bytes: &[u8]) -> Result<Event, Error>;
}

/// Each field in the fewest bits that its range needs (GMC paper, Table 1), the message padded to
/// whole bytes.
pub(crate) fn bits() -> Box<dyn EventCodec> {
    Box::new(fixed::Fixed::new(fixed::MINIMAL))
}

/// The bits of an event's message by [`bits`] without the padding, which the paper does not count.
pub(crate) fn minimal_bits(event: &Event) -> u64 {
    fixed::minimal_bits(event)
}

/// The widths of the fields of the GMC paper's Table 1, in its order and in bits: message type,
/// sender, object, and each coordinate.
pub(crate) const TABLE_1: [u32; 4] = fixed::TABLE_1;

/// Each field in the shortest primitive type: one, two or four bytes (GMC paper, section 5.2).
pub(crate) fn primitives() -> Box<dyn EventCodec> {
    Box::new(fixed::Fixed::new(fixed::PRIMITIVE))
}

/// Predictions from what each sender did before, and adaptive Rice codes for how far they are off.
/// Each message is padded to whole bytes; all have to arrive, in order.
pub(crate) fn strong() -> Box<dyn EventCodec> {
    Box::new(strong::Strong::new())
}

/// ASN.1 in unaligned PER (ITU-T X.691) of the XML format's elements, under a schema that is not
/// highly constrained, as in the GMC paper's Table 4.
///
/// The schema is what X.694 makes of an XML Schema whose author wrote `xsd:integer`, `xsd:double`
/// and `xsd:string` for the values one sees, in place of ranges and enumerations:
///
/// ```asn1
/// GroupEvent ::= SEQUENCE {
///     timestamp     INTEGER,
///     sender-id     INTEGER,
///     session-id    INTEGER,
///     event-content CHOICE {
///         telepointer-event  SEQUENCE { x REAL, y REAL },
///         createObject-event SEQUENCE { object-id INTEGER, shape UTF8String, color UTF8String, x REAL, y REAL },
///         moveObject-event   SEQUENCE { object-id INTEGER, x REAL, y REAL },
///         resizeObject-event SEQUENCE { object-id INTEGER, x1 REAL, y1 REAL, x2 REAL, y2 REAL },
///         chat-event         SEQUENCE { text UTF8String },
///         textEdit-event     SEQUENCE { object-id INTEGER, pos INTEGER, delete INTEGER, insert UTF8String },
///         modelUpdate-event  SEQUENCE OF SEQUENCE {
///             object-id INTEGER, shape UTF8String, color UTF8String, x1 REAL, y1 REAL, x2 REAL, y2 REAL
///         }
///     }
/// }
/// ```
///
/// The paper, which does not show its schema, has 47.2 bytes per message. This one needs less than
/// half of that, so it is the harder one to beat; [`asn1_text`] is near it.
pub(crate) fn asn1_per() -> Box<dyn EventCodec> {
    Box::new(asn1::Per { all_text: false })
}

/// The same with `xsd:string` for all values, as of a programmer who writes no types: each is text,
/// with the spaces that the XML format has around it.
pub(crate) fn asn1_text() -> Box<dyn EventCodec> {
    Box::new(asn1::Per { all_text: true })
}

/// Bytes that no encoder of the format wrote: damaged, of another format, or from another place in
/// the stream.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Error {
    /// The message ends within a field.
    #[error("the message ends within a field: it was cut off or is of another format")]
    Truncated,
    /// Bytes follow the message.
    #[error("there is something after the message: it is of another format or two were joined")]
    Trailing,
    /// A field has a value that it cannot have.
    #[error("the message's {field} cannot be what it is: it was damaged or is of another format")]
    Value {
        /// The name of the field.
        field: &'static str,
    },
}

#[cfg(test)]
mod tests;
