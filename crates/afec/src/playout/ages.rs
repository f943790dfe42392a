//! The ages of messages at arrival, and their jitter.

use core::time::Duration;

use crate::within::Within;

/// The resolution of ages is the longest delay divided by this: 4 ms of 250 ms.
const BUCKETS: usize = 64;

/// The weight of an age relative to the next one. The newest 200 messages, 7 s of a pointer, have 63 % of all weight: if messages
/// begin to come late, a quantile of 98 % shows it after four of them, and forgets them after 800 in time. Chosen by judgement;
/// not tuned.
const FORGET: f64 = 0.995;

/// Weights are scaled down beyond this: far below where sums of floating-point numbers lose small terms, and far above one.
const HEAVY: f64 = 1e9;

/// A histogram of ages in which newer ages weigh more, and the interarrival jitter.
#[derive(Debug, Clone)]
pub(super) struct Ages {
    /// The highest age that counts.
    max: Duration,
    /// The weight of each bucket.
    buckets: [f64; BUCKETS],
    total: f64,
    /// The weight of the next age: it grows, which is the same as all others shrinking.
    weight: f64,
    /// The last age.
    last: Option<Duration>,
    /// The interarrival jitter in seconds.
    jitter: f64,
}

impl Ages {
    /// `max`: messages that are older are left out of quantiles.
    pub(super) fn new(max: Duration) -> Self {
        Ages { max, buckets: [0.0; BUCKETS], total: 0.0, weight: 1.0, last: None, jitter: 0.0 }
    }

    /// Adds the age of a message.
    pub(super) fn add(&mut self, age: Duration) {
        if let Some(last) = self.last.replace(age) {
            // RFC 3550, appendix A.8. The difference of ages is the difference of relative transit times.
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

    /// The age that `share` of the messages did not exceed, rounded up; `None` before the first message.
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
            came.expect("the quantile follows")
        };
        assert_eq!(until(&mut ages, 205, 210), 5);
        (0..1000).for_each(|_| ages.add(ms(205)));
        assert!((750..800).contains(&until(&mut ages, 45, 50)));
    }

    #[test]
    fn too_old_messages_are_left_out() {
        let mut ages = Ages::new(ms(64));
        (0..50).for_each(|_| ages.add(ms(65)));
        assert_eq!(ages.quantile(0.98), None);
        ages.add(ms(64));
        assert_eq!(ages.quantile(0.98), Some(ms(64)));
    }

    #[test]
    fn jitter_is_computed_as_in_rfc_3550() {
        let mut ages = Ages::new(ms(640));
        for _ in 0..500 {
            ages.add(ms(50));
            ages.add(ms(60));
        }
        assert_eq!(ages.jitter().as_micros(), 10_000);
    }
}
