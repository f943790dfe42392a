//! Deflate: slower than LZ4, smaller, everywhere.

use alloc::vec::Vec;

use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_with_limit};

use crate::{Codec, CodecError};

/// Raw deflate (RFC 1951), without a header or a checksum.
#[derive(Debug, Clone, Copy)]
pub struct Deflate;

/// zlib's default level: beyond it a message of a few kilobytes gains less than 1 %.
const LEVEL: u8 = 6;

impl Codec for Deflate {
    fn name(&self) -> &'static str {
        "deflate"
    }

    fn number(&self) -> u8 {
        2
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
