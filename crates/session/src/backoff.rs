//! The waiting time before a client connects again: it doubles with each attempt, and a part of it is random, so that
//! the clients of a server do not all connect at the same time. The random numbers come from a seed (law 4 in
//! docs/laws.md).

use core::time::Duration;

/// The first attempt comes within this time, so that clients are back soon when a server restarts.
const FIRST: Duration = Duration::from_millis(250);
/// The longest waiting time before any attempt. It is short, so that people are connected soon after a long outage
/// ends.
const LONGEST: Duration = Duration::from_secs(5);

/// The waiting times between attempts to connect.
#[derive(Debug, Clone)]
pub(crate) struct Backoff {
    attempt: u32,
    random: u64,
}

impl Backoff {
    pub(crate) fn new(seed: u64) -> Self {
        Backoff { attempt: 0, random: seed | 1 }
    }

    /// The next waiting time: at random between a quarter and all of the present bound.
    pub(crate) fn next(&mut self) -> Duration {
        let bound = FIRST.saturating_mul(1 << self.attempt.min(8)).min(LONGEST);
        self.attempt = self.attempt.saturating_add(1);
        bound / 4 + self.jitter(bound * 3 / 4)
    }

    /// A random time between zero and `most`.
    pub(crate) fn jitter(&mut self, most: Duration) -> Duration {
        // xorshift64 (Marsaglia 2003, "Xorshift RNGs") is random enough to spread clients apart.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        most * ((self.random >> 40) as u32 & 0xffff) / 0x1_0000
    }

    /// Begins with the shortest time again, after a connection worked.
    pub(crate) fn reset(&mut self) {
        self.attempt = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_bound_and_differ_by_seed() {
        let (mut one, mut two) = (Backoff::new(1), Backoff::new(99));
        let waits =
            |backoff: &mut Backoff| (0..10).map(|_| backoff.next()).collect::<alloc::vec::Vec<_>>();
        let (one, two) = (waits(&mut one), waits(&mut two));
        assert_ne!(one, two);
        assert!(one[0] <= FIRST && one[0] >= FIRST / 4);
        assert!(one.iter().all(|wait| *wait <= LONGEST));
        assert!(one[9] >= LONGEST / 4);
    }
}
