//! The rhythm of a channel's messages: clusters with pauses between them (section 3.2 of the AFEC
//! paper).

use core::time::Duration;

/// The gap between two messages beyond which a cluster ends. A quarter of a second is several
/// intervals of the slowest pointer rate in Table 1 of the paper (10 per second). Chosen by
/// judgement; not tuned.
const PAUSE: Duration = Duration::from_millis(250);
/// The interval that is assumed before the first two messages: 30 messages per second, as of the
/// paper's telepointer (the pointer of another user).
const INTERVAL: Duration = Duration::from_micros(33_333);
/// The number of messages per cluster that is assumed before the first cluster has ended. Chosen by
/// judgement; not tuned.
const CLUSTER: f64 = 40.0;

/// Moving averages of a channel's intervals between messages, and of the sizes of its clusters.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cadence {
    /// The mean interval between messages of a cluster, in seconds.
    interval: f64,
    /// The mean number of messages of a cluster.
    cluster: f64,
    /// The number of messages of the present cluster so far.
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
    /// Notes that a new message is sent.
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

    /// When the next message is expected. `None` if the last message is so long ago that the
    /// cluster seems to have ended.
    pub(super) fn next(&self, now: Duration) -> Option<Duration> {
        let expected = self.last? + self.interval();
        (now <= expected + self.interval() / 2).then_some(expected)
    }
}
