//! The rate limiter of a sender, a token bucket. A report of the receiver tells how packets arrive.

use core::time::Duration;

use super::RATE_FLOOR;

/// The burst that may be sent at once, as seconds of the rate. A single packet may always be sent.
/// 40 ms is the default tick of a room, in which a server collects messages.
const BURST: f64 = 0.04;

/// How long the sender must have sent without a report from the receiver before the rate begins to
/// fall. Of many packets a receiver reports at least twice in this time.
const SILENCE: Duration = Duration::from_secs(12);

/// How many bytes the sender must also have sent without a report before the rate begins to fall. A
/// receiver reports at least twice in as many, even if a fifth of them is lost. At the rate
/// [`SAFE`] it takes 25 s to send them.
const SILENCE_BYTES: usize = 30_000;

/// The time in seconds in which the rate halves while the receiver is silent, until it is down to
/// [`SAFE`].
const HALVING: f64 = 2.0;

/// The rate in bytes per second at which the limit stops falling while the receiver is silent: a
/// message of 60 bytes 20 times a second. Every path on which people can work together carries
/// that.
const SAFE: f64 = 1200.0;

/// Limits the packets of a sender to the rate that the path carries. It is a token bucket whose
/// rate is the lowest of three: the reported rate, the transport's rate, and the highest rate that
/// the application wants.
///
/// If the receiver sends no report for 12 s although 30,000 bytes are sent, the rate halves every 2
/// s until a report arrives: from the rate of sending (or the limit, if that is lower) down to 1200
/// bytes per second. While nothing is sent the rate does not fall, because the receiver has nothing
/// to report.
///
/// No report lowers the rate below [`RATE_FLOOR`] or raises it above the rate that the application
/// wants.
#[derive(Debug, Clone)]
pub struct Budget {
    /// The highest rate that the application wants, in bytes per second.
    wanted: Option<u32>,
    /// The rate limit that the receiver reported, in bytes per second.
    reported: Option<u32>,
    /// The rate of the transport's own congestion control, in bytes per second.
    transport: Option<u32>,
    /// The number of bytes that may be sent. Negative after a packet that is larger than the burst.
    tokens: f64,
    /// When the tokens were last filled up.
    filled: Duration,
    /// When the first packet after the last report was sent.
    unanswered: Option<Duration>,
    /// The bytes that were sent after the last report.
    unanswered_bytes: usize,
    /// When the rate begins to fall, if enough was sent without a report.
    falls_from: Option<Duration>,
    /// The rate of sending, smoothed over about a second, in bytes per second.
    sending: f64,
    /// When the last packet was sent.
    sent: Duration,
}

impl Default for Budget {
    fn default() -> Self {
        Budget::new(None)
    }
}

impl Budget {
    /// A limiter for a path of unknown rate. `wanted` is the highest rate that the application
    /// wants, in bytes per second.
    pub fn new(wanted: Option<u32>) -> Self {
        Budget {
            wanted,
            reported: None,
            transport: None,
            tokens: 0.0,
            filled: Duration::ZERO,
            unanswered: None,
            unanswered_bytes: 0,
            falls_from: None,
            sending: 0.0,
            sent: Duration::ZERO,
        }
    }

    /// Sets the highest rate that the application wants, in bytes per second.
    pub fn set_wanted_rate(&mut self, wanted: Option<u32>) {
        self.wanted = wanted;
    }

    /// Sets the rate of the transport in bytes per second, such as QUIC's congestion window divided
    /// by its round trip.
    pub fn set_transport_rate(&mut self, rate: Option<u32>) {
        self.transport = rate;
    }

    /// Sets the rate limit that the receiver reported
    /// ([`RateEstimator::cap`](super::RateEstimator::cap)).
    pub fn set_reported_rate(&mut self, rate: Option<u32>) {
        self.reported = rate;
    }

    /// Notes that a report or an acknowledgement arrived: it shows that the receiver gets packets.
    /// To be called for each.
    pub fn on_report(&mut self) {
        (self.unanswered, self.unanswered_bytes, self.falls_from) = (None, 0, None);
    }

    /// The rate limit in bytes per second. `None` if there is none.
    pub fn rate(&self, now: Duration) -> Option<u32> {
        let limit = [self.wanted, self.reported, self.transport].into_iter().flatten().min();
        let limit = limit.map(|limit| limit.max(RATE_FLOOR));
        let Some(fallback) = self.fallback(now, limit) else {
            return limit;
        };
        Some(limit.map_or(fallback, |limit| limit.min(fallback)))
    }

    /// Whether a packet of `bytes` bytes, headers included, may be sent now.
    pub fn allows(&mut self, now: Duration, bytes: usize) -> bool {
        self.next(now, bytes) <= now
    }

    /// Notes that a packet of `bytes` bytes is sent now, whether it was allowed or not.
    pub fn spend(&mut self, now: Duration, bytes: usize) {
        self.fill(now);
        let since = *self.unanswered.get_or_insert(now);
        self.unanswered_bytes = self.unanswered_bytes.saturating_add(bytes);
        if self.unanswered_bytes >= SILENCE_BYTES {
            // The rate does not fall before now: the receiver of a burst after a long trickle had
            // no time to report it.
            self.falls_from.get_or_insert(now.max(since.saturating_add(SILENCE)));
        }
        let bytes = bytes.min(usize::from(u16::MAX)) as f64;
        if let Some(rate) = self.rate(now) {
            // The debt of the bucket is limited to one second of the rate. Otherwise packets that
            // were not allowed would silence a sender for long.
            self.tokens = (self.tokens - bytes).max(-bytes.max(f64::from(rate)));
        }
        let passed = now.saturating_sub(self.sent).as_secs_f64();
        self.sending = self.sending * libm::exp(-passed) + bytes;
        self.sent = self.sent.max(now);
    }

