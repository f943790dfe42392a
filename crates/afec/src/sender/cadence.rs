//! The rhythm of a channel's messages: clusters with pauses between them (paper, section 3.2).

use core::time::Duration;

/// A longer gap between two messages ends a cluster. A quarter of a second is several intervals of the slowest pointer
/// rates of Table 1 of the paper (10 per second). Chosen by judgement; not tuned.
const PAUSE: Duration = Duration::from_millis(250);
/// The assumed interval before the first two messages: 30 messages per second, the paper's telepointer.
const INTERVAL: Duration = Duration::from_micros(33_333);
/// The assumed number of messages per cluster before the first cluster has ended. Chosen by judgement; not tuned.
const CLUSTER: f64 = 40.0;

/// Moving averages of the intervals and clusters of a channel's messages.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cadence {
    /// The mean interval between messages of a cluster, in seconds.
    interval: f64,
    /// The mean number of messages of a cluster.
    cluster: f64,
    /// The number of messages of the present cluster.
    run: f64,
    /// When the newest message was sent.
    last: Option<Duration>,
}

impl Default for Cadence {
    fn default() -> Self {
        Cadence { interval: INTERVAL.as_secs_f64(), cluster: CLUSTER, run: 0.0, last: None }
    }
}

impl Cadence {
    /// A new message is sent.
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

    /// When the newest message was sent.
    pub(super) fn last(&self) -> Option<Duration> {
        self.last
    }

    /// The mean interval between messages of a cluster, at least a millisecond.
    pub(super) fn interval(&self) -> Duration {
        Duration::from_secs_f64(self.interval.max(0.001))
    }

    /// The mean number of messages per cluster, at least one.
    pub(super) fn cluster(&self) -> f64 {
        self.cluster.max(1.0)
    }

    /// When the next message is expected; `None` if it is so late that the cluster seems to have ended.
    pub(super) fn next(&self, now: Duration) -> Option<Duration> {
        let expected = self.last? + self.interval();
        (now <= expected + self.interval() / 2).then_some(expected)
    }
}
