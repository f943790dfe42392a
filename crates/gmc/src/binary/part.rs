//! The parts of messages in self-describing formats.

use super::float::Width;

/// A part of a message in such a format.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Part {
    /// Something that can fill a hole, and where it ends.
    Item(Item, usize),
    /// The head of an array of so many values, and its end.
    Array(usize, usize),
    /// The head of a map of so many pairs, and its end.
    Map(usize, usize),
    /// The head of an array or a map that ends with a break.
    Open { map: bool, after: usize },
    /// That break.
    Break(usize),
    /// Something that a value must follow.
    Tag(usize),
    /// A head and so many bytes that begin at `start`.
    Bytes { start: usize, width: usize },
}

/// What can fill a hole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Item {
    Number(Number),
    /// A string of text or of bytes, which begins at `start`.
    String {
        text: bool,
        start: usize,
    },
    /// Nothing, true, false and the like: the format's number for it.
    Simple(u8),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    Integer(i64),
    Float(u64, Width),
}
