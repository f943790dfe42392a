//! The parts of messages in self-describing formats.

use super::float::Width;

/// A part of a message in such a format.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Part {
    /// A value that can fill a hole, and its end.
    Item(Item, usize),
    /// The head of an array: the number of values, and the end of the head.
    Array(usize, usize),
    /// The head of a map: the number of pairs, and the end of the head.
    Map(usize, usize),
    /// The head of an array or a map of unknown length, which ends with a [`Part::Break`].
    Open { map: bool, after: usize },
    /// The mark that ends an array or map of [`Part::Open`], and the end of this mark.
    Break(usize),
    /// A tag, after which a value must follow, and its end.
    Tag(usize),
    /// A value of another type: its head ends at `start`, and `width` bytes follow.
    Bytes { start: usize, width: usize },
}

/// A value that can fill a hole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Item {
    Number(Number),
    /// A string of text or of bytes, which begins at `start`.
    String {
        text: bool,
        start: usize,
    },
    /// Nil, true, false and the like: the format's number for the value.
    Simple(u8),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    Integer(i64),
    Float(u64, Width),
}
