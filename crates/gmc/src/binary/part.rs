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
    /// The head of an array or a map that ends with a break.
    Open { map: bool, after: usize },
    /// A break, and its end.
    Break(usize),
    /// A tag, behind which a value must follow, and its end.
    Tag(usize),
    /// A head and `width` bytes that begin at `start`.
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
