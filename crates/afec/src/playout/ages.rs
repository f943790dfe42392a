//! How old messages are when they arrive, and how much that varies.

use core::time::Duration;

use crate::within::Within;

/// Ages are told apart to this part of the greatest delay: 4 ms of 250.
const BUCKETS: usize = 64;

/// What an age counts, relative to the next one. The newest 200 messages make up 63 % of what is known, 7 s of a
/// pointer: a share of 2 % that comes late shows after four messages, and counts until the next 800 have come in time.
const FORGET: f64 = 0.995;

/// Far below where sums of floating-point numbers lose the small ones, far above one.
const HEAVY: f64 = 1e9;

/// A histogram of ages that forgets, and their interarrival jitter.
#[derive(Debug, Clone)]
pub(super) struct Ages {
    max: Duration,
    buckets: [f64; BUCKETS],
    total: f64,
    /// What the next age counts: it grows instead of the others shrinking.
    weight: f64,
    last: Option<Duration>,
    /// In seconds.
    jitter: f64,
}

impl Ages {
    /// `max`: older ones are left out of quantiles.
    pub(super) fn new(max: Duration) -> Self {
        Ages { max, buckets: [0.0; BUCKETS], total: 0.0, weight: 1.0, last: None, jitter: 0.0 }
    }

    pub(super) fn add(&mut self, age: Duration) {
        if let Some(last) = self.last.replace(age) {
            // RFC 3550, appendix A.8. The difference of relative transit times is that of ages.
            self.jitter += (age.abs_diff(last).as_secs_f64() - self.jitter) / 16.0;
        }
        if age > self.max {
            return;
        }
        let share = age.as_secs_f64() / self.max.as_secs_f64().max(f64::MIN_POSITIVE);
        let bucket = (share * BUCKETS as f64) as usize;
        self.buckets[bucket.min(BUCKETS - 1)] += self.weight;
        self.total += self.weight;
        self.weight /= FORGET;
        if self.weight > HEAVY {
            self.buckets.iter_mut().for_each(|bucket| *bucket /= HEAVY);
            self.total = self.buckets.iter().sum();
            self.weight /= HEAVY;
        }
    }

    /// The age that `share` of the messages did not exceed, rounded up; `None` before the first.
    pub(super) fn quantile(&self, share: f64) -> Option<Duration> {
        let mut above = self.total;
        if above == 0.0 {
            return None;
        }
        let allowed = (1.0 - share.within(0.0, 1.0)) * self.total;
        let last = self.buckets.iter().rposition(|bucket| *bucket > 0.0)?;
        let found = self.buckets[..last].iter().position(|bucket| {
            above -= bucket;
            above <= allowed
        });
        Some(self.max * (found.unwrap_or(last) as u32 + 1) / BUCKETS as u32)
    }

    pub(super) fn jitter(&self) -> Duration {
        Duration::from_secs_f64(self.jitter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn quantiles_are_within_a_bucket() {
        let mut ages = Ages::new(ms(640));
        assert_eq!(ages.quantile(0.5), None);
        for age in (0..200).map(|i| i * 37 % 200) {
            ages.add(ms(age));
        }
        for (share, exact) in [(0.0, 0), (0.5, 100), (0.9, 180), (1.0, 200)] {
            let found = ages.quantile(share).expect("ages were added").as_millis();
            assert!((exact..=exact + 20).contains(&found), "{share}: {found} for {exact}");
        }
    }

    #[test]
    fn a_late_share_shows_after_four_messages_and_is_forgotten_after_800() {
        let mut ages = Ages::new(ms(640));
        (0..5000).for_each(|_| ages.add(ms(45)));
        assert_eq!(ages.quantile(0.98), Some(ms(50)));
        let until = |ages: &mut Ages, age: u64, quantile: u64| {
            let came = (1..10_000).find(|_| {
                ages.add(ms(age));
                ages.quantile(0.98) == Some(ms(quantile))
            });
            came.expect("it follows")
        };
        assert_eq!(until(&mut ages, 205, 210), 5);
        (0..1000).for_each(|_| ages.add(ms(205)));
        assert!((750..800).contains(&until(&mut ages, 45, 50)));
    }

    #[test]
    fn too_old_ones_are_not_waited_for() {
        let mut ages = Ages::new(ms(64));
        (0..50).for_each(|_| ages.add(ms(65)));
        assert_eq!(ages.quantile(0.98), None);
        ages.add(ms(64));
        assert_eq!(ages.quantile(0.98), Some(ms(64)));
    }

    #[test]
    fn jitter_is_that_of_rfc_3550() {
        let mut ages = Ages::new(ms(640));
        for _ in 0..500 {
            ages.add(ms(50));
            ages.add(ms(60));
        }
        assert_eq!(ages.jitter().as_micros(), 10_000);
    }
}
