//! The LZW decompressor.

use alloc::vec::Vec;

use super::{CLEAR, FIRST, FULL, Width};
use crate::CodecError;
use crate::lz77::{STRIDE, Writer};

/// For each code since the start or the last clear: where its string begins in the original.
///
/// This is the whole dictionary. The code that is defined after code n is the string that begins
/// where the string of code n begins, and ends one byte after the start of the string of code n +
/// 1.
#[derive(Default)]
pub(super) struct Starts(Vec<u32>);

impl Starts {
    /// Working memory, bytes.
    pub(super) fn memory(&self) -> usize {
        self.0.capacity() * size_of::<u32>()
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }
}

/// The number of codes after which no more are defined.
const MAX_STARTS: usize = (FULL - FIRST + 1) as usize;

/// Appends the original of `input` to `out`, if it has at most `limit` bytes. On an error `out` is
/// unchanged.
pub(super) fn stream(
    input: &[u8],
    limit: usize,
    starts: &mut Starts,
    out: &mut Vec<u8>,
) -> Result<(), CodecError> {
    let start = out.len();
    let outcome = codes(input, limit.min(u32::MAX as usize), &mut starts.0, out);
    out.truncate(start + *outcome.as_ref().unwrap_or(&0));
    outcome.map(|_| ())
}

/// Appends the original and some more bytes to `out`; the caller removes them. Returns the
/// original's length.
fn codes(
    input: &[u8],
    limit: usize,
    starts: &mut Vec<u32>,
    out: &mut Vec<u8>,
) -> Result<usize, CodecError> {
    let start = out.len();
    grow(out, start, 3 * input.len(), limit);
    let mut bits = Bits { input, at: 0 };
    let mut width = Width::new();
    let mut at = 0;
    starts.clear();
    while let Some(code) = bits.next(width.bits)? {
        if code == CLEAR {
            bits.skip(width.bits, width.clear());
            starts.clear();
            continue;
        }
        // This start also ends the string that the previous code defined.
        if starts.len() < MAX_STARTS {
            starts.push(at as u32);
        }
        let made = (code as usize).wrapping_sub(FIRST as usize);
        let (from, length) = match (starts.get(made), starts.get(made.wrapping_add(1))) {
            (Some(&from), Some(&next)) => (from as usize, (next - from) as usize + 1),
            _ if code < CLEAR => (0, 1),
            _ => return Err(CodecError::Malformed),
        };
        if length > limit - at {
            return Err(CodecError::TooLarge);
        }
        if start + at + length + STRIDE > out.len() {
            grow(out, start, 2 * (at + length), limit);
        }
        let mut writer = Writer { bytes: &mut out[start..], at };
        if code < CLEAR {
            writer.push(code as u8);
        } else {
            writer.repeat(at - from, length)?;
        }
        at = writer.at;
        width.advance();
    }
    Ok(at)
}

/// Grows `out` to hold `length` bytes of the original, at most `limit`, and [`STRIDE`] bytes more.
fn grow(out: &mut Vec<u8>, start: usize, length: usize, limit: usize) {
    let length = start + length.min(limit) + STRIDE;
    out.reserve_exact(length.saturating_sub(out.len()));
    out.resize(length.max(out.len()), 0);
}

/// Reads codes, low bits first.
struct Bits<'a> {
    input: &'a [u8],
    /// Position in bits.
    at: usize,
}

impl Bits<'_> {
    /// The next code; `None` at the end.
    ///
    /// # Errors
    /// If the stream ends within a code.
    #[inline(always)]
    fn next(&mut self, bits: u32) -> Result<Option<u32>, CodecError> {
        let rest = self.input.get(self.at / 8..).unwrap_or_default();
        let bytes = match rest.first_chunk() {
            Some(bytes) => u32::from_le_bytes(*bytes),
            None => rest.iter().rev().fold(0, |sum, &byte| sum << 8 | u32::from(byte)),
        };
        let left = (8 * self.input.len()).saturating_sub(self.at);
        if left < bits as usize {
            // Fewer than eight bits are the padding of the last byte.
            return if left < 8 { Ok(None) } else { Err(CodecError::Malformed) };
        }
        let code = bytes >> (self.at % 8) & ((1 << bits) - 1);
        self.at += bits as usize;
        Ok(Some(code))
    }

    /// Skips `codes` codes.
    fn skip(&mut self, bits: u32, codes: u32) {
        self.at += (bits * codes) as usize;
    }
}
