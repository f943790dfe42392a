//! The kinds of holes. A hole is a place of a message where the value differs from message to
//! message.

use crate::binary::format::Format;
use crate::binary::prefix::Prefix;

/// The kinds of values that fill holes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HoleKind {
    /// The digits of a number in text, as [`token`](crate::token) defines it.
    Number,
    /// Any bytes up to the fixed part that follows the hole: see
    /// [`Template::text_end`](crate::template::Template).
    Text,
    /// All bytes between the fixed parts before and after the hole. A template has at most one such
    /// hole.
    Bytes,
    /// A binary number of as many bytes as in the example. [`Hole::shape`](crate::template::Hole)
    /// says how it is stored.
    Field,
    /// As many bytes as in the example. They are not a number.
    Opaque,
    /// A string that follows its length.
    String(Prefix),
    /// A variable-length integer.
    Varint,
    /// A value of a self-describing format, such as a number or a string, that contains no other
    /// values.
    Scalar(Format),
    /// A length: the number of bytes from its end to the end of the message, plus a constant that
    /// the example shows.
    Length(Prefix),
    /// A nested message that reaches up to the fixed part at the end. It starts with the same byte
    /// as in the example.
    Rest,
    /// A nested message that follows its length.
    Record(Prefix),
    /// A nested message in base64.
    Base64,
    /// A nested message as the content of a string in JSON.
    Escaped,
    /// A nested message as a string of a self-describing format.
    Document(Format),
}

impl HoleKind {
    /// Whether what fills the hole is a message of its own.
    pub(crate) fn is_nested(self) -> bool {
        matches!(
            self,
            Self::Rest | Self::Record(_) | Self::Base64 | Self::Escaped | Self::Document(_)
        )
    }

    /// Whether the hole belongs to an envelope: what surrounds a nested message.
    pub(crate) fn is_envelope(self) -> bool {
        self.is_nested() || matches!(self, Self::Length(_))
    }
}
