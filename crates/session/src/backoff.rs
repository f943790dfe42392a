//! When to dial again: exponential growth with full jitter, from a seed (the core has no randomness of its own).

use core::time::Duration;

/// The first retry comes within this time; it covers a server that restarts.
const FIRST: Duration = Duration::from_millis(250);
/// Later ones come within at most this time, so that people are back soon after a long outage.
const LONGEST: Duration = Duration::from_secs(5);

/// Waiting times between attempts.
#[derive(Debug, Clone)]
pub(crate) struct Backoff {
    attempt: u32,
    random: u64,
}

impl Backoff {
    pub(crate) fn new(seed: u64) -> Self {
        Backoff { attempt: 0, random: seed | 1 }
    }

    /// The next waiting time, between a quarter and all of the current bound.
    pub(crate) fn next(&mut self) -> Duration {
        let bound = FIRST.saturating_mul(1 << self.attempt.min(8)).min(LONGEST);
        self.attempt = self.attempt.saturating_add(1);
        bound / 4 + self.jitter(bound * 3 / 4)
    }

    /// A random share of `most`.
    pub(crate) fn jitter(&mut self, most: Duration) -> Duration {
        // xorshift64 (Marsaglia 2003): spreading clients apart needs no more.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        most * ((self.random >> 40) as u32 & 0xffff) / 0x1_0000
    }

    /// A connection worked.
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
