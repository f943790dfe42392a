//! LZ4 blocks: the fastest codec that still helps.

use alloc::vec::Vec;

use lz4_flex::block;

use crate::{Codec, CodecError};

/// An LZ4 block after the length of the original as a LEB128 number.
#[derive(Debug, Clone, Copy)]
pub struct Lz4;

impl Codec for Lz4 {
    fn name(&self) -> &'static str {
        "lz4"
    }

    fn number(&self) -> u8 {
        1
    }

    fn compress(&self, input: &[u8], out: &mut Vec<u8>) {
        write_length(input.len(), out);
        let start = out.len();
        out.resize(start + block::get_maximum_output_size(input.len()), 0);
        let written = block::compress_into(input, &mut out[start..])
            .expect("the buffer has the codec's own maximum output size");
        out.truncate(start + written);
    }

    fn decompress(&self, input: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
        let (length, block) = read_length(input)?;
        if length > limit {
            return Err(CodecError::TooLarge);
        }
        let start = out.len();
        out.resize(start + length, 0);
        match block::decompress_into(block, &mut out[start..]) {
            Ok(written) if written == length => Ok(()),
            _ => {
                out.truncate(start);
                Err(CodecError::Malformed)
            }
        }
    }
}

fn write_length(mut length: usize, out: &mut Vec<u8>) {
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
}

fn read_length(input: &[u8]) -> Result<(usize, &[u8]), CodecError> {
    let mut length = 0;
    // Four groups of seven bits: 256 MiB, more than any limit in use.
    for (index, &byte) in input.iter().take(4).enumerate() {
        length |= usize::from(byte & 0x7f) << (7 * index);
        if byte < 0x80 {
            return Ok((length, &input[index + 1..]));
        }
    }
    Err(CodecError::Malformed)
}
