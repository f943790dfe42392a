//! Random numbers that repeat from a seed.

use oorandom::Rand64;

/// The chance of a simulation.
pub(crate) struct Random(Rand64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(Rand64::new(seed.into()))
    }

    /// A random number from 0 up to, but not including, 1.
    pub(crate) fn fraction(&mut self) -> f64 {
        self.0.rand_float()
    }

    /// A whole number from 0 to `most`.
    pub(crate) fn up_to(&mut self, most: u32) -> u32 {
        self.0.rand_range(0..u64::from(most) + 1) as u32
    }

    /// True with this probability.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.fraction() < probability
    }

    /// Any number.
    pub(crate) fn any(&mut self) -> u64 {
        self.0.rand_u64()
    }
}
