//! A network in simulated time.

use std::time::Duration;

use super::random::Random;

/// The fixed time of a packet in one direction, ns: system calls, interrupts, distance.
pub(crate) const FIXED: f64 = 30_000.0;

/// A path of store-and-forward hops between two ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Network {
    pub(crate) mbit: f64,
    pub(crate) hops: u32,
    /// The mean delay by scheduling, ns. For one packet of a hundred it is 50 times as long.
    pub(crate) jitter: f64,
}

impl Network {
    pub(crate) fn new(mbit: f64, hops: u32) -> Self {
        Network { mbit, hops, jitter: 2500.0 }
    }

    pub(crate) fn nanos_per_byte(&self) -> f64 {
        8000.0 / self.mbit * f64::from(self.hops)
    }

    /// The time of a packet in one direction, ns.
    pub(crate) fn one_way(&self, bytes: usize, random: &mut Random) -> f64 {
        let late = if random.below(100) == 0 { 50.0 } else { 1.0 };
        FIXED + bytes as f64 * self.nanos_per_byte() + self.jitter * late * random.exponential()
    }

    /// The time of a packet and its answer of the same size.
    pub(crate) fn exchange(&self, bytes: usize, random: &mut Random) -> Duration {
        let nanos = self.one_way(bytes, random) + self.one_way(bytes, random);
        Duration::from_nanos(nanos as u64)
    }
}
