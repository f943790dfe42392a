//! The codecs that are compared.

use std::fmt;
use std::str::FromStr;

use groupwire_codecs::{ALL, Choice, ChoiceError, Codec, OptionsError, Packer, by_number};
use groupwire_papers::lmc2013;

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
/// The end of the names of the codecs with the settings of the LMC paper.
const PUBLISHED: &str = "-2013";

/// The codecs of the LMC paper (section 8.2) beside its own settings, and ours. For LZFX stands
/// `lzf`, from which it was derived.
const PAPERS: [&str; 10] =
    ["lzo", "lzf", "lzw-2013", "lzma-2013", "bzip2", "lz4", "lzw", "lzma", "zstd-1", AUTO];

/// A way to compress messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Contender {
    /// Always the same codec.
    Fixed(Choice),
    /// Always the same codec, with the settings of the LMC paper.
    Published(Choice),
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

    /// The codecs of the LMC paper, with its settings where these are not the default ones, and
    /// ours beside them.
    pub(super) fn papers() -> Vec<Contender> {
        PAPERS.iter().filter_map(|name| name.parse().ok()).collect()
    }

    /// The codec that packs every message; `None` for auto.
    pub(super) fn choice(self) -> Option<Choice> {
        match self {
            Contender::Fixed(choice) | Contender::Published(choice) => Some(choice),
            Contender::Auto => None,
        }
    }

    /// The codecs among which [`Contender::choice`] is.
    pub(super) fn codecs(self) -> &'static [&'static dyn Codec] {
        match self {
            Contender::Published(_) => lmc2013::CODECS,
            Contender::Fixed(_) | Contender::Auto => ALL,
        }
    }

    /// Checks that the codec has this level.
    pub(super) fn check(self) -> Result<(), OptionsError> {
        let Some(choice) = self.choice() else { return Ok(()) };
        Packer::new(self.codecs()).pack(choice, &[0; 64], &mut Vec::new()).map(drop)
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
            Contender::Published(choice) => write!(f, "{choice}{PUBLISHED}"),
            Contender::Auto => f.write_str(AUTO),
        }
    }
}

impl FromStr for Contender {
    type Err = ChoiceError;

    fn from_str(name: &str) -> Result<Self, ChoiceError> {
        match name {
            AUTO => Ok(Contender::Auto),
            name => match name.strip_suffix(PUBLISHED).map(str::parse) {
                Some(Ok(choice)) => Ok(Contender::Published(choice)),
                _ => name.parse().map(Contender::Fixed),
            },
        }
    }
}
