//! The LZW compressor.

use alloc::vec::Vec;

use super::{CLEAR, FIRST, FULL, Width};

/// A hash table of the defined codes; the key is the code of the string before its last byte, and
/// that byte.
///
/// The table is not cleared between messages: entries of an earlier message have another
/// generation.
#[derive(Default)]
pub(super) struct Codes {
    /// Generation (24 bits), earlier code and byte (24 bits), code (16 bits). Generation 0 marks an
    /// empty slot.
    slots: Vec<u64>,
    generation: u64,
}

/// The logarithm of the largest table: half of its slots stay free when all 2^16 codes are defined.
const MAX_SLOT_BITS: u32 = 17;
/// The logarithm of the smallest table, for short messages.
const MIN_SLOT_BITS: u32 = 9;
/// The number of generations before the table is cleared.
const GENERATIONS: u64 = 1 << 24;

impl Codes {
    /// Starts with an empty dictionary, for `length` more bytes of input.
    fn begin(&mut self, length: usize) -> Finder<'_> {
        let bits = (2 * length).max(1).ilog2() + 1;
        let bits = bits.clamp(MIN_SLOT_BITS, MAX_SLOT_BITS);
        if self.slots.len() < 1 << bits {
            self.slots.resize(1 << bits, 0);
        }
        self.generation += 1;
        if self.generation == GENERATIONS {
            self.slots.fill(0);
            self.generation = 1;
        }
        Finder {
            slots: &mut self.slots[..1 << bits],
            shift: u32::BITS - bits,
            generation: self.generation,
        }
    }

    /// Working memory, bytes.
    pub(super) fn memory(&self) -> usize {
        self.slots.capacity() * size_of::<u64>()
    }

    #[cfg(test)]
    pub(super) fn near_the_last_generation() -> Self {
        Codes { slots: Vec::new(), generation: GENERATIONS - 3 }
    }
}

/// The part of a table that one message uses, which suits the message's length.
struct Finder<'a> {
    slots: &'a mut [u64],
    shift: u32,
    generation: u64,
}

impl Finder<'_> {
    /// The code of the string of `earlier` and `byte`; if it is not defined, the slot for it.
    #[inline(always)]
    fn find(&self, earlier: u32, byte: u8) -> Result<u32, usize> {
        let pair = earlier << 8 | u32::from(byte);
        let wanted = self.generation << 24 | u64::from(pair);
        let mut slot = (pair.wrapping_mul(2_654_435_761) >> self.shift) as usize;
        loop {
            let found = self.slots[slot];
            if found >> 16 == wanted {
                return Ok(found as u32 & 0xffff);
            }
            if found >> 40 != self.generation {
                return Err(slot);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }

    /// Defines `code` in a slot that [`Finder::find`] returned.
    #[inline(always)]
    fn make(&mut self, slot: usize, earlier: u32, byte: u8, code: u32) {
        let pair = earlier << 8 | u32::from(byte);
        self.slots[slot] = self.generation << 40 | u64::from(pair) << 16 | u64::from(code);
    }
}

/// Appends the stream of `input` to `out`.
pub(super) fn stream(input: &[u8], codes: &mut Codes, out: &mut Vec<u8>) {
    let Some((&first, rest)) = input.split_first() else { return };
    out.reserve(input.len() / 2 + 16);
    let mut bits = Bits { out, waiting: 0, count: 0 };
    let mut width = Width::new();
    let mut finder = codes.begin(input.len());
    let mut next = FIRST;
    let mut watch = Watch::default();
    let mut code = u32::from(first);
    for (at, &byte) in rest.iter().enumerate() {
        let slot = match finder.find(code, byte) {
            Ok(longer) => {
                code = longer;
                continue;
            }
            Err(slot) => slot,
        };
        bits.push(code, width.bits);
        width.advance();
        if next < FULL {
            finder.make(slot, code, byte, next);
            next += 1;
        } else if watch.is_worse(at, bits.out.len()) {
            let old = width.bits;
            bits.push(CLEAR, old);
            for _ in 0..width.clear() {
                bits.push(0, old);
            }
            finder = codes.begin(input.len() - at);
            next = FIRST;
            watch = Watch::default();
        }
        code = u32::from(byte);
    }
    bits.push(code, width.bits);
    bits.finish();
}

/// Decides, once all codes are defined, when the dictionary no longer suits the input.
#[derive(Default)]
struct Watch {
    /// Where the current stretch begins in the input.
    read: usize,
    /// Where the current stretch begins in the output.
    written: usize,
    /// The output size of the best stretch.
    best: usize,
}

/// Input bytes of a stretch: long enough for a steady ratio.
const STRETCH: usize = 8192;

impl Watch {
    /// Whether a stretch ends here whose output is larger than the best one's by an eighth.
    fn is_worse(&mut self, read: usize, written: usize) -> bool {
        if self.read == 0 {
            (self.read, self.written, self.best) = (read, written, usize::MAX);
        }
        if read - self.read < STRETCH {
            return false;
        }
        let size = (written - self.written) * STRETCH / (read - self.read);
        (self.read, self.written) = (read, written);
        let worse = size > self.best.saturating_add(self.best / 8);
        self.best = self.best.min(size);
        worse
    }
}

/// Writes codes, low bits first.
struct Bits<'a> {
    out: &'a mut Vec<u8>,
    /// Bits that are not written yet.
    waiting: u64,
    /// The number of bits in `waiting`.
    count: u32,
}

impl Bits<'_> {
    #[inline(always)]
    fn push(&mut self, code: u32, bits: u32) {
        self.waiting |= u64::from(code) << self.count;
        self.count += bits;
        if self.count >= 32 {
            self.out.extend_from_slice(&(self.waiting as u32).to_le_bytes());
            self.waiting >>= 32;
            self.count -= 32;
        }
    }

    fn finish(self) {
        let bytes = self.count.div_ceil(8) as usize;
        self.out.extend_from_slice(&self.waiting.to_le_bytes()[..bytes]);
    }
}
