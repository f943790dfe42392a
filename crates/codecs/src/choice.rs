//! A codec with a level and a filter, by name.

use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use crate::{ALL, ChoiceError, Filter, by_name, by_number};

/// How one message is compressed. Written as a name: `lz4`, `zstd-3`, `zstd-fast-3` (level -3),
/// `delta4+lz4`.
///
/// ```
/// use groupwire_codecs::Choice;
/// let choice: Choice = "zlib-9".parse()?;
/// assert_eq!((choice.codec, choice.level), (2, Some(9)));
/// assert_eq!(choice.to_string(), "zlib-9");
/// # Ok::<(), groupwire_codecs::ChoiceError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Choice {
    /// The codec's number.
    pub codec: u8,
    /// The codec's level; `None` for the default.
    pub level: Option<i8>,
    /// Applied before the codec.
    pub filter: Filter,
}

impl Choice {
    /// No compression.
    pub const NONE: Choice = Choice::codec(0);

    /// A codec at its default level.
    pub const fn codec(codec: u8) -> Self {
        Choice { codec, level: None, filter: Filter::None }
    }
}

impl FromStr for Choice {
    type Err = ChoiceError;

    fn from_str(name: &str) -> Result<Self, ChoiceError> {
        let (filter, rest) = match name.split_once('+') {
            Some((filter, rest)) => (parse_filter(filter)?, rest),
            None => (Filter::None, name),
        };
        let (codec, level) = match rest.split_once('-') {
            Some((codec, level)) => (codec, Some(parse_level(level)?)),
            None => (rest, None),
        };
        match by_name(codec) {
            Some(codec) => Ok(Choice { codec: codec.number(), level, filter }),
            None => {
                let known: Vec<&str> = ALL.iter().map(|codec| codec.name()).collect();
                Err(ChoiceError::Codec { name: codec.into(), known: known.join(", ") })
            }
        }
    }
}

fn parse_filter(name: &str) -> Result<Filter, ChoiceError> {
    let found = Filter::ALL.iter().copied().find(|filter| filter.name() == name);
    found.ok_or_else(|| {
        let known: Vec<&str> = Filter::ALL.iter().map(|filter| filter.name()).collect();
        ChoiceError::Filter { name: name.into(), known: known.join(", ") }
    })
}

fn parse_level(level: &str) -> Result<i8, ChoiceError> {
    let parsed = match level.strip_prefix("fast-") {
        Some(fast) => fast.parse().map(|level: u8| i8::try_from(level).ok().map(|level| -level)),
        None => level.parse().map(|level: u8| i8::try_from(level).ok()),
    };
    parsed.ok().flatten().ok_or_else(|| ChoiceError::Level { level: level.into() })
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.filter != Filter::None {
            write!(f, "{}+", self.filter.name())?;
        }
        match by_number(self.codec) {
            Some(codec) => f.write_str(codec.name())?,
            None => f.write_str(&self.codec.to_string())?,
        }
        match self.level {
            Some(level) if level < 0 => write!(f, "-fast-{}", level.unsigned_abs()),
            Some(level) => write!(f, "-{level}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written() {
        for name in ["none", "lz4", "zlib-9", "zlib-fast-3"] {
            assert_eq!(name.parse::<Choice>().unwrap().to_string(), name);
        }
    }

    #[test]
    fn errors_of_wrong_names_list_the_known_names() {
        let wrong = |name: &str| name.parse::<Choice>().unwrap_err().to_string();
        assert!(wrong("lz5").contains("lz4"), "{}", wrong("lz5"));
        assert!(wrong("delta9+lz4").contains("filter"));
        for level in ["zlib-", "zlib-x", "zlib--3", "zlib-200", "zlib-fast-200"] {
            assert!(wrong(level).contains("level"), "{level}");
        }
    }
}
