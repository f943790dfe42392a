//! In the place of the laws' random numbers: the bytes of the input, and behind its end numbers
//! from a seed.

use std::cell::Cell;

thread_local! {
    static INPUT: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// What the next sessions of this thread draw from.
pub(crate) fn set_input(data: &[u8]) {
    INPUT.set(data.iter().rev().copied().collect());
}

pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let mut input = INPUT.take();
        let drawn = input.pop();
        INPUT.set(input);
        drawn.map_or(self.0 >> 16, u64::from)
    }

    /// Large bounds take two bytes.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        match bound {
            0..=256 => self.next() % bound,
            _ => ((self.next() & 0xffff) << 8 | self.next() & 0xff) % bound,
        }
    }

    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}
