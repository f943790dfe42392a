//! A histogram of durations, which threads add to while others read it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The upper limits of the buckets, in microseconds.
const LIMITS_US: [u64; 16] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 2_500_000, 5_000_000, 10_000_000,
];

/// A histogram of durations: counts by buckets from 0.1 ms to 10 s, and the sum of all durations.
#[derive(Debug, Default)]
pub struct Times {
    /// The number of durations up to each limit, and above the limit before it.
    counts: [AtomicU64; LIMITS_US.len()],
    /// The number of durations above the last limit.
    longer: AtomicU64,
    sum_us: AtomicU64,
}

impl Times {
    /// Counts one duration.
    pub fn add(&self, time: Duration) {
        let us = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let bucket = LIMITS_US.partition_point(|&limit| limit < us);
        self.counts.get(bucket).unwrap_or(&self.longer).fetch_add(1, Ordering::Relaxed);
        self.sum_us.fetch_add(us, Ordering::Relaxed);
    }

    /// The upper limit of each bucket, and how many durations are up to it, those of the buckets
    /// before included. `None` is the bucket of all durations.
    pub fn cumulative(&self) -> impl Iterator<Item = (Option<Duration>, u64)> {
        let limits = LIMITS_US.into_iter().map(|us| Some(Duration::from_micros(us))).chain([None]);
        limits.zip(self.counts.iter().chain([&self.longer])).scan(0, |sum, (limit, count)| {
            *sum += count.load(Ordering::Relaxed);
            Some((limit, *sum))
        })
    }

    /// The sum of all durations.
    pub fn sum(&self) -> Duration {
        Duration::from_micros(self.sum_us.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_duration_counts_in_the_buckets_from_its_own_on() {
        let times = Times::default();
        for us in [0, 100, 101, 10_000_000, 10_000_001, u64::MAX / 2] {
            times.add(Duration::from_micros(us));
        }
        let all: Vec<_> = times.cumulative().collect();
        assert_eq!(all.len(), LIMITS_US.len() + 1);
        assert_eq!(all[0], (Some(Duration::from_micros(100)), 2));
        assert_eq!(all[1], (Some(Duration::from_micros(250)), 3));
        assert_eq!(all[15], (Some(Duration::from_secs(10)), 4));
        assert_eq!(all[16], (None, 6));
        assert!(LIMITS_US.is_sorted());
    }

    #[test]
    fn durations_are_summed() {
        let times = Times::default();
        times.add(Duration::from_millis(3));
        times.add(Duration::from_millis(4));
        assert_eq!(times.sum(), Duration::from_millis(7));
    }
}
