//! What can be wrong, and whose fault it is.

use alloc::string::String;

/// Why compressed bytes could not be decompressed. The fault is the sender's, or the link's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CodecError {
    /// The bytes were not made by this codec, or were damaged since.
    #[error("peer sent bytes that are not valid for this codec")]
    Malformed,
    /// The original is, or claims to be, larger than the caller's limit.
    #[error("peer sent bytes that expand beyond the limit")]
    TooLarge,
    /// No codec here has this number.
    #[error("peer used codec number {number}, which is not available here")]
    UnknownCodec {
        /// The number on the wire.
        number: u8,
    },
    /// The sender's dictionary is another one than ours, or one of us has none.
    #[error("peer used a dictionary that differs from ours")]
    WrongDictionary,
    /// What came out is not what went in: bytes were damaged on the way.
    #[error("bytes were damaged on their way: the checksum does not match")]
    Damaged,
}

/// Why a coder could not be made. The fault is the caller's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// The codec has other levels.
    #[error("{codec} has levels from {min} to {max}, not {level}")]
    Level {
        /// The codec's name.
        codec: &'static str,
        /// The level asked for.
        level: i8,
        /// The lowest there is.
        min: i8,
        /// The highest there is.
        max: i8,
    },
    /// The codec has but one level.
    #[error("{codec} has no levels")]
    NoLevels {
        /// The codec's name.
        codec: &'static str,
    },
    /// The codec cannot start from a dictionary.
    #[error("{codec} takes no dictionary; lz4, zlib, zstd and others do")]
    NoDictionary {
        /// The codec's name.
        codec: &'static str,
    },
    /// This build, or this page, has no codec of this number.
    #[error("there is no codec of number {number} here")]
    Missing {
        /// The number on the wire.
        number: u8,
    },
}

/// Why a name is no [`Choice`](crate::Choice). The fault is the caller's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChoiceError {
    /// No codec has this name.
    #[error("there is no codec {name:?}; there are: {known}")]
    Codec {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// No filter has this name.
    #[error("there is no filter {name:?}; there are: {known}")]
    Filter {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// What follows the name is no level.
    #[error("{level:?} is no level; write zstd-3, or zstd-fast-3 for -3")]
    Level {
        /// What was there.
        level: String,
    },
}
