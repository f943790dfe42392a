//! The rate estimator of a receiver: finds out whether the path is full, and the rate that it
//! carries.

use core::time::Duration;

use super::RATE_FLOOR;
use super::arrivals::Arrivals;
use super::delay::QueueDelay;
use super::growth::LossGrowth;
use super::limited::{Limited, RATE_MOST};
use super::trial::{self, Trial, Verdict};

/// The length in ms from which on a standing queue (one that does not drain) is congestion: more
/// than jitter of a few ms and a scheduler's tick cause, and about one packet of 60 bytes at 28.8
/// kbit/s (17 ms). LEDBAT (RFC 6817) allows 100 ms, SCReAM (RFC 8298) 60 ms; users of a shared
/// pointer feel that.
pub(super) const QUEUE_TARGET: f64 = 16.0;

/// The time constant, in ms, with which the queue target returns to [`QUEUE_TARGET`]. (A path whose
/// delay varies by itself raises the target.) Tuned on `examples/rate` with such a delay.
const QUEUE_TARGET_RETURN: f64 = 20_000.0;

/// The time in ms without a packet after which the limit is forgotten. Chosen by judgement; not
/// tuned.
const STALE: f64 = 60_000.0;

/// By how much the share of losses must exceed that of the last trial (a time of a lower rate) to
/// be congestion again: about two standard errors of a loss rate of 20 % that was measured on 60
/// packets.
const LOSS_MARGIN: f64 = 0.12;

/// If packets arrive at a lower rate than this, in bytes per second, losses are assumed to have
/// another cause than the sender: such a narrow link would show a queue, because each packet takes
/// some ms. Without this rule the redundancy, which grows because of losses, would look like the
/// cause of the losses. Tuned on `examples/rate`.
const SUSPECT_LEAST: f64 = 20_000.0;

/// The pause in ms after a trial that showed no fewer losses. It doubles with each further such
/// trial. Chosen by judgement; not tuned.
const TRIAL_PAUSE: f64 = 30_000.0;
/// The longest pause after a trial, in ms.
const TRIAL_PAUSE_MOST: f64 = 480_000.0;

/// Estimates the rate that the path carries from the packets that arrive.
///
/// While packets are not held up by a standing queue, there is no limit and nothing to report. The
/// queueing delay is the one-way delay minus its minimum over a window, as in LEDBAT (RFC 6817),
/// SCReAM (RFC 8298), NADA (RFC 8698) and GCC. While there is a standing queue, packets arrive as
/// fast as the link can send: the limit follows that rate. It is lower while the queue drains, and
/// a little below that rate afterwards. Then it rises until a queue shows again, the faster the
/// longer none does.
///
/// A queue that does not fall although less is sent is not the sender's: the route has become
/// longer, or there is other traffic. The delay is then taken as the path's base delay, so that
/// large streams do not starve a small one.
///
/// Losses alone do not lower the limit, unless they grow with the rate and the rate is higher than
/// that of a pointer. Then a trial at a lower rate shows whether losses fall with the rate. A trial
/// that shows no fewer losses lasts some seconds and is not repeated soon.
///
/// The estimator takes less than 1 KB. Any input is safe; a sender with a false clock harms its own
/// rate only.
#[derive(Debug, Clone)]
pub struct RateEstimator {
    /// The latest time of a call, in ms.
    pub(super) now: f64,
    pub(super) delay: QueueDelay,
    pub(super) arrivals: Arrivals,
    growth: LossGrowth,
    /// The share of packets that are lost while there is no queue.
    pub(super) loss_idle: f64,
    /// The share of packets that were lost lately.
    pub(super) loss: f64,
    /// When the state was last updated, in ms.
    stepped: f64,
    /// The queue target in ms: a longer standing queue counts as congestion.
    pub(super) target: f64,
    state: State,
    /// The earliest time of the next trial, in ms.
    trial_after: f64,
    /// The pause in ms after the next trial that shows no fewer losses.
    trial_pause: f64,
}

/// What is known of the path's limit.
#[derive(Debug, Clone, Copy)]
pub(super) enum State {
    /// The path shows no limit, so the sender may send at any rate.
    Free,
    /// The path shows a limit, which the sender has to keep to.
    Limited(Limited),
    /// A trial is on: the sender has a lower rate, to show whether that loses fewer packets.
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

    /// Notes a packet that was sent when the sender's clock showed `sent` ms (its 16 low bits).
    /// `bytes` is the packet's size on the wire, headers included. The caller must not report
    /// duplicates.
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
            // A pause of the sender does not count as time in which the sender did not use the
            // limit.
            let passed = (self.now - self.stepped).min(200.0);
            self.stepped = self.now;
            self.step(passed);
        }
    }

    /// Notes that `packets` packets were lost.
    pub fn lost(&mut self, now: Duration, packets: u32) {
        self.advance(now);
        // A longer gap is an outage or a false number. It says nothing about the share of losses.
        let packets = f64::from(packets.min(64));
        self.growth.lost(packets);
        self.count(packets, packets);
    }

    /// The rate limit for the sender in bytes per second, at least [`RATE_FLOOR`]; `None` while the
    /// path shows no limit.
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

    /// Counts packets, of which `lost` are lost.
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

    /// Begins a trial at a rate lower than `rate`. The lower rate helps if it loses at most the
    /// share `bar` of packets.
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
