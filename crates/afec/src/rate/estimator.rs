//! The receiver's part: when is the path full, and at what rate.

use core::time::Duration;

use super::RATE_FLOOR;
use super::arrivals::Arrivals;
use super::delay::QueueDelay;
use super::growth::LossGrowth;
use super::trial::{self, Trial, Verdict};
use crate::within::Within;

/// A queue of so many ms that stays is congestion: above what jitter of some ms and a scheduler's tick make, and little
/// more than one packet of 60 bytes at 28.8 kbit/s (17 ms). LEDBAT (RFC 6817) allows 100 ms, SCReAM (RFC 8298) 60 ms:
/// for pointers that is felt.
const QUEUE_TARGET: f64 = 16.0;

/// On a path whose delay varies by itself, up to so many ms are no congestion ...
const QUEUE_TARGET_MOST: f64 = 60.0;

/// ... for about so many ms after this showed.
const QUEUE_TARGET_RETURN: f64 = 20_000.0;

/// In about so many ms a queue is to be gone.
const DRAIN: f64 = 350.0;

/// Of the link's rate, while there is a queue: at least this, so that the path is not left idle on a wrong measure ...
const DRAIN_LEAST: f64 = 0.3;

/// ... and at most this, so that a queue that is ours falls visibly.
const DRAIN_MOST: f64 = 0.85;

/// Of the link's rate, when the queue is gone.
const RESUME: f64 = 0.95;

/// By this share of the losses less.
const RESUME_LOSS: f64 = 0.4;

/// The cap's growth per second near the last known limit.
const CLIMB: f64 = 0.05;

/// The growth per second that it comes to when the limit has gone.
const CLIMB_MOST: f64 = 0.5;

/// Below this share of what the link carried lately, the cap grows at that most.
const FAR: f64 = 0.8;

/// What is left of that knowledge when the link is full at less.
const KNOWN_KEPT: f64 = 0.8;

/// How much of the cap is used by a sender that wants more. Below, the cap does not rise: it would not be tested.
const USED: f64 = 0.75;

/// After so many ms in which the sender did not use what it may, it needs no cap.
const UNUSED: f64 = 10_000.0;

/// After so many ms without a packet nothing is known of the path.
const STALE: f64 = 60_000.0;

/// A link is not taken for slower than this, the floor's double, so that a sender at the floor is seen to send less.
const LIMIT_LEAST: f64 = 2.0 * RATE_FLOOR as f64;

/// A limit above that is none, in bytes per second: 1 Gbit/s.
const RATE_MOST: f64 = 125e6;

/// So much more lost than in the trial is congestion again: two standard errors of a fifth lost of 60 packets.
const LOSS_MARGIN: f64 = 0.12;

/// Losses at a rate below this, in bytes per second, are not ours: a link that narrow shows a queue, as each packet takes
/// it some ms. Redundancy, which grows because there is loss, would else look like its cause.
const SUSPECT_LEAST: f64 = 20_000.0;

/// After a trial that showed nothing, so many ms without another; then twice as long, up to the most.
const TRIAL_PAUSE: f64 = 30_000.0;
const TRIAL_PAUSE_MOST: f64 = 480_000.0;

/// Estimates, from the packets that arrive, what the path carries.
///
/// While packets meet no standing queue there is no cap, and nothing is to be reported. Queueing delay is the one-way
/// delay over its windowed minimum, as in LEDBAT (RFC 6817), SCReAM (RFC 8298), NADA (RFC 8698) and GCC. While a queue
/// stands, packets come as fast as the link can: the cap follows that rate, lower while the queue is to drain, a little
/// below it afterwards, and then climbs until a queue shows again, faster the longer none does.
///
/// A queue that does not fall although less is sent is not the sender's: a longer route or other traffic. It is then
/// taken as the path's new base delay, so that a small stream is not starved by large ones.
///
/// Loss alone lowers nothing, unless it grows with a rate that is no mere pointer's: then a trial at a lower rate shows whether it falls with
/// it. A trial that shows nothing lasts some seconds and is not repeated soon.
///
/// Takes under 1 KB. Any input is safe; a sender that lies about its clock harms its own rate only.
#[derive(Debug, Clone)]
pub struct RateEstimator {
    /// The latest time told, in ms.
    now: f64,
    delay: QueueDelay,
    arrivals: Arrivals,
    growth: LossGrowth,
    /// The share of packets lost when there is no queue, and lately.
    loss_idle: f64,
    loss: f64,
    /// When the last step was.
    stepped: f64,
    /// The queue that is congestion, in ms.
    target: f64,
    state: State,
    trial_after: f64,
    trial_pause: f64,
}

