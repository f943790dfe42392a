//! Following the rate of a limited link: draining its queue, and testing whether the limit has gone.

use super::RATE_FLOOR;
use super::arrivals::Arrivals;
use super::estimator::{QUEUE_TARGET, RateEstimator, State};
use crate::within::Within;

/// On a path whose delay varies by itself, a queue of up to this many ms is no congestion. As much as SCReAM (RFC 8298) allows.
const QUEUE_TARGET_MOST: f64 = 60.0;

/// A queue is to be drained in about this many ms.
const DRAIN: f64 = 350.0;

/// The least rate while a queue drains, as a share of the link's rate: a wrong measurement must not leave the path idle.
const DRAIN_LEAST: f64 = 0.3;

/// The highest rate while a queue drains, as a share of the link's rate: a queue that this sender caused then shrinks
/// visibly.
const DRAIN_MOST: f64 = 0.85;

/// The rate after the queue has drained, as a share of the link's rate.
const RESUME: f64 = 0.95;

/// The rate after the queue has drained is lower by the share of lost packets times this: losses make the spacing of
/// packets random, so that a queue grows by chance.
const RESUME_LOSS: f64 = 0.4;

/// The growth of the rate limit per second near the last known rate of the link.
const CLIMB: f64 = 0.05;

/// The highest growth of the rate limit per second, once the link's limit seems to have gone.
pub(super) const CLIMB_MOST: f64 = 0.5;

/// While the rate limit is below this share of the rate that the link carried lately, it grows by [`CLIMB_MOST`].
const FAR: f64 = 0.8;

/// Each time the link is full again, the rate that it carried lately ([`Limited::known`]) is multiplied by this.
const KNOWN_KEPT: f64 = 0.8;

/// A sender that uses less than this share of the limit does not test it, so that the limit does not rise.
const USED: f64 = 0.75;

/// The limit is dropped after the sender has not used it for this many ms.
const UNUSED: f64 = 10_000.0;

/// The least rate of a link, twice the lowest limit: so a sender at the lowest limit counts as sending less than the
/// link carries.
const LIMIT_LEAST: f64 = 2.0 * RATE_FLOOR as f64;

/// A higher rate is no limit, in bytes per second: 1 Gbit/s.
pub(super) const RATE_MOST: f64 = 125e6;

// The constants above, except where they say otherwise, were tuned together on `examples/rate`: links of 14.4 to 3000 kbit/s that
// are overloaded up to threefold, with losses up to 20 %, jitter and changes of capacity (`tests/rate.rs` holds the bounds).

/// The state while the path shows a limit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limited {
    /// The rate of the link as last measured.
    pub(super) limit: f64,
    /// The rate limit of the sender.
    pub(super) cap: f64,
    /// The rate up to which the limit may rise fast: a link that was faster lately may be so again.
    known: f64,
    /// The growth of the limit per second.
    pub(super) climb: f64,
    /// The queue that is being drained.
    drain: Option<Drain>,
    /// The smoothed rate of sending, in bytes per second.
    used: f64,
    /// For how many ms the sender has not used the limit.
    unused: f64,
    /// The share of lost packets above which the link counts as congested; `None` if a queue showed the limit, and not
    /// losses.
    loss_most: Option<f64>,
}

/// A queue that is being drained.
#[derive(Debug, Clone, Copy)]
struct Drain {
    /// When a standing queue was last seen, in ms.
    seen: f64,
    /// The queue at first, in ms.
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
    /// Begins to limit the rate: there is a standing queue for the first time.
    pub(super) fn begin(&mut self) -> State {
        let limit = self.link_rate().unwrap_or(RATE_MOST);
        let queue = self.arrivals.queue();
        let drain = Some(Drain { seen: self.now, queue, expected: 0.0 });
        State::Limited(Limited { drain, ..Limited::new(limit, limit * drain_factor(queue)) })
    }

    /// Limits the rate after a trial that lost fewer packets: `delivered` bytes per second came through before it, and
    /// the share `loss` of packets is still lost. If more than the share `loss_most` is lost later, the link counts as
    /// congested again.
    pub(super) fn limit_by_loss(&self, delivered: f64, loss: f64, loss_most: f64) -> State {
        let limit = (delivered / (1.0 - loss.min(0.5))).within(LIMIT_LEAST, RATE_MOST);
        let limited = Limited::new(limit, limit * self.resume());
        State::Limited(Limited { loss_most: Some(loss_most), ..limited })
    }

    /// The rate of the link while it is busy: the rate of the arriving packets, plus that of the packets that are lost
    /// even without a queue.
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
            // The queue did not shrink although less was sent: so it is assumed to be no queue, but the delay of a
            // longer path, or of a path whose delay varies.
            self.target = self.target.max(queue).min(QUEUE_TARGET_MOST);
            self.delay.rebase(self.arrivals.least(), 0);
            self.arrivals = Arrivals::new();
            limited.drain = None;
            limited.cap = limited.limit * self.resume();
            return;
        }
        // If the sender already sends less than the link carries, the arrival rate is that of the link only while the queue
        // falls; otherwise it is the sender's own rate.
        let falls =
            self.arrivals.busy(self.target / 2.0).is_some_and(|flow| flow.rise < -QUEUE_TARGET);
        if let Some(rate) =
            self.link_rate().filter(|_| first || falls || sending > 0.9 * limited.limit)
        {
            // The first measurement comes from few packets; the next ones smooth it, but a fall counts at once.
            let weight = if first || rate < 0.7 * limited.limit { 1.0 } else { 0.2 };
            limited.limit += weight * (rate - limited.limit);
        }
        if first {
            limited.known *= KNOWN_KEPT;
        }
        limited.known = limited.known.max(limited.limit);
        limited.cap = limited.limit * drain_factor(queue);
    }

    /// The share of the link's rate to use without a standing queue: less where losses make the spacing of packets random, so that
    /// a queue grows by chance.
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
            // The limit of the link has gone: the growth doubles in a second.
            limited.climb = (limited.climb * (1.0 + 0.7 * seconds)).min(CLIMB_MOST);
        }
    }
}

/// The share of the link's rate to use while a queue of this many ms drains.
fn drain_factor(queue: f64) -> f64 {
    (1.0 - queue / DRAIN).within(DRAIN_LEAST, DRAIN_MOST)
}
