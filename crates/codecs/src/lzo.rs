//! LZO1X: about as fast as LZ4; the LZO of the LMC paper.
//!
//! A block is a sequence of instructions. Each copies earlier bytes of the original, or literals of
//! the block. Most state in two bits the number of literals, up to three, that follow.
//!
//! ```text
//! first byte       what it does
//! 1LLDDDSS H       copy 5 + L bytes from 1 + H*8 + D back, then S literals
//! 01LDDDSS H       copy 3 + L bytes from 1 + H*8 + D back, then S literals
//! 001LLLLL D:u16   copy 2 + L bytes (L = 0: 33 + more) from 1 + D/4 back, then D%4 literals
//! 0001HLLL D:u16   copy 2 + L bytes (L = 0: 9 + more) from 16384*(1 + H) + D/4 back, then D%4 literals;
//!                  17 0 0, a copy from 16384 back, ends the block
//! 0000LLLL         after no literals: 3 + L literals (L = 0: 18 + more)
//! 0000DDSS H       after 1 to 3 literals: copy 2 bytes from 1 + H*4 + D back, then S literals
//! 0000DDSS H       after 4 literals or more: copy 3 bytes from 2049 + H*4 + D back, then S literals
//! more             a zero for each 255, then a byte that is not zero, for the rest
//! ```
//!
//! Numbers are little-endian. As the first byte of a block, 18 to 255 mean 1 to 238 literals. This
//! is the original format, not the kernel's later LZO-RLE. It was written from the description of
//! the format in the documentation of the Linux kernel (`staging/lzo.rst`), not from another
//! implementation.

mod compress;
mod decompress;

use alloc::boxed::Box;

use crate::lz77::BlockCoder;
use crate::{Codec, Coder, Options, OptionsError};

/// The length of the original as a LEB128 number, then an LZO1X block.
#[derive(Debug, Clone, Copy)]
pub struct Lzo;

impl Codec for Lzo {
    fn name(&self) -> &'static str {
        "lzo"
    }

    fn number(&self) -> u8 {
        4
    }

    fn coder(&self, options: &Options<'_>) -> Result<Box<dyn Coder>, OptionsError> {
        options.expect_none(self.name())?;
        Ok(Box::new(BlockCoder::new(compress::block, decompress::block)))
    }
}

/// The greatest distances of the three kinds of copies.
const NEAR: usize = 2048;
const MIDDLE: usize = 16384;
const FAR: usize = 49151;

/// The copy from 16384 bytes back that ends a block.
const END: [u8; 3] = [17, 0, 0];

#[cfg(test)]
mod tests;
