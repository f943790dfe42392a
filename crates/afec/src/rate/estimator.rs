//! The rate estimator of a receiver: whether the path is full, and its rate.

use core::time::Duration;

use super::RATE_FLOOR;
use super::arrivals::Arrivals;
use super::delay::QueueDelay;
use super::growth::LossGrowth;
use super::limited::{Limited, RATE_MOST};
use super::trial::{self, Trial, Verdict};

/// A standing queue of this many ms is congestion: more than jitter of a few ms and a scheduler's tick cause, and about one packet
/// of 60 bytes at 28.8 kbit/s (17 ms). LEDBAT (RFC 6817) allows 100 ms, SCReAM (RFC 8298) 60 ms: users of a pointer feel that.
pub(super) const QUEUE_TARGET: f64 = 16.0;

/// A path whose delay varies by itself raises the queue target; the target then returns to [`QUEUE_TARGET`] with this
/// time constant in ms. Tuned on `examples/rate` with a delay that varies by itself.
const QUEUE_TARGET_RETURN: f64 = 20_000.0;

/// After this many ms without a packet the limit is forgotten. Chosen by judgement; not tuned.
const STALE: f64 = 60_000.0;

/// A share of losses that exceeds that of the last trial by this is congestion again: about two standard errors of a
/// loss rate of 20 % that was measured on 60 packets.
const LOSS_MARGIN: f64 = 0.12;

/// Losses while packets arrive at a lower rate than this, in bytes per second, are assumed not to be caused by the
/// sender: such a narrow link would show a queue, because each packet takes some ms. Without this rule, redundancy,
/// which grows because of losses, would look like the cause of the losses. Tuned on `examples/rate`.
const SUSPECT_LEAST: f64 = 20_000.0;

/// The pause after a trial that showed no fewer losses, in ms; it doubles with each further such trial. Chosen by
/// judgement; not tuned.
const TRIAL_PAUSE: f64 = 30_000.0;
/// The longest such pause, in ms.
const TRIAL_PAUSE_MOST: f64 = 480_000.0;

/// Estimates the rate that the path carries, from the packets that arrive.
///
/// While packets meet no standing queue, there is no limit and nothing to report. The queueing delay is the one-way delay less its
/// minimum over a window, as in LEDBAT (RFC 6817), SCReAM (RFC 8298), NADA (RFC 8698) and GCC. While there is a standing queue,
/// packets arrive as fast as the link can send: the limit follows that rate, lower while the queue drains, a little below it
/// afterwards, and then rises until a queue shows again, the faster the longer none does.
///
/// A queue that does not fall although less is sent is not the sender's: the route is longer, or there is other traffic. It is
/// then taken for the path's base delay, so that large streams do not starve a small one.
///
/// Losses alone do not lower the limit, unless they grow with the rate and the rate is higher than that of a pointer:
/// then a trial at a lower rate shows whether losses fall with it. A trial that shows no fewer losses lasts some
/// seconds and is not repeated soon.
///
/// The estimator takes less than 1 KB. Any input is safe; a sender with a false clock harms its own rate only.
#[derive(Debug, Clone)]
pub struct RateEstimator {
    /// The latest time of a call, in ms.
    pub(super) now: f64,
    pub(super) delay: QueueDelay,
    pub(super) arrivals: Arrivals,
    growth: LossGrowth,
    /// The share of packets that are lost without a queue.
    pub(super) loss_idle: f64,
    /// The share of packets that were lost lately.
    pub(super) loss: f64,
    /// When the state was last updated, in ms.
    stepped: f64,
    /// A standing queue of more than this counts as congestion, in ms.
    pub(super) target: f64,
    state: State,
    /// The earliest time of the next trial, in ms.
    trial_after: f64,
    /// The pause after the next trial that shows no fewer losses, in ms.
    trial_pause: f64,
}

/// What is known of the path's limit.
#[derive(Debug, Clone, Copy)]
pub(super) enum State {
    /// The path shows no limit.
    Free,
    /// The path shows a limit.
    Limited(Limited),
    /// A trial shows whether a lower rate loses fewer packets.
    Trial(Trial),
}

impl Default for RateEstimator {
    fn default() -> Self {
        RateEstimator::new()
    }
}

impl RateEstimator {
    /// An estimator for an unknown path.
    pub fn new() -> Self {
        RateEstimator {
            now: 0.0,
            delay: QueueDelay::new(),
            arrivals: Arrivals::new(),
            growth: LossGrowth::default(),
            loss_idle: 0.0,
            loss: 0.0,
            stepped: 0.0,
            target: QUEUE_TARGET,
            state: State::Free,
            trial_after: 0.0,
            trial_pause: TRIAL_PAUSE,
        }
    }

