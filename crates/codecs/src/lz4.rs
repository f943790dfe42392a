//! LZ4 blocks: the fastest codec that still helps.

use alloc::boxed::Box;
use alloc::vec::Vec;

use lz4_flex::block;

use crate::{Codec, CodecError, Coder, Memory, Options, OptionsError, length};

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

    fn coder(&self, options: &Options<'_>) -> Result<Box<dyn Coder>, OptionsError> {
        options.expect_none(self.name())?;
        Ok(Box::new(Lz4))
    }

    fn compress(&self, input: &[u8], out: &mut Vec<u8>) {
        length::write(input.len(), out);
        let start = out.len();
        out.resize(start + block::get_maximum_output_size(input.len()), 0);
        let written = block::compress_into(input, &mut out[start..])
            .expect("the buffer has the codec's own maximum output size");
        out.truncate(start + written);
    }

    fn decompress(&self, input: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
        let (length, block) = length::read(input, limit)?;
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

impl Coder for Lz4 {
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
