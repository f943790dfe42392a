//! LZW as the program `compress` writes it: both ends build the same dictionary while they go.
//!
//! The stream is a sequence of codes, low bits first. A code below 256 is that byte; 256 means
//! *clear*. Every code but the first defines the next free code: the string of the code before it,
//! and the first byte of its own string. Codes have 9 bits at first, and one bit more as soon as
//! the next free code needs it, up to 16 bits; then no more codes are defined. After a clear
//! everything starts again, once the codes of the old width are padded to a multiple of eight; the
//! padding has no meaning.
//!
//! After the bytes 1f 9d 90 a stream is a file that `compress` writes and `uncompress` and `gzip
//! -d` read: block mode, 16 bits. The stream does not state its length, so that only a checksum
//! finds a stream that was truncated between codes.

mod compress;
mod decompress;

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::{Codec, CodecError, Coder, Memory, Options, OptionsError};

/// The code stream of `compress`, without the three bytes at the start of its files.
#[derive(Debug, Clone, Copy)]
pub struct Lzw;

impl Codec for Lzw {
    fn name(&self) -> &'static str {
        "lzw"
    }

    fn number(&self) -> u8 {
        6
    }

    fn coder(&self, options: &Options<'_>) -> Result<Box<dyn Coder>, OptionsError> {
        options.expect_none(self.name())?;
        Ok(Box::new(LzwCoder::default()))
    }
}

#[derive(Default)]
struct LzwCoder {
    codes: compress::Codes,
    starts: decompress::Starts,
}

impl Coder for LzwCoder {
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) {
        compress::stream(input, &mut self.codes, out);
    }

    fn decompress(
        &mut self,
        input: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), CodecError> {
        decompress::stream(input, limit, &mut self.starts, out)
    }

    fn memory(&self) -> Memory {
        Memory { compress: self.codes.memory(), decompress: self.starts.memory() }
    }
}

/// The code that starts again with an empty dictionary.
const CLEAR: u32 = 256;
/// The first code that the dictionary defines.
const FIRST: u32 = 257;
/// One more than the last possible code.
const FULL: u32 = 1 << WIDEST;
/// Bits of a code at first.
const NARROWEST: u32 = 9;
/// Bits of a code at most.
const WIDEST: u32 = 16;
/// Codes of one width come in groups of eight, which are a whole number of bytes.
const GROUP: u32 = 8;

/// The width of the next code, which both ends derive from the number of codes so far.
#[derive(Clone, Copy)]
struct Width {
    bits: u32,
    /// Codes since the start or the last clear.
    codes: u32,
}

impl Width {
    fn new() -> Self {
        Width { bits: NARROWEST, codes: 0 }
    }

    /// Counts a code.
    #[inline(always)]
    fn advance(&mut self) {
        self.codes = self.codes.wrapping_add(1);
        if self.bits < WIDEST && CLEAR + self.codes >= 1 << self.bits {
            self.bits += 1;
        }
    }

    /// Starts again after a clear. Returns the number of codes of the old width that pad its group.
    /// All widths but the last are used for a multiple of eight codes, so that the number of all
    /// codes gives the place in the group.
    fn clear(&mut self) -> u32 {
        let filling = (GROUP - 1 - self.codes % GROUP) % GROUP;
        *self = Width::new();
        filling
    }
}

#[cfg(test)]
mod tests;
