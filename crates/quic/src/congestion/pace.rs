//! When datagrams leave, so that they wait neither in a queue of the link nor for the window.

use std::time::Duration;

use super::{Congestion, FLOOR_MOST, Mode};

/// The share of the link's rate at which datagrams leave while there is a queue.
const DRAINING: f64 = 0.85;
/// For this time and a round trip after the queue was last longer than jitter they still leave at that share, so that the queue drains as a
/// whole. Otherwise the least round trip would be forgotten behind what is left of it.
const DRAINED_AFTER: Duration = Duration::from_millis(150);

/// The time in which the pace drains a queue that is as long as the one at which the window is lowered.
pub(super) const DRAINED_BY_PACE: Duration = Duration::from_millis(200);

/// The share of the link's rate at which they leave after a time without a queue, to see whether the link carries more by now.
const PROBING: f64 = 1.1;
const PROBED_AFTER: Duration = Duration::from_secs(2);

/// After this time without a queue they are not paced any more.
const UNPACED_AFTER: Duration = Duration::from_secs(10);

/// A connection fills the link if it delivers at least this share of the rate that the link had. Where less is delivered, a queue
/// says nothing about the link.
const FILLED: f64 = 0.7;

/// Bytes that a QUIC packet adds to a datagram, about: its header, its tag and the frame's type.
const HEADERS: usize = 26;

/// A datagram that leaves later than its turn brings forward the next one by at most this. Timers are late by about a millisecond, in
/// which a fast link carries several datagrams.
const LATE: Duration = Duration::from_millis(2);

/// The turns of datagrams that leave at the rate of [`Congestion::pace`].
///
/// ```
/// use groupwire_quic::Pacer;
/// use std::time::Duration;
///
/// let mut pacer = Pacer::default();
/// // At 100,000 bytes per second a datagram of 974 bytes and its 26 bytes of headers take 10 ms.
/// pacer.on_sent(Duration::from_secs(1), 974, Some(100_000));
/// assert!(pacer.turn() > Duration::from_millis(1005));
/// assert!(pacer.turn() <= Duration::from_millis(1010));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Pacer {
    turn: Duration,
}

impl Pacer {
    /// When the next datagram may leave. The time counts from the same moment as that of [`Pacer::on_sent`].
    pub fn turn(&self) -> Duration {
        self.turn
    }

    /// Notes that a datagram of this size leaves now, at this pace in bytes per second, if there is one.
    pub fn on_sent(&mut self, now: Duration, bytes: usize, pace: Option<u32>) {
        let Some(rate) = pace else { return };
        let takes = (bytes + HEADERS) as f64 / f64::from(rate.max(1));
        self.turn = self.turn.max(now.saturating_sub(LATE)) + Duration::from_secs_f64(takes);
    }
}

impl Congestion {
    /// The rate in bytes per second at which datagrams should leave, so that they wait neither in a queue nor for the window. `None`
    /// unless this connection has lately caused a queue that went when the window was lowered, and while others share the path: beside them a window that
    /// is always used gets its share.
    pub fn pace(&self) -> Option<u32> {
        let is_alone = self.mode == Mode::Alone && !self.others.were_met(self.now);
        let link = self.link.filter(|_| is_alone)?;
        let share = match self.time_without_queue() {
            Some(time) if time >= PROBED_AFTER => PROBING,
            Some(time) if time >= DRAINED_AFTER + self.delay.least() => 1.0,
            _ => DRAINING,
        };
        let rate = share * link.max(self.delivery.exact());
        // A number that is too large becomes the largest.
        Some((rate as u32).max(FLOOR_MOST))
    }

    /// Whether this connection sends as much as the window or the link permits, so that it may be the cause of a queue.
    pub(super) fn fills_link(&self) -> bool {
        self.was_full || self.link.is_some_and(|rate| self.delivery.exact() >= FILLED * rate)
    }

    /// While there is no queue: takes the rate of the link from the queue that was just drained, or forgets it after long.
    pub(super) fn measure_link(&mut self) {
        let is_new = self.time_without_queue().is_none_or(|time| time < UNPACED_AFTER);
        let measured = self.drains.and_then(|drains| drains.rate).or(self.link);
        self.link = measured.filter(|rate| is_new && *rate > 0.0);
    }

    fn time_without_queue(&self) -> Option<Duration> {
        self.quiet_since.map(|since| self.now.saturating_sub(since))
    }
}
