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
    /// All records together, by gmc, which uses what they have in common. If the ends did not agree
    /// on gmc, the records are not compressed (wire W27).
    #[default]
    Shared,
    /// Each record alone: packed by a codec, or not compressed (wire W47). The compressed size of a
    /// record then reveals nothing about other records.
    Alone,
}