    /// A packet arrived that was sent when the sender's clock showed `sent` ms (its 16 low bits). `bytes`: its size on the wire,
    /// headers included. The caller does not report duplicates.
    pub fn arrived(&mut self, now: Duration, sent: u16, bytes: usize) {
        let rate = self.arrivals.lately().map_or(0.0, |flow| flow.delivered);
        let size = bytes.clamp(1, usize::from(u16::MAX)) as u32;
        let delay = self.delay.arrived(now, sent, size, rate);
        self.advance(now);
        let size = f64::from(size);
        self.growth.arrived(self.now, size);
        self.count(1.0, 0.0);
        if let State::Trial(trial) = &mut self.state {
            trial.arrived(size);
        }
        if self.arrivals.push(self.now, delay, size) {
            // A pause of the sender does not count as time in which it did not use the limit.
            let passed = (self.now - self.stepped).min(200.0);
            self.stepped = self.now;
            self.step(passed);
        }
    }

    /// Packets were found lost.
    pub fn lost(&mut self, now: Duration, packets: u32) {
        self.advance(now);
        // A longer gap is an outage or a false number, and says nothing of the share of losses.
        let packets = f64::from(packets.min(64));
        self.growth.lost(packets);
        self.count(packets, packets);
    }

    /// The rate limit for the sender in bytes per second, at least [`RATE_FLOOR`]; `None` while the path shows no limit.
    pub fn cap(&mut self, now: Duration) -> Option<u32> {
        self.advance(now);
        if self.now - self.stepped > STALE {
            self.state = State::Free;
        }
        let cap = match &self.state {
            State::Free => return None,
            State::Limited(limited) => limited.cap,
            State::Trial(trial) => trial.cap,
        };
        Some((cap as u32).max(RATE_FLOOR))
    }

    /// Sets the present time. It never decreases: an earlier `now` is ignored.
    fn advance(&mut self, now: Duration) {
        self.now = self.now.max(now.as_secs_f64() * 1000.0);
    }

    /// Counts packets, `lost` of them lost.
    fn count(&mut self, packets: f64, lost: f64) {
        let toward = |share: f64, per: f64| {
            share + (lost / packets.max(1.0) - share) * (packets / per).min(1.0)
        };
        self.loss = toward(self.loss, 100.0);
        if self.arrivals.queue() < self.target {
            self.loss_idle = toward(self.loss_idle, 200.0);
        }
        if let State::Trial(trial) = &mut self.state {
            trial.count(packets, lost);
        }
    }

    /// Updates the state after `passed` ms.
    fn step(&mut self, passed: f64) {
        self.target += (QUEUE_TARGET - self.target) * (passed / QUEUE_TARGET_RETURN);
        let congested = self.arrivals.has_standing_queue(self.target);
        self.state = match self.state {
            State::Free | State::Trial(_) if congested => self.begin(),
            State::Free => self.suspect(),
            State::Trial(trial) => self.judge(trial),
            State::Limited(limited) => self.follow(limited, congested, passed),
        };
    }

    /// Begins a trial if losses seem to grow with the rate.
    fn suspect(&mut self) -> State {
        if self.now < self.trial_after {
            return State::Free;
        }
        let Some(clumping) = self.growth.suspected() else {
            return State::Free;
        };
        let rate = self.arrivals.lately().map_or(RATE_MOST, |flow| flow.delivered);
        if rate < SUSPECT_LEAST {
            return State::Free;
        }
        let loss = self.loss.max(self.growth.share().unwrap_or(0.0));
        trial::bar(loss, clumping).map_or(State::Free, |bar| self.try_less(rate, bar))
    }

    /// Begins a trial at a lower rate than `rate`, which has to lose no more than the share `bar`.
    pub(super) fn try_less(&self, rate: f64, bar: f64) -> State {
        let delivered = self.arrivals.lately().map_or(rate, |flow| flow.delivered);
        State::Trial(Trial::new(self.now, rate, delivered, bar))
    }

    /// Ends the trial if it has a result.
    fn judge(&mut self, trial: Trial) -> State {
        let (trial, verdict) = trial.judge(self.now);
        let helps = match verdict {
            Verdict::Open => return State::Trial(trial),
            Verdict::Helps => true,
            Verdict::InVain => false,
        };
        let loss = trial.loss();
        self.growth = LossGrowth::default();
        self.loss = loss;
        if !helps {
            self.trial_after = self.now + self.trial_pause;
            self.trial_pause = (2.0 * self.trial_pause).min(TRIAL_PAUSE_MOST);
            return State::Free;
        }
        self.trial_pause = TRIAL_PAUSE;
        self.loss_idle = loss;
        self.limit_by_loss(trial.delivered, loss, loss + LOSS_MARGIN)
    }
}

#[cfg(test)]
mod tests;
