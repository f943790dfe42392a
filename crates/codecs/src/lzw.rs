//! LZW, as `compress` writes it: a dictionary that both ends build as they go.
//!
//! The stream is a row of codes, the low bits first. A code below 256 stands for that byte, 256 says *clear*, and each
//! code after that was made by an earlier one: it stands for what that one stood for, and one byte more, which is the
//! first of what follows. So every code makes a new one. Codes have 9 bits at first, and one more as soon as the next
//! new code needs it, up to 16; then no more are made. After a clear all begins anew, once the codes of the old width
//! are filled up to a multiple of eight, with bits that mean nothing.
//!
//! With the bytes 1f 9d 90 before it a stream is what `compress` writes and `uncompress` and `gzip -d` read: block
//! mode, 16 bits. It does not tell its length, so that one which is cut between two codes goes unnoticed but by a
//! checksum.

mod compress;
mod decompress;

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::{Codec, CodecError, Coder, Memory, Options, OptionsError};

/// The code stream of `compress`, without the three bytes before it.
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

const CLEAR: u32 = 256;
/// The first code that is made.
const FIRST: u32 = 257;
/// One more than the last code there can be.
const FULL: u32 = 1 << WIDEST;
const NARROWEST: u32 = 9;
const WIDEST: u32 = 16;
/// Codes of one width come in groups of so many, which are a whole number of bytes.
const GROUP: u32 = 8;

/// How wide codes are, which both ends know from how many there were.
#[derive(Clone, Copy)]
struct Width {
    bits: u32,
    /// Codes since the beginning or the last clear.
    codes: u32,
}

impl Width {
    fn new() -> Self {
        Width { bits: NARROWEST, codes: 0 }
    }

    /// One more code passed. The next one may be that which it made, or the one after.
    #[inline(always)]
    fn advance(&mut self) {
        self.codes = self.codes.wrapping_add(1);
        if self.bits < WIDEST && CLEAR + self.codes >= 1 << self.bits {
            self.bits += 1;
        }
    }

    /// A clear passed. Returns how many codes of the old width fill up its group: each width but the last is that of a
    /// multiple of eight codes, so that all codes count.
    fn clear(&mut self) -> u32 {
        let filling = (GROUP - 1 - self.codes % GROUP) % GROUP;
        *self = Width::new();
        filling
    }
}

#[cfg(test)]
mod tests;
