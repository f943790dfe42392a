//! A network in simulated time.

use std::time::Duration;

use crate::random::Random;

/// Nanoseconds that a packet takes one way, whatever its size: system calls, interrupts, distance.
pub(crate) const FIXED: f64 = 30_000.0;

/// Two ends and the hops between them, each of which receives a packet before it sends it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Network {
    pub(crate) mbit: f64,
    pub(crate) hops: u32,
    /// The mean of what scheduling adds to a packet, ns. One packet of a hundred is late by 50 times as much.
    pub(crate) jitter: f64,
}

impl Network {
    pub(crate) fn new(mbit: f64, hops: u32) -> Self {
        Network { mbit, hops, jitter: 2500.0 }
    }

    pub(crate) fn nanos_per_byte(&self) -> f64 {
        8000.0 / self.mbit * f64::from(self.hops)
    }

    /// One way, ns.
    pub(crate) fn way(&self, bytes: usize, random: &mut Random) -> f64 {
        let late = if random.below(100) == 0 { 50.0 } else { 1.0 };
        FIXED + bytes as f64 * self.nanos_per_byte() + self.jitter * late * random.exponential()
    }

    /// There and back.
    pub(crate) fn exchange(&self, bytes: usize, random: &mut Random) -> Duration {
        let nanos = self.way(bytes, random) + self.way(bytes, random);
        Duration::from_nanos(nanos as u64)
    }
}
