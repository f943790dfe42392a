//! The ways to compress a block: a piece of a byte stream for which a codec is chosen.

use core::fmt;
use core::str::FromStr;

use groupwire_codecs::{Choice, ChoiceError};

/// One way to compress a block: a codec with its level, with or without the history as its
/// dictionary. The history is the last bytes of the stream before the block.
///
/// The text form of a candidate is `zstd-3`, or `zstd-3+history`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Candidate {
    /// The codec and its level; no filter.
    pub choice: Choice,
    /// Whether the history of the stream is the dictionary.
    pub history: bool,
}

impl Candidate {
    /// No compression.
    pub const NONE: Candidate = Candidate { choice: Choice::NONE, history: false };
}

impl FromStr for Candidate {
    type Err = ChoiceError;

    fn from_str(name: &str) -> Result<Self, ChoiceError> {
        let (name, history) = match name.strip_suffix("+history") {
            Some(name) => (name, true),
            None => (name, false),
        };
        Ok(Candidate { choice: name.parse()?, history })
    }
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.choice.fmt(f)?;
        if self.history { f.write_str("+history") } else { Ok(()) }
    }
}
