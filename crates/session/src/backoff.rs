//! The waiting time before a client connects again. Its bound doubles with each attempt, and all of
//! it is random ("full jitter"), so that the clients of a server do not all connect at the same
//! time. The random numbers come from a seed (law 4 in docs/laws.md).

use core::time::Duration;

/// The first attempt comes within this time, so that clients are back soon when a server restarts.
const FIRST: Duration = Duration::from_millis(250);
/// The longest waiting time before any attempt. It is short, so that people are connected soon
/// after a long outage ends.
const LONGEST: Duration = Duration::from_secs(5);

/// The waiting times between attempts to connect.
#[derive(Debug, Clone)]
pub(crate) struct Backoff {
    attempt: u32,
    random: u64,
}

impl Backoff {
    pub(crate) fn new(seed: u64) -> Self {
        Backoff { attempt: 0, random: mixed(seed) | 1 }
    }

    /// The next waiting time: at random between zero and the present bound.
    pub(crate) fn next(&mut self) -> Duration {
        let bound = FIRST.saturating_mul(1 << self.attempt.min(8)).min(LONGEST);
        self.attempt = self.attempt.saturating_add(1);
        self.jitter(bound)
    }

    /// The waiting time after the time that the server stated. It only has to spread clients with
    /// the same stated time, because the server states different times. It does not grow with
    /// attempts, so that the server knows when clients come.
    pub(crate) fn after_stated(&mut self) -> Duration {
        self.jitter(FIRST)
    }

    /// Begins with the shortest time again, after a connection worked.
    pub(crate) fn reset(&mut self) {
        self.attempt = 0;
    }

    /// A random time between zero and `most`.
    fn jitter(&mut self, most: Duration) -> Duration {
        // xorshift64 (Marsaglia 2003, "Xorshift RNGs") is random enough to spread clients apart.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        most * ((self.random >> 40) as u32 & 0xffff) / 0x1_0000
    }
}

/// The first number of SplitMix64 (Steele, Lea, Flood 2014): the first numbers of xorshift64 are
/// small after a seed with few bits.
pub(crate) fn mixed(seed: u64) -> u64 {
    let mut mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const CLIENTS: u64 = 10_000;

    /// The number of times in each tenth of `span`; later times are left out.
    fn tenths(times: impl Iterator<Item = Duration>, span: Duration) -> [usize; 10] {
        let mut counts = [0; 10];
        for time in times {
            let tenth = (time.as_micros() * 10 / span.as_micros()) as usize;
            if let Some(count) = counts.get_mut(tenth) {
                *count += 1;
            }
        }
        counts
    }

    fn is_even(counts: [usize; 10]) -> bool {
        counts.iter().all(|count| (900..1100).contains(count))
    }

    #[test]
    fn waits_grow_to_a_bound_and_differ_by_seed() {
        let waits = |seed| {
            let mut backoff = Backoff::new(seed);
            (0..10).map(|_| backoff.next()).collect::<Vec<_>>()
        };
        assert_ne!(waits(1), waits(2));
        for seed in 0..CLIENTS {
            for (attempt, wait) in waits(seed).into_iter().enumerate() {
                assert!(wait < LONGEST.min(FIRST * (1 << attempt)), "{attempt}: {wait:?}");
            }
        }
        let last = |seed| waits(seed)[9];
        assert!((0..CLIENTS).any(|seed| last(seed) > LONGEST * 9 / 10));
    }

    #[test]
    fn waits_are_spread_evenly_from_zero_to_their_bound() {
        let mut all: Vec<Backoff> = (0..CLIENTS).map(Backoff::new).collect();
        for bound in [250, 500, 1000, 2000, 4000, 5000, 5000].map(Duration::from_millis) {
            let counts = tenths(all.iter_mut().map(Backoff::next), bound);
            assert!(is_even(counts), "{bound:?}: {counts:?}");
        }
        let counts = tenths(all.iter_mut().map(Backoff::after_stated), FIRST);
        assert!(is_even(counts), "{counts:?}");
        all.iter_mut().for_each(Backoff::reset);
        assert!(all.iter_mut().all(|one| one.next() < FIRST));
    }

    /// All clients lose the server at the same moment, and it is back after a second.
    #[test]
    fn the_clients_of_a_restarted_server_come_one_after_the_other() {
        let back = Duration::from_secs(1);
        let arrival = |seed| {
            let (mut backoff, mut now) = (Backoff::new(seed), Duration::ZERO);
            while now < back {
                now += backoff.next();
            }
            now - back
        };
        let span = Duration::from_secs(2);
        let arrivals: Vec<_> = (0..CLIENTS).map(arrival).collect();
        let counts = tenths(arrivals.iter().copied(), span);
        assert!(counts.iter().all(|count| *count < 3000), "{counts:?}");
        assert!(counts.iter().sum::<usize>() > 9000, "{counts:?}");
    }
}
