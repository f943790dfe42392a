//! What every codec can do.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use crate::{CodecError, OptionsError};

/// A lossless codec.
pub trait Codec: Sync {
    /// The codec's name, for configuration and reports.
    fn name(&self) -> &'static str;

    /// The codec's number on the wire, below 16. Never reused for another codec.
    fn number(&self) -> u8;

    /// The levels there are, from fast to small. `None`: there is but one way.
    fn levels(&self) -> Option<Levels> {
        None
    }

    /// Whether it can start from a dictionary.
    fn takes_dictionary(&self) -> bool {
        false
    }

    /// A coder, whose memory serves one message after the other.
    ///
    /// # Errors
    /// If the codec has no such level or takes no dictionary.
    fn coder(&self, options: &Options<'_>) -> Result<Box<dyn Coder>, OptionsError>;

    /// Appends the compressed form of `input` to `out`, at the default level, with memory that is given back at once.
    fn compress(&self, input: &[u8], out: &mut Vec<u8>) {
        if let Ok(mut coder) = self.coder(&Options::default()) {
            coder.compress(input, out);
        }
    }

    /// Appends the original of `input` to `out`, at most `limit` bytes of it, with memory that is given back at once.
    ///
    /// On an error `out` is as it was.
    ///
    /// # Errors
    /// What is wrong with `input`.
    fn decompress(&self, input: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
        match self.coder(&Options::default()) {
            Ok(mut coder) => coder.decompress(input, limit, out),
            Err(_) => Err(CodecError::Malformed),
        }
    }
}

impl fmt::Debug for dyn Codec + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A codec at work. Both directions remember nothing between calls but where their memory is, which they take with the
/// first call.
pub trait Coder: Send {
    /// Appends the compressed form of `input` to `out`.
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>);

    /// Appends the original of `input` to `out`, at most `limit` bytes of it.
    ///
    /// On an error `out` is as it was. Memory and time are bounded by the length of `input` and by `limit`, whatever
    /// `input` claims.
    ///
    /// # Errors
    /// What is wrong with `input`.
    fn decompress(
        &mut self,
        input: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), CodecError>;

    /// The working memory it holds, beside the caller's buffers. Bytes.
    ///
    /// Some codecs cannot keep their memory from one message to the next, as their documentation says: then it is the
    /// most that they took.
    fn memory(&self) -> Memory;
}

/// How a coder is made.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options<'a> {
    /// One of [`Codec::levels`]; `None` for the default.
    pub level: Option<i8>,
    /// What messages resemble. Both ends need the very same; empty for none.
    pub dictionary: &'a [u8],
}

/// The levels of a codec: a higher one is slower and smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Levels {
    /// The fastest.
    pub min: i8,
    /// The smallest.
    pub max: i8,
    /// The one taken if none is asked for.
    pub default: i8,
}

impl Options<'_> {
    /// For a codec that has neither levels nor dictionaries.
    pub(crate) fn expect_none(&self, codec: &'static str) -> Result<(), OptionsError> {
        self.expect_no_level(codec)?;
        self.expect_no_dictionary(codec)
    }

    /// For a codec that has no levels.
    pub(crate) fn expect_no_level(&self, codec: &'static str) -> Result<(), OptionsError> {
        match self.level {
            Some(_) => Err(OptionsError::NoLevels { codec }),
            None => Ok(()),
        }
    }

    /// For a codec that takes no dictionary.
    pub(crate) fn expect_no_dictionary(&self, codec: &'static str) -> Result<(), OptionsError> {
        match self.dictionary {
            [] => Ok(()),
            _ => Err(OptionsError::NoDictionary { codec }),
        }
    }
}

impl Levels {
    /// The level asked for, or the default.
    ///
    /// # Errors
    /// If there is no such level.
    pub fn pick(self, codec: &'static str, level: Option<i8>) -> Result<i8, OptionsError> {
        let Levels { min, max, default } = self;
        match level {
            None => Ok(default),
            Some(level) if (min..=max).contains(&level) => Ok(level),
            Some(level) => Err(OptionsError::Level { codec, level, min, max }),
        }
    }
}

/// Working memory in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Memory {
    /// For compression.
    pub compress: usize,
    /// For decompression.
    pub decompress: usize,
}
