//! Deflate, the codec of zlib: slower than LZ4, smaller, everywhere.

use alloc::boxed::Box;
use alloc::vec::Vec;

use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_with_limit};

use crate::{Codec, CodecError, Coder, Memory, Options, OptionsError};

/// Raw deflate (RFC 1951): zlib's stream without its header and checksum.
#[derive(Debug, Clone, Copy)]
pub struct Deflate;

/// zlib's default level: beyond it a message of a few kilobytes gains less than 1 %.
#[cfg(feature = "deflate-encoder")]
const LEVEL: u8 = 6;

#[cfg(feature = "deflate-encoder")]
fn compress(input: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&miniz_oxide::deflate::compress_to_vec(input, LEVEL));
}

/// Stored blocks: what any decoder reads, and no smaller.
#[cfg(not(feature = "deflate-encoder"))]
fn compress(input: &[u8], out: &mut Vec<u8>) {
    let mut rest = input;
    loop {
        let (block, after) = rest.split_at(rest.len().min(usize::from(u16::MAX)));
        let length = block.len() as u16;
        out.push(u8::from(after.is_empty()));
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&(!length).to_le_bytes());
        out.extend_from_slice(block);
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
}

impl Codec for Deflate {
    fn name(&self) -> &'static str {
        "zlib"
    }

    fn number(&self) -> u8 {
        2
    }

    fn coder(&self, options: &Options<'_>) -> Result<Box<dyn Coder>, OptionsError> {
        options.expect_none(self.name())?;
        Ok(Box::new(Deflate))
    }

    fn compress(&self, input: &[u8], out: &mut Vec<u8>) {
        compress(input, out);
    }

    fn decompress(&self, input: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
        match decompress_to_vec_with_limit(input, limit) {
            Ok(plain) => {
                out.extend_from_slice(&plain);
                Ok(())
            }
            Err(error) if error.status == TINFLStatus::HasMoreOutput => Err(CodecError::TooLarge),
            Err(_) => Err(CodecError::Malformed),
        }
    }
}

impl Coder for Deflate {
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) {
        Codec::compress(self, input, out);
    }

    fn decompress(
        &mut self,
        input: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), CodecError> {
        Codec::decompress(self, input, limit, out)
    }

    fn memory(&self) -> Memory {
        Memory::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_the_build_can_do_it_reads_what_it_writes() {
        for length in [0, 1, 65_535, 65_536, 200_000] {
            let message = alloc::vec![7; length];
            let (mut packed, mut plain) = (Vec::new(), Vec::new());
            Codec::compress(&Deflate, &message, &mut packed);
            Codec::decompress(&Deflate, &packed, length, &mut plain).unwrap();
            assert_eq!(plain, message);
        }
    }
}
