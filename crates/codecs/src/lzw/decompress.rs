//! Reads a stream.

use alloc::vec::Vec;

use super::{CLEAR, FIRST, FULL, Width};
use crate::CodecError;
use crate::lz77::{STRIDE, Writer};

/// Where what each code stood for begins in the original, since the beginning or the last clear.
///
/// That is all the dictionary there is. The code that the third one makes stands for what begins where the third began,
/// and ends one byte after where the fourth begins.
#[derive(Default)]
pub(super) struct Starts(Vec<u32>);

impl Starts {
    pub(super) fn memory(&self) -> usize {
        self.0.capacity() * size_of::<u32>()
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }
}

/// Codes after which no more are made.
const MOST: usize = (FULL - FIRST + 1) as usize;

/// Appends the at most `limit` bytes that `input` stands for to `out`. On an error `out` is as it was.
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

/// The length of the original, which `out` holds, and something after it.
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
        // The code that the one before made needs to know where this one begins.
        if starts.len() < MOST {
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

/// Makes room for so many bytes of the original, or the most there may be.
fn grow(out: &mut Vec<u8>, start: usize, length: usize, limit: usize) {
    let length = start + length.min(limit) + STRIDE;
    out.reserve_exact(length.saturating_sub(out.len()));
    out.resize(length.max(out.len()), 0);
}

/// Bits that are read, the low ones first.
struct Bits<'a> {
    input: &'a [u8],
    /// In bits.
    at: usize,
}

impl Bits<'_> {
    /// The next code; `None` at the end.
    ///
    /// # Errors
    /// If it is cut off.
    #[inline(always)]
    fn next(&mut self, bits: u32) -> Result<Option<u32>, CodecError> {
        let rest = self.input.get(self.at / 8..).unwrap_or_default();
        let bytes = match rest.first_chunk() {
            Some(bytes) => u32::from_le_bytes(*bytes),
            None => rest.iter().rev().fold(0, |sum, &byte| sum << 8 | u32::from(byte)),
        };
        let left = (8 * self.input.len()).saturating_sub(self.at);
        if left < bits as usize {
            // What fills up the last byte.
            return if left < 8 { Ok(None) } else { Err(CodecError::Malformed) };
        }
        let code = bytes >> (self.at % 8) & ((1 << bits) - 1);
        self.at += bits as usize;
        Ok(Some(code))
    }

    fn skip(&mut self, bits: u32, codes: u32) {
        self.at += (bits * codes) as usize;
    }
}
