//! Statistics for people to read. A message misses if it does not arrive by its deadline; the
//! message error rate (MER) is the share of messages that miss.

use core::time::Duration;

use crate::whole::ceil;
use crate::within::Within;

/// What a sender did on a channel.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SenderStats {
    /// Messages that were sent, repeats not counted.
    pub messages: u64,
    /// The bytes of these messages, each with its header.
    pub bytes: u64,
    /// Messages that were not sent, because a newer message of the same key replaced them.
    pub conflated: u64,
    /// Messages that were dropped before they were sent: they could not meet their deadline any
    /// more, or too many messages waited.
    pub stale: u64,
    /// Repeats that were sent.
    pub repeats: u64,
    /// The bytes of the repeats, each with its header.
    pub repeat_bytes: u64,
    /// Requests of the receiver that were answered.
    pub answers: u64,
    /// Repeats that did not fit into a packet.
    pub crowded_out: u64,
}

/// What a receiver saw on a channel.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReceiverStats {
    /// Messages that were judged, each once: they arrived by their deadline, or a newer value of
    /// their key did, or they missed.
    pub judged: u64,
    /// Judged messages that missed: they never arrived, or arrived too late.
    pub missed: u64,
    /// Messages that arrived too late.
    pub late: u64,
    /// Messages that arrived by their deadline only because they were repeated.
    pub recovered: u64,
    /// Repeats of messages that had already arrived.
    pub useless: u64,
    /// Messages that were dropped because a newer value of their key had already been passed to the
    /// application.
    pub superseded: u64,
    /// Requests for missing messages.
    pub asked: u64,
    /// The ages of the messages that arrived in time.
    pub latency: Histogram,
}

impl ReceiverStats {
    /// The message error rate so far, 0 to 1: missed messages divided by judged ones.
    pub fn mer(&self) -> f64 {
        self.missed as f64 / (self.judged.max(1)) as f64
    }
}

/// The number of buckets for latencies from 16 ms on: eight for each of five doublings, up to half
/// a second. The last bucket also counts all higher latencies.
const BUCKETS: usize = 40;

/// A histogram of latencies: one bucket for each ms below 8 ms, eight buckets for each doubling
/// above.
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
    /// Counts a latency.
    pub fn add(&mut self, latency: Duration) {
        let count = &mut self.counts[bucket(latency.as_millis().min(u128::from(u32::MAX)) as u32)];
        *count = count.saturating_add(1);
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count = count.saturating_add(more);
        }
    }

    /// The latency that `share` (0 to 1) of all latencies did not exceed, within an eighth; `None`
    /// if none was counted.
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        let total: u64 = self.counts.iter().map(|&count| u64::from(count)).sum();
        let wanted = ceil(share.within(0.0, 1.0) * total as f64) as u64;
        let mut seen = 0;
        for (place, &count) in self.counts.iter().enumerate() {
            seen += u64::from(count);
            if count > 0 && seen >= wanted {
                return Some(Duration::from_millis(u64::from(upper(place))));
            }
        }
        None
    }

    /// Each bucket with a count: the largest latency in ms that falls into it, and the count.
    pub fn buckets(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let all = self.counts.iter().enumerate().map(|(place, &count)| (upper(place), count));
        all.filter(|(_, count)| *count > 0)
    }
}

/// The bucket of a latency.
fn bucket(ms: u32) -> usize {
    if ms < 8 {
        return ms as usize;
    }
    let doubling = ms.ilog2() - 3;
    let within = (ms >> doubling) - 8;
    ((doubling as usize + 1) * 8 + within as usize).min(BUCKETS + 15)
}

/// The largest latency of a bucket, in ms.
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
