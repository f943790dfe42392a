//! The parts of messages in self-describing formats, in which each value tells its type and length.
//! A hole, below, is a place of a message where the value differs from message to message.

use super::float::Width;

/// A part of such a message. All positions are offsets in the message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Part {
    /// A value that can fill a hole, and the position of its end.
    Item(Item, usize),
    /// The head of an array: the number of its values, and the position of the end of the head.
    Array(usize, usize),
    /// The head of a map: the number of its pairs, and the position of the end of the head.
    Map(usize, usize),
    /// The head of an array or a map of unknown length, which a [`Part::Break`] ends. The head
    /// itself ends at `after`.
    Open { map: bool, after: usize },
    /// The mark that ends an array or a map of unknown length, and the position of the end of this
    /// mark.
    Break(usize),
    /// A tag, which a value must follow, and the position of the end of the tag.
    Tag(usize),
    /// A value of another type: its head ends at `start`, and `width` bytes of content follow.
    Bytes { start: usize, width: usize },
}

/// A value that can fill a hole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Item {
    Number(Number),
    /// A string of text or of bytes, whose content begins at `start`.
    String {
        text: bool,
        start: usize,
    },
    /// A value such as nil, true or false: the number by which the format encodes it.
    Simple(u8),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    Integer(i64),
    Float(u64, Width),
}
