//! Deflate, the codec of zlib: slower and smaller than LZ4, and available nearly everywhere.

#[cfg(feature = "pure")]
mod coder;

use alloc::boxed::Box;
use alloc::vec::Vec;

use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};

use crate::output::Output;
use crate::{Codec, CodecError, Coder, Levels, Memory, Options, OptionsError};

/// Raw deflate (RFC 1951): zlib's stream without its header and checksum.
///
/// The coder keeps its memory. Its window suits the longest message so far, up to deflate's 32 KiB.
/// For messages of up to 2 KiB (with the dictionary) compression takes 170 KiB, of which 128 KiB
/// are a table of fixed size; for messages of 32 KiB and more 400 KiB. Decompression takes 56 KiB,
/// whatever a stream claims. The dictionary is added to both.
///
/// Without the feature `pure`, as in the browser's core, the coder keeps no memory and takes no
/// dictionary.
#[derive(Debug, Clone, Copy)]
pub struct Deflate;

/// zlib's own default: beyond it a message of a few kilobytes gains less than 1 %.
const LEVELS: Levels = Levels { min: 0, max: 9, default: 6 };

impl Codec for Deflate {
    fn name(&self) -> &'static str {
        "zlib"
    }

    fn number(&self) -> u8 {
        2
    }

    fn levels(&self) -> Option<Levels> {
        Some(LEVELS)
    }

    fn takes_dictionary(&self) -> bool {
        cfg!(feature = "pure")
    }

    #[cfg(feature = "pure")]
    fn coder(&self, options: &Options<'_>) -> Result<Box<dyn Coder>, OptionsError> {
        let level = LEVELS.pick(self.name(), options.level)?;
        Ok(Box::new(coder::DeflateCoder::new(level, options.dictionary)))
    }

    #[cfg(not(feature = "pure"))]
    fn coder(&self, options: &Options<'_>) -> Result<Box<dyn Coder>, OptionsError> {
        let level = LEVELS.pick(self.name(), options.level)?;
        options.expect_no_dictionary(self.name())?;
        Ok(Box::new(OneShot { level: level.unsigned_abs() }))
    }

    fn compress(&self, input: &[u8], out: &mut Vec<u8>) {
        OneShot { level: LEVELS.default.unsigned_abs() }.compress(input, out);
    }

    fn decompress(&self, input: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
        OneShot { level: 0 }.decompress(input, limit, out)
    }
}

/// A coder by miniz_oxide, which allocates its memory for every message.
struct OneShot {
    level: u8,
}

impl Coder for OneShot {
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) {
        write(input, self.level, out);
    }

    fn decompress(
        &mut self,
        input: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), CodecError> {
        let mut output = Output::new(out, input.len(), limit);
        let whole = read(input, &mut output);
        output.finish(whole)
    }

    fn memory(&self) -> Memory {
        Memory::default()
    }
}

#[cfg(feature = "deflate-encoder")]
fn write(input: &[u8], level: u8, out: &mut Vec<u8>) {
    out.extend_from_slice(&miniz_oxide::deflate::compress_to_vec(input, level));
}

/// Writes stored blocks, which every decoder reads and which save nothing.
#[cfg(not(feature = "deflate-encoder"))]
fn write(input: &[u8], _level: u8, out: &mut Vec<u8>) {
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

fn read(input: &[u8], output: &mut Output<'_>) -> Result<(), CodecError> {
    let mut inflate = Box::<DecompressorOxide>::default();
    let mut from = 0;
    loop {
        let (original, at) = output.original();
        if at == original.len() {
            return Err(CodecError::TooLarge);
        }
        let flags = TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
        let (status, read, written) = decompress(&mut inflate, &input[from..], original, at, flags);
        from += read;
        output.advance(written);
        match status {
            TINFLStatus::Done if from == input.len() => return Ok(()),
            TINFLStatus::HasMoreOutput => {}
            _ => return Err(CodecError::Malformed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_build_reads_what_it_writes() {
        for length in [0, 1, 65_535, 65_536, 200_000] {
            let message = alloc::vec![7; length];
            let (mut packed, mut plain) = (Vec::new(), Vec::new());
            Codec::compress(&Deflate, &message, &mut packed);
            Codec::decompress(&Deflate, &packed, length, &mut plain).unwrap();
            assert_eq!(plain, message);
        }
    }
}
