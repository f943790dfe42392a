//! The fast coder, by zlib-rs.

use alloc::boxed::Box;
use alloc::vec::Vec;

use zlib_rs::{
    Deflate, DeflateConfig, DeflateFlush, Inflate, InflateFlush, Status, compress_bound,
};

use crate::room::Room;
use crate::{CodecError, Coder, Memory};

/// Windows of 2^11 bytes at least: smaller ones save nothing beside the table of fixed size.
const LEAST_WINDOW: u32 = 11;
/// Deflate's whole window.
const WHOLE_WINDOW: u32 = 15;

/// What zlib-rs takes beside windows and buffers, rounded up: a table of 2^16 entries of two bytes, and the state.
const DEFLATE_FIXED: usize = (128 + 12) << 10;
/// What zlib-rs takes for decompression, rounded up: the whole window and the state.
const INFLATE_FIXED: usize = 56 << 10;

pub(super) struct DeflateCoder {
    level: i8,
    dictionary: Box<[u8]>,
    /// With the binary logarithm of its window.
    deflate: Option<(u32, Deflate)>,
    inflate: Option<Inflate>,
}

impl DeflateCoder {
    pub(super) fn new(level: i8, dictionary: &[u8]) -> Self {
        let start = dictionary.len().saturating_sub((1 << WHOLE_WINDOW) - WINDOW_MARGIN);
        DeflateCoder { level, dictionary: dictionary[start..].into(), deflate: None, inflate: None }
    }

    /// A compressor that is ready for a message of so many bytes.
    fn deflate(&mut self, bytes: usize) -> &mut Deflate {
        let wanted = (bytes + self.dictionary.len() + WINDOW_MARGIN).next_power_of_two().ilog2();
        let wanted = wanted.clamp(LEAST_WINDOW, WHOLE_WINDOW);
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

/// zlib does not look back the whole window: it stays so many bytes below it.
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

/// Buffers for one symbol for each byte of the window, or zlib's default.
fn memory_level(window: u32) -> i32 {
    (window as i32 - 6).min(8)
}

impl Coder for DeflateCoder {
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        // Level 0 stores blocks as large as its buffers, with five bytes before each.
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
                // No room: more than the bound says. It costs nothing to go on.
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
        let inflate = self.inflate.get_or_insert_with(|| Inflate::new(false, WHOLE_WINDOW as u8));
        inflate.reset(false);
        if !self.dictionary.is_empty() && inflate.set_dictionary(&self.dictionary).is_err() {
            return Err(CodecError::Malformed);
        }
        let mut room = Room::new(out, input.len(), limit);
        let whole = read(inflate, input, &mut room);
        room.finish(whole)
    }

    fn memory(&self) -> Memory {
        let compress = self.deflate.as_ref().map_or(0, |(window, _)| {
            // Twice the window and an entry of two bytes for each of its bytes; seven bytes for each symbol.
            DEFLATE_FIXED + (4 << window) + (7 << (memory_level(*window) + 6))
        });
        let decompress = self.inflate.as_ref().map_or(0, |_| INFLATE_FIXED);
        Memory { compress, decompress: decompress + self.dictionary.len() }
    }
}

fn read(inflate: &mut Inflate, input: &[u8], room: &mut Room<'_>) -> Result<(), CodecError> {
    loop {
        let before = (inflate.total_in(), inflate.total_out());
        let free = room.free();
        if free.is_empty() {
            return Err(CodecError::TooLarge);
        }
        let status = inflate.decompress(&input[before.0 as usize..], free, InflateFlush::Finish);
        room.advance((inflate.total_out() - before.1) as usize);
        let read = inflate.total_in() as usize;
        match status {
            Ok(Status::StreamEnd) if read == input.len() => return Ok(()),
            Ok(Status::Ok | Status::BufError)
                if before != (inflate.total_in(), inflate.total_out()) => {}
            _ => return Err(CodecError::Malformed),
        }
    }
}