#[derive(Debug, Clone, Copy)]
enum State {
    /// The path shows no limit.
    Free,
    Limited(Limited),
    Trial(Trial),
}

#[derive(Debug, Clone, Copy)]
struct Limited {
    /// The rate of the link, as last seen.
    limit: f64,
    cap: f64,
    /// The rate to which the cap may come back soon: a link that was faster lately may be again.
    known: f64,
    climb: f64,
    /// The queue that is being drained.
    drain: Option<Drain>,
    /// What the sender sends, smoothed.
    used: f64,
    /// For how many ms it did not use the cap.
    unused: f64,
    /// The share of losses above which there is congestion, if the limit was seen by losses.
    loss_most: Option<f64>,
}

#[derive(Debug, Clone, Copy)]
struct Drain {
    /// When a queue was last seen to stand.
    seen: f64,
    /// The queue at first, in ms.
    queue: f64,
    /// By how many ms it should have fallen since.
    expected: f64,
}

/// Whether a cap is to be reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum News {
    /// No: the sender knows it, or nearly.
    None,
    /// With the next packet that goes back anyway, or within some 100 ms.
    Worth,
    /// At once: it fell.
    Urgent,
}

/// Compares the cap that the sender was told with the present one.
pub fn differs(reported: Option<u32>, current: Option<u32>) -> News {
    match (reported, current) {
        (None, None) => News::None,
        (Some(_), None) => News::Worth,
        (None, Some(_)) => News::Urgent,
        // 3 % down and 5 % up: what a measure over a quarter of a second is worth, and what a climb makes in a second.
        (Some(told), Some(cap)) if u64::from(cap) * 100 < u64::from(told) * 97 => News::Urgent,
        (Some(told), Some(cap)) if u64::from(cap) * 100 >= u64::from(told) * 105 => News::Worth,
        (Some(_), Some(_)) => News::None,
    }
}

impl Default for RateEstimator {
    fn default() -> Self {
        RateEstimator::new()
    }
}

impl RateEstimator {
    /// Knows nothing yet.
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