    /// When a packet of `bytes` bytes will be allowed: `now` if it is allowed already. A later
    /// change of the rate changes this time.
    pub fn next(&mut self, now: Duration, bytes: usize) -> Duration {
        self.fill(now);
        let Some(rate) = self.rate(now).map(f64::from) else {
            return now;
        };
        let bytes = bytes.min(usize::from(u16::MAX)) as f64;
        // A packet that is larger than the bucket is allowed when the bucket is full.
        let missing = bytes.min(burst(rate)) - self.tokens;
        if missing <= 0.0 {
            return now;
        }
        // Rounded up, so that the packet is allowed at that time.
        now.saturating_add(Duration::from_secs_f64(missing / rate))
            .saturating_add(Duration::from_micros(1))
    }

    /// Fills up the tokens for the time that has passed.
    fn fill(&mut self, now: Duration) {
        let passed = now.saturating_sub(self.filled).as_secs_f64();
        self.filled = self.filled.max(now);
        match self.rate(now).map(f64::from) {
            Some(rate) => self.tokens = (self.tokens + passed * rate).min(burst(rate)),
            None => self.tokens = 0.0,
        }
    }

    /// The rate limit while the receiver is silent, given the limit that applies otherwise.
    fn fallback(&self, now: Duration, limit: Option<u32>) -> Option<u32> {
        let silence = now.checked_sub(self.falls_from?)?.as_secs_f64();
        let from = limit.map_or(self.sending, |limit| self.sending.min(f64::from(limit)));
        let rate = from * libm::exp2(-silence / HALVING);
        Some(rate.max(SAFE) as u32)
    }
}

/// The size of the bucket in bytes.
fn burst(rate: f64) -> f64 {
    rate * BURST
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Sends packets of 60 bytes as soon as they are allowed; returns the bytes that were sent.
    fn send(budget: &mut Budget, from: Duration, to: Duration) -> usize {
        let mut now = from;
        let mut sent = 0;
        loop {
            budget.on_report();
            now = budget.next(now, 60);
            if now >= to || sent > 1_000_000 {
                return sent;
            }
            assert!(budget.allows(now, 60));
            budget.spend(now, 60);
            sent += 60;
        }
    }

    #[test]
    fn the_lowest_limit_holds() {
        let mut budget = Budget::new(Some(9000));
        assert_eq!(budget.rate(SECOND), Some(9000));
        budget.set_reported_rate(Some(u32::MAX));
        assert_eq!(budget.rate(SECOND), Some(9000));
        budget.set_transport_rate(Some(5000));
        assert_eq!(budget.rate(SECOND), Some(5000));
        budget.set_reported_rate(Some(0));
        assert_eq!(budget.rate(SECOND), Some(RATE_FLOOR));
    }

    #[test]
    fn sends_at_the_rate() {
        let mut budget = Budget::new(Some(3600));
        let sent = send(&mut budget, SECOND, SECOND * 11);
        assert!((36_000..36_300).contains(&sent), "{sent}");
        // A pause saves up no more than the burst.
        let sent = send(&mut budget, SECOND * 60, SECOND * 61);
        assert!((3600..3900).contains(&sent), "{sent}");
    }

    #[test]
    fn a_silent_receiver_slows_the_sender_down() {
        let mut budget = Budget::new(None);
        for ms in (0..12_000).step_by(10) {
            budget.spend(Duration::from_millis(ms), 200);
        }
        let at = |seconds: u32| budget.rate(SECOND * seconds);
        let first = at(13).expect("the receiver is silent");
        assert!((12_000..16_000).contains(&first), "{first}");
        assert!(at(15).expect("the receiver is still silent") <= first / 2 + 1);
        assert_eq!(at(60), Some(1200));
        budget.on_report();
        assert_eq!(budget.rate(SECOND * 60), None);
    }

    #[test]
    fn a_burst_after_a_trickle_does_not_slow_down_at_once() {
        let mut budget = Budget::new(None);
        for seconds in 0..19 {
            budget.spend(SECOND * seconds, 500);
        }
        assert_eq!(budget.rate(SECOND * 19), None, "little was sent");
        for ms in (0..1100).step_by(10) {
            budget.spend(SECOND * 19 + Duration::from_millis(ms), 200);
        }
        let at = |ms| budget.rate(SECOND * 20 + Duration::from_millis(ms));
        let first = at(100).expect("no report came");
        assert!(first > 10_000, "{first}");
        assert!(at(2100).expect("no report came") < first * 6 / 10);
    }

    #[test]
    fn a_silent_receiver_does_not_raise_a_low_limit() {
        let mut budget = Budget::new(Some(600));
        budget.spend(SECOND, SILENCE_BYTES);
        assert_eq!(budget.rate(SECOND * 60), Some(600));
    }

    proptest! {
        #[test]
        fn no_calls_break_the_limits(steps in prop::collection::vec((0u8..7, any::<u64>(), any::<u32>()), 0..200)) {
            let mut budget = Budget::new(Some(10_000));
            for (what, nanos, number) in steps {
                let now = Duration::from_nanos(nanos);
                match what {
                    0 => budget.set_reported_rate(Some(number)),
                    1 => budget.set_transport_rate(Some(number)),
                    2 => budget.set_reported_rate(None),
                    3 => budget.on_report(),
                    4 => budget.spend(now, number as usize),
                    _ => prop_assert_eq!(budget.allows(now, number as usize), budget.next(now, number as usize) <= now),
                }
                let rate = budget.rate(now).expect("the application wants no more");
                prop_assert!((RATE_FLOOR..=10_000).contains(&rate));
            }
        }
    }
}
