//! Deflate, the codec of zlib: slower than LZ4, smaller, everywhere.

use alloc::boxed::Box;
use alloc::vec::Vec;

use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_with_limit};

use crate::{Codec, CodecError, Coder, Memory, Options, OptionsError};

/// Raw deflate (RFC 1951): zlib's stream without its header and checksum.
#[derive(Debug, Clone, Copy)]
pub struct Deflate;

/// zlib's default level: beyond it a message of a few kilobytes gains less than 1 %.
const LEVEL: u8 = 6;

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
        out.extend_from_slice(&compress_to_vec(input, LEVEL));
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
