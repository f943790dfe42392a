//! Follows the rate of a limited link: lets the link's queue drain, then tests whether the link has
//! become faster. A standing queue is one that does not drain. The *limit* is the rate of the link
//! as measured; the *cap* is the rate that the sender is told not to exceed.

use super::RATE_FLOOR;
use super::estimator::{QUEUE_TARGET, RateEstimator, State};
use crate::within::Within;

/// The longest queue, in ms, that does not count as congestion on a path whose delay varies by
/// itself: as much as SCReAM (RFC 8298) allows.
const QUEUE_TARGET_MOST: f64 = 60.0;

/// The time in ms in which a queue is to be drained.
const DRAIN: f64 = 350.0;

/// The lowest rate while a queue drains, as a share of the link's rate, so that a wrong measurement
/// does not leave the path idle.
const DRAIN_LEAST: f64 = 0.3;

/// The highest rate while a queue drains, as a share of the link's rate, so that a queue which this
/// sender caused shrinks visibly.
const DRAIN_MOST: f64 = 0.85;

/// The rate when the queue has drained, as a share of the link's rate.
const RESUME: f64 = 0.95;

/// By how much the share [`RESUME`] is lowered, as a multiple of the share of lost packets: losses
/// make the spacing of packets random, so that a queue grows by chance.
const RESUME_LOSS: f64 = 0.4;

/// The growth of the rate limit per second near the last known rate of the link.
const CLIMB: f64 = 0.05;

/// The highest growth of the rate limit per second, once the link's limit seems to have gone.
pub(super) const CLIMB_MOST: f64 = 0.5;

/// While the limit is below this share of the rate that the link carried recently, it grows by
/// [`CLIMB_MOST`].
const FAR: f64 = 0.8;

/// Each time that the link is full again, the rate that it carried recently ([`Limited::known`]) is
/// multiplied by this.
const KNOWN_KEPT: f64 = 0.8;

/// The share of the limit that the sender must use to test the limit. If it uses less, the limit
/// does not rise.
const USED: f64 = 0.75;

/// The time in ms without use by the sender after which the limit is dropped.
const UNUSED: f64 = 10_000.0;

/// The lowest rate that a link is assumed to have, twice the lowest limit. So a sender at the
/// lowest limit counts as sending less than the link carries.
const LIMIT_LEAST: f64 = 2.0 * RATE_FLOOR as f64;

/// The highest rate that counts as a limit, in bytes per second: 1 Gbit/s.
pub(super) const RATE_MOST: f64 = 125e6;

// The constants above, except where they say otherwise, were tuned together on `examples/rate`:
// links of 14.4 to 3000 kbit/s that are overloaded up to threefold, with losses up to 20 %, jitter
// and changes of capacity (`tests/all/rate.rs` holds the bounds).

/// The state while the path shows a limit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limited {
    /// The rate of the link as last measured, in bytes per second.
    pub(super) limit: f64,
    /// The rate limit of the sender, in bytes per second.
    pub(super) cap: f64,
    /// The rate, in bytes per second, up to which the limit may rise fast: a link that was that
    /// fast recently may be so again.
    known: f64,
    /// The present growth of the limit per second, as a share of it.
    pub(super) climb: f64,
    /// The queue that is being drained, if there is one.
    drain: Option<Drain>,
    /// The smoothed rate of sending, in bytes per second.
    used: f64,
    /// The time in ms in which the sender has not used the limit.
    unused: f64,
    /// The share of lost packets above which the link counts as congested. `None` if the limit was
    /// found from a queue and not from losses.
    loss_most: Option<f64>,
}

/// A queue that is being drained, which the sender helps by sending less.
#[derive(Debug, Clone, Copy)]
struct Drain {
    /// When a standing queue was last seen, in ms.
    seen: f64,
    /// The length of the queue at the start, in ms.
    queue: f64,
    /// By how many ms the queue should have shrunk since draining began.
    expected: f64,
}

impl Limited {
    fn new(limit: f64, cap: f64) -> Self {
        let (drain, loss_most) = (None, None);
        Limited {
            limit,
            cap,
            known: limit,
            climb: CLIMB,
            drain,
            used: limit,
            unused: 0.0,
            loss_most,
        }
    }
}

impl RateEstimator {
    /// Begins to limit the rate, when a standing queue is seen for the first time.
    pub(super) fn begin(&mut self) -> State {
        let limit = self.link_rate().unwrap_or(RATE_MOST);
        let queue = self.arrivals.queue();
        let drain = Some(Drain { seen: self.now, queue, expected: 0.0 });
        State::Limited(Limited { drain, ..Limited::new(limit, limit * drain_factor(queue)) })
    }