    /// A packet arrived that left when the sender's clock showed `sent` ms (its low bits). `bytes`: on the wire,
    /// headers included. A duplicate is not to be told.
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
            // A pause of the sender is no time in which it could have used anything.
            let passed = (self.now - self.stepped).min(200.0);
            self.stepped = self.now;
            self.step(passed);
        }
    }

    /// So many packets were found lost.
    pub fn lost(&mut self, now: Duration, packets: u32) {
        self.advance(now);
        // A gap beyond that is an outage or a lie, and says nothing of the share that is lost.
        let packets = f64::from(packets.min(64));
        self.growth.lost(packets);
        self.count(packets, packets);
    }

    /// What the sender may send, in bytes per second; `None` while the path shows no limit. At least
    /// [`RATE_FLOOR`].
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

    /// The queueing delay that the newest packets met.
    pub fn queueing_delay(&self) -> Duration {
        Duration::from_micros((self.arrivals.queue() * 1000.0) as u64)
    }

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

    /// So many ms have passed.
    fn step(&mut self, passed: f64) {
        self.target += (QUEUE_TARGET - self.target) * (passed / QUEUE_TARGET_RETURN);
        let congested = self.arrivals.stands(self.target);
        self.state = match self.state {
            State::Free | State::Trial(_) if congested => self.begin(),
            State::Free => self.suspect(),
            State::Trial(trial) => self.judge(trial),
            State::Limited(limited) => self.follow(limited, congested, passed),
        };
    }

    /// A queue stands for the first time.
    fn begin(&mut self) -> State {
        let limit = self.link_rate().unwrap_or(RATE_MOST);
        let queue = self.arrivals.queue();
        State::Limited(Limited {
            limit,
            cap: limit * drain_factor(queue),
            known: limit,
            climb: CLIMB,
            drain: Some(Drain { seen: self.now, queue, expected: 0.0 }),
            used: limit,
            unused: 0.0,
            loss_most: None,
        })
    }

    /// The rate at which the sender fills the link, now that it is busy: what comes through, and what is always lost.
    fn link_rate(&self) -> Option<f64> {
        let flow = self.arrivals.busy(self.target / 2.0)?;
        Some((flow.delivered / (1.0 - self.loss_idle.min(0.5))).within(LIMIT_LEAST, RATE_MOST))
    }

    fn follow(&mut self, mut limited: Limited, congested: bool, passed: f64) -> State {
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

    /// A queue stands.
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
            // If it was not a longer way but one that varies, it will be shorter again, and then longer.
            self.target = self.target.max(queue).min(QUEUE_TARGET_MOST);
            self.delay.rebase(self.arrivals.least(), 0);
            self.arrivals = Arrivals::new();
            limited.drain = None;
            limited.cap = limited.limit * self.resume();
            return;
        }
        // Of a sender that already sends less, only a queue that falls tells the link's rate: else it would be its own.
        let falls =
            self.arrivals.busy(self.target / 2.0).is_some_and(|flow| flow.rise < -QUEUE_TARGET);
        if let Some(rate) =
            self.link_rate().filter(|_| first || falls || sending > 0.9 * limited.limit)
        {
            // A first measure is from few packets; the next ones smooth it, but a fall counts at once.
            let weight = if first || rate < 0.7 * limited.limit { 1.0 } else { 0.2 };
            limited.limit += weight * (rate - limited.limit);
        }
        if first {
            limited.known *= KNOWN_KEPT;
        }
        limited.known = limited.known.max(limited.limit);
        limited.cap = limited.limit * drain_factor(queue);
    }

    /// How much of the link's rate to use when no queue stands: less where losses make the packets' spacing random, and
    /// so a queue grow by chance.
    fn resume(&self) -> f64 {
        RESUME - RESUME_LOSS * self.loss_idle.min(0.5)
    }

    /// No queue stands.
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
            // The known limit has gone: the growth doubles in a second.
            limited.climb = (limited.climb * (1.0 + 0.7 * seconds)).min(CLIMB_MOST);
        }
    }

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

    fn try_less(&self, rate: f64, bar: f64) -> State {
        let delivered = self.arrivals.lately().map_or(rate, |flow| flow.delivered);
        State::Trial(Trial::new(self.now, rate, delivered, bar))
    }

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
        let limit = (trial.delivered / (1.0 - loss.min(0.5))).within(LIMIT_LEAST, RATE_MOST);
        State::Limited(Limited {
            limit,
            cap: limit * self.resume(),
            known: limit,
            climb: CLIMB,
            drain: None,
            used: limit,
            unused: 0.0,
            loss_most: Some(loss + LOSS_MARGIN),
        })
    }
}

