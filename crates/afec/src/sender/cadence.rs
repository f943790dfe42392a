//! How the messages of a channel come: clusters, with pauses between them (paper, section 3.2).

use core::time::Duration;

/// Longer than this without a message, and a cluster has ended.
const PAUSE: Duration = Duration::from_millis(250);
/// What is assumed before anything was seen.
const INTERVAL: Duration = Duration::from_micros(33_333);
const CLUSTER: f64 = 40.0;

/// Means of what was seen, old values counting less.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cadence {
    interval: f64,
    cluster: f64,
    run: f64,
    last: Option<Duration>,
}

impl Default for Cadence {
    fn default() -> Self {
        Cadence { interval: INTERVAL.as_secs_f64(), cluster: CLUSTER, run: 0.0, last: None }
    }
}

impl Cadence {
    /// A message goes out.
    pub(super) fn message(&mut self, now: Duration) {
        if let Some(last) = self.last {
            let gap = now.saturating_sub(last);
            if gap < PAUSE {
                self.interval += (gap.as_secs_f64() - self.interval) / 16.0;
            } else {
                self.cluster += (self.run - self.cluster) / 8.0;
                self.run = 0.0;
            }
        }
        self.run += 1.0;
        self.last = Some(now);
    }

    /// When a message went last.
    pub(super) fn last(&self) -> Option<Duration> {
        self.last
    }

    /// Between the messages of a cluster, at least a millisecond.
    pub(super) fn interval(&self) -> Duration {
        Duration::from_secs_f64(self.interval.max(0.001))
    }

    /// Messages per cluster, at least one.
    pub(super) fn cluster(&self) -> f64 {
        self.cluster.max(1.0)
    }

    /// When the next message is to be expected, if the cluster seems to go on.
    pub(super) fn next(&self, now: Duration) -> Option<Duration> {
        let expected = self.last? + self.interval();
        (now <= expected + self.interval() / 2).then_some(expected)
    }
}
