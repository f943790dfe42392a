//! Random numbers that repeat: SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).

/// A seeded source of random numbers.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// At least 0 and below 1.
    pub(crate) fn fraction(&mut self) -> f64 {
        // The 53 bits that a double holds.
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// From 0 to `most`, both included.
    pub(crate) fn up_to(&mut self, most: u64) -> u64 {
        // The bias of a remainder is below 2^-40 for what a simulation asks.
        self.next() % most.saturating_add(1)
    }
}
