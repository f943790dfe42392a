//! The fast coder, by the crate zlib-rs.

use alloc::boxed::Box;
use alloc::vec::Vec;

use zlib_rs::{
    Deflate, DeflateConfig, DeflateFlush, Inflate, InflateFlush, Status, compress_bound,
};

use crate::output::Output;
use crate::{CodecError, Coder, Memory};

/// The logarithm of the smallest window: a smaller one saves nothing beside the table of fixed
/// size.
const MIN_WINDOW: u32 = 11;
/// The logarithm of deflate's largest window.
const MAX_WINDOW: u32 = 15;

/// Memory of zlib-rs for compression besides windows and buffers, rounded up: a table of 2^16
/// entries of two bytes, and the state.
const DEFLATE_FIXED: usize = (128 + 12) << 10;
/// Memory of zlib-rs for decompression, rounded up: the largest window and the state.
const INFLATE_FIXED: usize = 56 << 10;

pub(super) struct DeflateCoder {
    level: i8,
    dictionary: Box<[u8]>,
    /// The compressor, with the logarithm of its window.
    deflate: Option<(u32, Deflate)>,
    inflate: Option<Inflate>,
}

impl DeflateCoder {
    pub(super) fn new(level: i8, dictionary: &[u8]) -> Self {
        let start = dictionary.len().saturating_sub((1 << MAX_WINDOW) - WINDOW_MARGIN);
        DeflateCoder { level, dictionary: dictionary[start..].into(), deflate: None, inflate: None }
    }

    /// A compressor that is ready for a message of `bytes` bytes.
    fn deflate(&mut self, bytes: usize) -> &mut Deflate {
        let wanted = (bytes + self.dictionary.len() + WINDOW_MARGIN).next_power_of_two().ilog2();
        let wanted = wanted.clamp(MIN_WINDOW, MAX_WINDOW);
        let (level, dictionary) = (i32::from(self.level), &self.dictionary);
        let kept = self.deflate.take().filter(|(window, _)| *window >= wanted);
        let (_, deflate) = self.deflate.insert(match kept {
            Some((window, mut deflate)) => {
                deflate.reset();
                (window, deflate)
            }
            None => (wanted, Deflate::new_with_config(config(level, wanted))),
        });
        if !dictionary.is_empty() {
            // Cannot fail on a raw stream that has not begun.
            let _ = deflate.set_dictionary(dictionary);
        }
        deflate
    }
}

/// zlib's matches stay this many bytes below the window size (zlib's `MIN_LOOKAHEAD`).
const WINDOW_MARGIN: usize = 262;

fn config(level: i32, window: u32) -> DeflateConfig {
    DeflateConfig {
        level,
        // Negative: without zlib's header and checksum.
        window_bits: -(window as i32),
        mem_level: memory_level(window),
        ..DeflateConfig::default()
    }
}

/// zlib's memory level with one buffered symbol per byte of the window, at most zlib's default.
fn memory_level(window: u32) -> i32 {
    (window as i32 - 6).min(8)
}

impl Coder for DeflateCoder {
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        // Level 0 stores blocks of the buffers' size, each after five bytes.
        out.resize(start + compress_bound(input.len()) + input.len() / 512 * 5 + 64, 0);
        let deflate = self.deflate(input.len());
        let (mut read, mut written) = (0, start);
        loop {
            let status =
                deflate.compress(&input[read..], &mut out[written..], DeflateFlush::Finish);
            read = deflate.total_in() as usize;
            written = start + deflate.total_out() as usize;
            match status {
                Ok(Status::StreamEnd) => break,
                // The buffer is full: the bound was too low. Continue with a larger buffer.
                Ok(_) => out.resize(out.len() + 1024, 0),
                Err(_) => unreachable!("a stream that is finished once is always in sequence"),
            }
        }
        out.truncate(written);
    }

    fn decompress(
        &mut self,
        input: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), CodecError> {
        let inflate = self.inflate.get_or_insert_with(|| Inflate::new(false, MAX_WINDOW as u8));
        inflate.reset(false);
        if !self.dictionary.is_empty() && inflate.set_dictionary(&self.dictionary).is_err() {
            return Err(CodecError::Malformed);
        }
        let mut output = Output::new(out, input.len(), limit);
        let whole = read(inflate, input, &mut output);
        output.finish(whole)
    }

    fn memory(&self) -> Memory {
        let compress = self.deflate.as_ref().map_or(0, |(window, _)| {
            // Two windows and two bytes per window byte for the table; seven bytes per buffered
            // symbol.
            DEFLATE_FIXED + (4 << window) + (7 << (memory_level(*window) + 6))
        });
        let decompress = self.inflate.as_ref().map_or(0, |_| INFLATE_FIXED);
        Memory { compress, decompress: decompress + self.dictionary.len() }
    }
}

fn read(inflate: &mut Inflate, input: &[u8], output: &mut Output<'_>) -> Result<(), CodecError> {
    loop {
        let before = (inflate.total_in(), inflate.total_out());
        let free = output.free();
        if free.is_empty() {
            return Err(CodecError::TooLarge);
        }
        let status = inflate.decompress(&input[before.0 as usize..], free, InflateFlush::Finish);
        output.advance((inflate.total_out() - before.1) as usize);
        let read = inflate.total_in() as usize;
        match status {
            Ok(Status::StreamEnd) if read == input.len() => return Ok(()),
            Ok(Status::Ok | Status::BufError)
                if before != (inflate.total_in(), inflate.total_out()) => {}
            _ => return Err(CodecError::Malformed),
        }
    }
}
