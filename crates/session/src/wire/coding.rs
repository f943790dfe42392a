//! The names for how the records of a payload are compressed (wire W27, W47, W54).

/// The type of frame in which a payload arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PayloadForm {
    /// MESSAGES: the records are not compressed together.
    Plain,
    /// CODED: gmc compressed the records together.
    Coded,
    /// PACKED_MESSAGES: a codec packed the whole payload.
    Packed,
}

/// How the records of one payload are compressed. All records of a payload have the same coding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Coding {
    /// Together, by what they have in common, where both ends have gmc (wire W27).
    #[default]
    Shared,
    /// Each record alone: packed by a codec, or not compressed (wire W47). The length of one record then reveals nothing
    /// about another one.
    Alone,
}
