//! The errors of this crate. Each says whose fault it is.

use alloc::string::String;

/// Why compressed bytes could not be decompressed. The sender or the link is at fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CodecError {
    /// This codec did not make the bytes, or they were damaged afterwards.
    #[error("peer sent bytes that are not valid for this codec")]
    Malformed,
    /// The original is, or claims to be, larger than the caller's limit.
    #[error("peer sent bytes that expand beyond the limit")]
    TooLarge,
    /// This build has no codec with this number.
    #[error("peer used codec number {number}, which is not available here")]
    UnknownCodec {
        /// The number on the wire.
        number: u8,
    },
    /// The sender used a dictionary, and this end has none or another one.
    #[error("peer used a dictionary that differs from ours")]
    WrongDictionary,
}

/// Why a coder could not be made. The caller is at fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// The codec has no such level.
    #[error("{codec} has levels from {min} to {max}, not {level}")]
    Level {
        /// The codec's name.
        codec: &'static str,
        /// The level asked for.
        level: i8,
        /// The lowest level.
        min: i8,
        /// The highest level.
        max: i8,
    },
    /// The codec has no levels.
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
    /// This build, or this web page, has no codec with this number.
    #[error("there is no codec of number {number} here")]
    Missing {
        /// The number on the wire.
        number: u8,
    },
}

/// Why a name is no [`Choice`](crate::Choice). The caller is at fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChoiceError {
    /// No codec has this name.
    #[error("there is no codec {name:?}; there are: {known}")]
    Codec {
        /// The unknown name.
        name: String,
        /// All known names.
        known: String,
    },
    /// No filter has this name.
    #[error("there is no filter {name:?}; there are: {known}")]
    Filter {
        /// The unknown name.
        name: String,
        /// All known names.
        known: String,
    },
    /// The part after the codec's name is no level.
    #[error("{level:?} is no level; write zstd-3, or zstd-fast-3 for -3")]
    Level {
        /// The part that is no level.
        level: String,
    },
}
