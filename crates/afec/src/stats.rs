//! Figures for people.

use core::time::Duration;

use crate::within::Within;

/// What a sender did for a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SenderStats {
    /// Messages sent, each once.
    pub messages: u64,
    /// Their bytes, with what stands before each.
    pub bytes: u64,
    /// Messages replaced by a newer one of their key before they were sent.
    pub conflated: u64,
    /// Messages dropped because their deadline passed before they could be sent.
    pub stale: u64,
    /// Messages sent again.
    pub repeats: u64,
    /// Their bytes.
    pub repeat_bytes: u64,
    /// Of the repeats, those that the receiver asked for.
    pub answers: u64,
    /// Repeats that did not fit into a packet.
    pub crowded_out: u64,
}

/// What a receiver saw of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReceiverStats {
    /// Messages that came by their deadline, or were superseded by one that did, or that missed: each exactly once.
    pub judged: u64,
    /// Of them, those that missed: never came, or too late (MER = missed / judged).
    pub missed: u64,
    /// Of the missed, those that came too late.
    pub late: u64,
    /// Messages that came by their deadline only because they were repeated.
    pub recovered: u64,
    /// Repeats of messages that had come already.
    pub useless: u64,
    /// Messages dropped because a newer one had been handed over.
    pub superseded: u64,
    /// Messages that this end asked for.
    pub asked: u64,
    /// How old the messages were that came.
    pub latency: Histogram,
}

impl ReceiverStats {
    /// The message error rate so far, 0 to 1.
    pub fn mer(&self) -> f64 {
        self.missed as f64 / (self.judged.max(1)) as f64
    }
}

const BUCKETS: usize = 40;

/// How often which latency was seen: eight buckets for each doubling from 8 ms on, one for each ms before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Histogram {
    counts: [u32; BUCKETS + 16],
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram { counts: [0; BUCKETS + 16] }
    }
}

impl Histogram {
    /// Counts one.
    pub fn add(&mut self, latency: Duration) {
        let count = &mut self.counts[bucket(latency.as_millis().min(u128::from(u32::MAX)) as u32)];
        *count = count.saturating_add(1);
    }

    /// Counts all that another one counted.
    pub fn merge(&mut self, other: &Histogram) {
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count = count.saturating_add(more);
        }
    }

    /// The latency that `share` (0 to 1) of all did not exceed, within an eighth; `None` if there were none.
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        let total: u64 = self.counts.iter().map(|&count| u64::from(count)).sum();
        let wanted = libm::ceil(share.within(0.0, 1.0) * total as f64) as u64;
        let mut seen = 0;
        for (place, &count) in self.counts.iter().enumerate() {
            seen += u64::from(count);
            if count > 0 && seen >= wanted {
                return Some(Duration::from_millis(u64::from(upper(place))));
            }
        }
        None
    }

    /// Each bucket that was hit: the largest latency in ms that falls into it, and how often.
    pub fn buckets(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let all = self.counts.iter().enumerate().map(|(place, &count)| (upper(place), count));
        all.filter(|(_, count)| *count > 0)
    }
}

fn bucket(ms: u32) -> usize {
    if ms < 8 {
        return ms as usize;
    }
    let doubling = ms.ilog2() - 3;
    let within = (ms >> doubling) - 8;
    ((doubling as usize + 1) * 8 + within as usize).min(BUCKETS + 15)
}

fn upper(bucket: usize) -> u32 {
    if bucket < 8 {
        return bucket as u32;
    }
    let (doubling, within) = (bucket as u32 / 8 - 1, bucket as u32 % 8);
    ((within + 9) << doubling) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_an_eighth() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile(0.5), None);
        for ms in 0..=400 {
            histogram.add(Duration::from_millis(ms));
        }
        for share in [0.01, 0.1, 0.5, 0.9, 0.99, 1.0] {
            let exact = 400.0 * share;
            let found = histogram.quantile(share).expect("some were added").as_millis() as f64;
            assert!(
                found >= exact - 1.0 && found <= exact * 1.13 + 1.0,
                "{share}: {found} for {exact}"
            );
        }
    }

    #[test]
    fn every_latency_has_a_bucket() {
        let mut histogram = Histogram::default();
        for shift in 0..64 {
            histogram.add(Duration::from_millis(1 << shift));
        }
        assert_eq!(histogram.buckets().map(|(_, count)| count).sum::<u32>(), 64);
    }
}
