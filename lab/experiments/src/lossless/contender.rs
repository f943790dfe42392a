//! The codecs that are compared.

use std::fmt;
use std::str::FromStr;

use groupwire_codecs::{ALL, Choice, ChoiceError, OptionsError, Packer, by_number};

/// The contenders besides every codec at its default level.
const MORE: [&str; 9] = [
    "zstd-fast-1",
    "zstd-fast-3",
    "zstd-1",
    "zlib-1",
    "zlib-9",
    "brotli-1",
    "delta4+lz4",
    "delta4+zstd-1",
    "delta1+zlib",
];
/// The name of the contender that chooses a codec for each message.
const AUTO: &str = "auto";

/// A way to compress messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Contender {
    /// Always the same codec.
    Fixed(Choice),
    /// For each message the codec that is forecast to be the fastest, by what earlier messages
    /// showed.
    Auto,
}

impl Contender {
    /// No compression.
    pub(super) const NONE: Contender = Contender::Fixed(Choice::NONE);

    /// Every codec at its default level, some levels and filters more, and auto.
    pub(crate) fn all() -> Vec<Contender> {
        let codecs = ALL.iter().map(|codec| Choice::codec(codec.number()));
        let more = MORE.iter().filter_map(|name| name.parse().ok());
        codecs.chain(more).map(Contender::Fixed).chain([Contender::Auto]).collect()
    }

    /// Checks that the codec has this level.
    pub(super) fn check(self) -> Result<(), OptionsError> {
        match self {
            Contender::Fixed(choice) => {
                Packer::new(ALL).pack(choice, &[0; 64], &mut Vec::new()).map(drop)
            }
            Contender::Auto => Ok(()),
        }
    }

    /// The level, if the codec has levels.
    pub(super) fn level(self) -> Option<i8> {
        let Contender::Fixed(choice) = self else { return None };
        let levels = by_number(choice.codec).and_then(|codec| codec.levels());
        choice.level.or(levels.map(|levels| levels.default))
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Contender::Fixed(choice) => choice.fmt(f),
            Contender::Auto => f.write_str(AUTO),
        }
    }
}

impl FromStr for Contender {
    type Err = ChoiceError;

    fn from_str(name: &str) -> Result<Self, ChoiceError> {
        match name {
            AUTO => Ok(Contender::Auto),
            name => name.parse().map(Contender::Fixed),
        }
    }
}