    /// Limits the rate after a trial at a lower rate that lost fewer packets. `delivered` is the
    /// rate in bytes per second at which packets arrived before the trial; `loss` is the share of
    /// packets that is still lost. If more than the share `loss_most` is lost later, the link
    /// counts as congested again.
    pub(super) fn limit_by_loss(&self, delivered: f64, loss: f64, loss_most: f64) -> State {
        let limit = (delivered / (1.0 - loss.min(0.5))).within(LIMIT_LEAST, RATE_MOST);
        let limited = Limited::new(limit, limit * self.resume());
        State::Limited(Limited { loss_most: Some(loss_most), ..limited })
    }

    /// The rate of the link while it is busy: the rate of the arriving packets, plus that of the
    /// packets that are lost even without a queue.
    fn link_rate(&self) -> Option<f64> {
        let flow = self.arrivals.busy(self.target / 2.0)?;
        Some((flow.delivered / (1.0 - self.loss_idle.min(0.5))).within(LIMIT_LEAST, RATE_MOST))
    }

    /// Updates the limit after another `passed` ms.
    pub(super) fn follow(&mut self, mut limited: Limited, congested: bool, passed: f64) -> State {
        let Some(flow) = self.arrivals.lately() else {
            return State::Limited(limited);
        };
        let sending = flow.sending / (1.0 - self.loss.min(0.5));
        limited.used += (sending - limited.used) * (passed / 500.0).min(1.0);
        if congested {
            self.drain(&mut limited, sending, passed);
            return State::Limited(limited);
        }
        if let Some(drain) = limited.drain {
            if self.arrivals.queue() > self.target / 2.0 && self.now - drain.seen < DRAIN {
                return State::Limited(limited);
            }
            limited.drain = None;
            limited.cap = limited.limit * self.resume();
        }
        if let Some(most) = limited.loss_most.filter(|most| self.loss > *most) {
            return self.try_less(limited.limit.min(limited.cap), most);
        }
        self.climb(&mut limited, passed);
        if limited.unused > UNUSED { State::Free } else { State::Limited(limited) }
    }

    /// Lowers the limit while there is a standing queue.
    fn drain(&mut self, limited: &mut Limited, sending: f64, passed: f64) {
        let queue = self.arrivals.queue();
        let first = limited.drain.is_none();
        let drain = limited.drain.get_or_insert(Drain { seen: self.now, queue, expected: 0.0 });
        drain.seen = self.now;
        drain.expected += passed * (1.0 - sending / limited.limit).max(0.0);
        limited.climb = CLIMB;
        limited.unused = 0.0;
        if drain.expected > (drain.queue / 2.0).max(40.0)
            && drain.queue - queue < drain.expected * 0.3
        {
            // The queue did not shrink although less was sent. So it is assumed to be no queue, but
            // the delay of a longer path, or of a path whose delay varies.
            self.target = self.target.max(queue).min(QUEUE_TARGET_MOST);
            self.delay.rebase(self.arrivals.least(), 0);
            self.arrivals.clear();
            limited.drain = None;
            limited.cap = limited.limit * self.resume();
            return;
        }
        // If the sender already sends less than the link carries, packets arrive at the rate of the
        // link only while the queue falls; otherwise they arrive at the sender's own rate.
        let falls =
            self.arrivals.busy(self.target / 2.0).is_some_and(|flow| flow.rise < -QUEUE_TARGET);
        if let Some(rate) =
            self.link_rate().filter(|_| first || falls || sending > 0.9 * limited.limit)
        {
            // The first measurement comes from few packets. The next ones are averaged with it, but
            // a fall counts at once.
            let weight = if first || rate < 0.7 * limited.limit { 1.0 } else { 0.2 };
            limited.limit += weight * (rate - limited.limit);
        }
        if first {
            limited.known *= KNOWN_KEPT;
        }
        limited.known = limited.known.max(limited.limit);
        limited.cap = limited.limit * drain_factor(queue);
    }

    /// The share of the link's rate to use while there is no standing queue. It is lower where
    /// losses make the spacing of packets random, so that a queue grows by chance.
    fn resume(&self) -> f64 {
        RESUME - RESUME_LOSS * self.loss_idle.min(0.5)
    }

    /// Raises the limit while there is no standing queue and the sender uses the limit.
    fn climb(&self, limited: &mut Limited, passed: f64) {
        if limited.used < USED * limited.cap {
            limited.unused += passed;
            return;
        }
        limited.unused = 0.0;
        let seconds = passed / 1000.0;
        let climb = if limited.cap < FAR * limited.known { CLIMB_MOST } else { limited.climb };
        limited.cap = (limited.cap * (1.0 + climb * seconds)).min(RATE_MOST);
        if limited.cap > limited.limit * (1.0 + CLIMB) {
            // The limit of the link has gone, so the growth doubles every second.
            limited.climb = (limited.climb * (1.0 + 0.7 * seconds)).min(CLIMB_MOST);
        }
    }
}

/// The share of the link's rate to use while a queue of this many ms drains.
fn drain_factor(queue: f64) -> f64 {
    (1.0 - queue / DRAIN).within(DRAIN_LEAST, DRAIN_MOST)
}
