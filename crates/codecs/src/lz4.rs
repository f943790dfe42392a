//! LZ4 blocks: a fast codec for fast links.

#[cfg(feature = "pure")]
mod compress;
#[cfg(feature = "pure")]
mod decompress;

use alloc::boxed::Box;
use alloc::vec::Vec;

use lz4_flex::block;

use crate::{Codec, CodecError, Coder, Memory, Options, OptionsError, length};

/// The length of the original as a LEB128 number, then an LZ4 block.
///
/// The coder takes about 3 microseconds for 1400 bytes of text, and a fifth of that to decompress
/// them. Its memory for compression is 16 KiB; a dictionary adds 8 KiB, the dictionary (its last
/// 65,535 bytes) and the longest message. Decompression needs the dictionary only.
///
/// Without the feature `pure`, as in the browser's core, the coder keeps no memory and takes no
/// dictionary.
#[derive(Debug, Clone, Copy)]
pub struct Lz4;

impl Codec for Lz4 {
    fn name(&self) -> &'static str {
        "lz4"
    }

    fn number(&self) -> u8 {
        1
    }

    fn takes_dictionary(&self) -> bool {
        cfg!(feature = "pure")
    }

    #[cfg(feature = "pure")]
    fn coder(&self, options: &Options<'_>) -> Result<Box<dyn Coder>, OptionsError> {
        options.expect_no_level(self.name())?;
        let dictionary = options.dictionary.into();
        Ok(Box::new(Lz4Coder { compressor: None, dictionary }))
    }

    #[cfg(not(feature = "pure"))]
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

#[cfg(feature = "pure")]
struct Lz4Coder {
    compressor: Option<compress::Compressor>,
    dictionary: Box<[u8]>,
}

#[cfg(feature = "pure")]
impl Coder for Lz4Coder {
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) {
        length::write(input.len(), out);
        let compressor = &mut self.compressor;
        let compressor =
            compressor.get_or_insert_with(|| compress::Compressor::new(&self.dictionary));
        compressor.compress(input, out);
    }

    fn decompress(
        &mut self,
        input: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), CodecError> {
        let (length, block) = length::read(input, limit)?;
        let start = out.len();
        out.resize(start + length + decompress::CHUNK, 0);
        let read = decompress::decompress(block, &self.dictionary, &mut out[start..]);
        out.truncate(if read { start + length } else { start });
        if read { Ok(()) } else { Err(CodecError::Malformed) }
    }

    fn memory(&self) -> Memory {
        Memory {
            compress: self.compressor.as_ref().map_or(0, compress::Compressor::memory),
            decompress: self.dictionary.len(),
        }
    }
}

#[cfg(not(feature = "pure"))]
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
