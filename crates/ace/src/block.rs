//! What can be done with a block.

use core::fmt;
use core::str::FromStr;

use groupwire_codecs::{Choice, ChoiceError};

/// One way to pack a block: a codec with its level, alone or with what was sent before as history.
///
/// Written as a name: `zstd-3`, and `zstd-3+history`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Candidate {
    /// The codec and its level; no filter.
    pub choice: Choice,
    /// Whether the block is packed against the history of the stream.
    pub history: bool,
}

impl Candidate {
    /// As it is.
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
