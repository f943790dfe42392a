//! The interface of all codecs.

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

    /// The available levels; `None` for a codec without levels.
    fn levels(&self) -> Option<Levels> {
        None
    }

    /// Whether coders of this codec can start from a dictionary.
    fn takes_dictionary(&self) -> bool {
        false
    }

    /// Makes a coder, which reuses its memory from message to message.
    ///
    /// # Errors
    /// If the codec has no such level, or takes no dictionary and one is given.
    fn coder(&self, options: &Options<'_>) -> Result<Box<dyn Coder>, OptionsError>;

    /// Appends the compressed form of `input` to `out`, at the default level. Frees its working
    /// memory before it returns.
    fn compress(&self, input: &[u8], out: &mut Vec<u8>) {
        if let Ok(mut coder) = self.coder(&Options::default()) {
            coder.compress(input, out);
        }
    }

    /// Appends the original of `input` to `out`, if it has at most `limit` bytes. Frees its working
    /// memory before it returns.
    ///
    /// On an error `out` is as it was.
    ///
    /// # Errors
    /// If `input` is malformed, or its original is longer than `limit`.
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

/// A codec with its memory, which is allocated by the first call. Results do not depend on earlier
/// calls.
pub trait Coder: Send {
    /// Appends the compressed form of `input` to `out`.
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>);

    /// Appends the original of `input` to `out`, if it has at most `limit` bytes.
    ///
    /// On an error `out` is as it was. Memory and time are bounded by the length of `input` and by
    /// `limit`, whatever `input` claims.
    ///
    /// # Errors
    /// If `input` is malformed, or its original is longer than `limit`.
    fn decompress(
        &mut self,
        input: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), CodecError>;

    /// The working memory that the coder holds, in bytes, without the caller's buffers.
    ///
    /// A codec that cannot keep its memory from one message to the next, as its documentation says,
    /// reports the most that it took so far.
    fn memory(&self) -> Memory {
        Memory::default()
    }
}

/// The settings of a coder.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options<'a> {
    /// One of [`Codec::levels`]; `None` for the default.
    pub level: Option<i8>,
    /// Bytes that are likely to occur in messages; empty for no dictionary. Both ends need the
    /// same.
    pub dictionary: &'a [u8],
}

/// The levels of a codec. A higher level is slower and gives smaller results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Levels {
    /// The fastest level.
    pub min: i8,
    /// The level with the smallest results.
    pub max: i8,
    /// The level that [`Options::level`] `None` stands for.
    pub default: i8,
}

impl Options<'_> {
    /// Refuses a level and a dictionary.
    pub(crate) fn expect_none(&self, codec: &'static str) -> Result<(), OptionsError> {
        self.expect_no_level(codec)?;
        self.expect_no_dictionary(codec)
    }

    /// Refuses a level.
    pub(crate) fn expect_no_level(&self, codec: &'static str) -> Result<(), OptionsError> {
        match self.level {
            Some(_) => Err(OptionsError::NoLevels { codec }),
            None => Ok(()),
        }
    }

    /// Refuses a dictionary.
    pub(crate) fn expect_no_dictionary(&self, codec: &'static str) -> Result<(), OptionsError> {
        match self.dictionary {
            [] => Ok(()),
            _ => Err(OptionsError::NoDictionary { codec }),
        }
    }
}

impl Levels {
    /// `level`, or the default.
    ///
    /// # Errors
    /// If the codec has no such level.
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
    /// Working memory for compression.
    pub compress: usize,
    /// Working memory for decompression.
    pub decompress: usize,
}