fn drain_factor(queue: f64) -> f64 {
    (1.0 - queue / DRAIN).within(DRAIN_LEAST, DRAIN_MOST)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn takes_under_1_kb() {
        assert!(size_of::<RateEstimator>() < 1024, "{}", size_of::<RateEstimator>());
    }

    /// Packets of `bytes(i)`, 30 a second or as many as the cap allows, each with a delay of `delay(i)` ms; returns the
    /// lowest and the last cap.
    fn feed(
        count: u64,
        bytes: impl Fn(u64) -> usize,
        delay: impl Fn(u64) -> u64,
    ) -> (Option<u32>, Option<u32>) {
        let mut estimator = RateEstimator::new();
        let mut caps = std::vec::Vec::new();
        let mut sent = 0;
        for i in 0..count {
            let now = Duration::from_millis(sent + delay(i));
            estimator.arrived(now, sent as u16, bytes(i));
            let cap = estimator.cap(now);
            caps.extend(cap);
            sent += cap.map_or(33, |cap| (bytes(i) as u64 * 1000 / u64::from(cap)).max(33));
        }
        let last = estimator.cap(Duration::from_millis(sent));
        (caps.into_iter().min(), last)
    }

    #[test]
    fn a_longer_route_is_soon_no_congestion() {
        for longer in [30, 100, 400] {
            let (least, last) = feed(1200, |_| 60, |i| if i < 300 { 40 } else { 40 + longer });
            assert!(least.is_none_or(|cap| cap > 500), "{longer}: {least:?}");
            assert_eq!(last, None, "{longer}: {least:?}");
        }
    }

    #[test]
    fn longer_packets_are_no_congestion() {
        // At 28.8 kbit/s 40 bytes take 11 ms and 100 bytes 28 ms: the most is 83 % of the link's rate.
        let bytes = |i: u64| if (i / 30).is_multiple_of(2) { 40 } else { 100 };
        let (least, _) = feed(1200, bytes, |i| 40 + bytes(i) as u64 * 1000 / 3600);
        assert_eq!(least, None);
    }

    #[test]
    fn what_is_reported() {
        assert_eq!(differs(None, None), News::None);
        assert_eq!(differs(None, Some(1000)), News::Urgent);
        assert_eq!(differs(Some(1000), Some(980)), News::None);
        assert_eq!(differs(Some(1000), Some(960)), News::Urgent);
        assert_eq!(differs(Some(1000), Some(1040)), News::None);
        assert_eq!(differs(Some(1000), Some(1050)), News::Worth);
        assert_eq!(differs(Some(u32::MAX), None), News::Worth);
    }

    proptest! {
        #[test]
        fn nothing_breaks_it(
            steps in prop::collection::vec((any::<bool>(), 0u64..100, any::<u16>(), any::<u32>(), 0u8..20), 0..400),
        ) {
            let mut estimator = RateEstimator::new();
            let mut now = Duration::ZERO;
            for (arrives, ms, sent, number, rare) in steps {
                now = match rare {
                    0 => Duration::from_nanos(u64::from(number) << 30),
                    1 => Duration::MAX,
                    _ => now.saturating_add(Duration::from_millis(ms)),
                };
                if arrives {
                    estimator.arrived(now, sent, number as usize);
                } else {
                    estimator.lost(now, number);
                }
                if let Some(cap) = estimator.cap(now) {
                    prop_assert!((RATE_FLOOR..=RATE_MOST as u32).contains(&cap));
                }
                prop_assert!(estimator.loss.is_finite() && estimator.target.is_finite());
            }
        }

        /// A clock that is made up after a true beginning, at real spacing.
        #[test]
        fn a_lying_clock_harms_no_invariant(lies in prop::collection::vec(0u16..500, 1..600)) {
            let mut estimator = RateEstimator::new();
            for (i, lie) in lies.iter().enumerate() {
                let ms = i as u64 * 17;
                estimator.arrived(Duration::from_millis(ms + 40), (ms as u16).wrapping_sub(*lie), 60);
                if let State::Limited(limited) = &estimator.state {
                    prop_assert!(limited.limit.is_finite() && limited.cap > 0.0 && limited.climb <= CLIMB_MOST);
                    prop_assert!(limited.limit <= RATE_MOST && limited.cap <= RATE_MOST);
                }
            }
        }
    }
}
