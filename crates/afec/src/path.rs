//! The delay of a path, from measured round trips.

use core::time::Duration;

/// The number of newest round trips among which the smallest is found. Chosen by judgement; not
/// tuned.
const SAMPLES: usize = 16;
/// The number of measured round trips from which on long ones are believed, and messages are
/// dropped as too late. So up to three false measurements do no harm. Chosen by judgement; not
/// tuned.
const SURE: usize = 4;
/// The round trip that is assumed before one is measured. Chosen by judgement; not tuned.
const UNKNOWN: Duration = Duration::from_millis(100);
/// The longest round trip that is believed. If a longer one is measured, the other end slept, or
/// its report is false.
const LONGEST: Duration = Duration::from_secs(3);
/// The upper limit of the estimated round trip until [`SURE`] round trips were measured: a measured
/// one may be false, and the next one may come much later.
const FIRST: Duration = Duration::from_millis(300);
/// The limit of a single measured round trip is [`UNKNOWN`] plus this many smoothed round trips, so
/// that one long round trip does not make every deadline look out of reach. Chosen by judgement;
/// not tuned.
const OUTLIER: u32 = 4;
/// The least margin before a deadline, since clocks are read in whole ms.
const MARGIN: Duration = Duration::from_millis(3);

/// The round trips of a path. The smallest of the newest ones is the round trip without queues (as
/// in RFC 5905, section 10); the smoothed round trip includes queues (RFC 6298, section 2).
#[derive(Debug, Clone)]
pub(crate) struct Path {
    /// A ring of the last round trips.
    samples: [Option<Duration>; SAMPLES],
    /// The index of the next sample in the ring.
    next: usize,
    smoothed: Option<Duration>,
    /// The smoothed deviation of round trips from the smoothed round trip.
    variation: Duration,
    /// The smallest round trip that was ever measured.
    least: Duration,
}

impl Path {
    pub(crate) fn new() -> Self {
        Path {
            samples: [None; SAMPLES],
            next: 0,
            smoothed: None,
            variation: Duration::ZERO,
            least: Duration::MAX,
        }
    }

    /// Adds a measured round trip.
    pub(crate) fn sample(&mut self, round_trip: Duration) {
        self.least = self.least.min(round_trip);
        let most = UNKNOWN + self.smoothed.unwrap_or(UNKNOWN) * OUTLIER;
        let round_trip = round_trip.min(most).min(LONGEST);
        self.samples[self.next] = Some(round_trip);
        self.next = (self.next + 1) % SAMPLES;
        match self.smoothed {
            None => {
                self.smoothed = Some(round_trip);
                self.variation = round_trip / 8;
            }
            Some(smoothed) => {
                self.variation = (self.variation * 3 + smoothed.abs_diff(round_trip)) / 4;
                self.smoothed = Some((smoothed * 7 + round_trip) / 8);
            }
        }
    }

    /// Whether a round trip was ever measured.
    pub(crate) fn is_known(&self) -> bool {
        self.smoothed.is_some()
    }

    /// The smallest of the last round trips.
    pub(crate) fn smallest(&self) -> Duration {
        self.believed(self.samples.iter().flatten().copied().min().unwrap_or(UNKNOWN))
    }

    /// The smoothed round trip.
    pub(crate) fn round_trip(&self) -> Duration {
        self.believed(self.smoothed.unwrap_or(UNKNOWN))
    }

    /// Whether enough round trips were measured to believe long ones.
    pub(crate) fn is_sure(&self) -> bool {
        self.samples.iter().flatten().count() >= SURE
    }

    fn believed(&self, round_trip: Duration) -> Duration {
        if self.is_sure() { round_trip } else { round_trip.min(FIRST) }
    }

    /// The delay to the other end: half of the smallest round trip, and all of the time in queues.
    /// All of that time is assumed to be spent in this direction, since this end sends the
    /// messages.
    pub(crate) fn one_way(&self) -> Duration {
        self.round_trip().saturating_sub(self.smallest() / 2)
    }

    /// The delay to the other end without queues.
    pub(crate) fn unqueued(&self) -> Duration {
        self.smallest() / 2
    }

    /// The delay to the other end, including the time in queues, by the smoothed round trip or the
    /// newest one, whichever is shorter: after a queue has drained the smoothed one takes many
    /// reports to fall. Zero until [`SURE`] round trips were measured.
    pub(crate) fn certain_one_way(&self) -> Duration {
        let newest = self.samples[(self.next + SAMPLES - 1) % SAMPLES].unwrap_or_default();
        match self.is_sure() {
            true => self.round_trip().min(newest).saturating_sub(self.smallest() / 2),
            false => Duration::ZERO,
        }
    }

    /// True if no packet ever reached the other end within `time`, as far as round trips tell: a
    /// queue that lasts for some seconds does not make the path longer. False before [`SURE`] round
    /// trips.
    pub(crate) fn is_longer_than(&self, time: Duration) -> bool {
        self.is_sure() && self.least / 2 > time
    }

    /// How much earlier than their deadline messages should arrive: half of the smoothed deviation,
    /// 3 to 50 ms.
    pub(crate) fn jitter(&self) -> Duration {
        (self.variation / 2).clamp(MARGIN, Duration::from_millis(50))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_round_trip_is_believed_after_four() {
        let mut path = Path::new();
        for _ in 0..SURE {
            path.sample(Duration::from_millis(480));
        }
        assert_eq!(path.smallest(), Duration::from_millis(480));
    }

    #[test]
    fn a_queue_does_not_make_a_path_longer() {
        let ms = Duration::from_millis;
        let mut path = Path::new();
        (1..SURE).for_each(|_| path.sample(ms(240)));
        assert!(!path.is_longer_than(ms(60)), "they may be false");
        path.sample(ms(210));
        assert!(path.is_longer_than(ms(104)) && !path.is_longer_than(ms(105)));
        path.sample(ms(100));
        (0..100).for_each(|_| path.sample(ms(900)));
        assert!(path.is_longer_than(ms(49)) && !path.is_longer_than(ms(50)));
    }

    #[test]
    fn a_queue_that_has_drained_is_soon_forgotten() {
        let ms = Duration::from_millis;
        let mut path = Path::new();
        path.sample(ms(50));
        (2..SAMPLES).for_each(|_| path.sample(ms(1050)));
        assert!(path.certain_one_way() > ms(400), "{path:?}");
        path.sample(ms(50));
        assert_eq!(path.certain_one_way(), ms(25));
    }

    #[test]
    fn one_absurd_round_trip_moves_little() {
        let mut path = Path::new();
        path.sample(Duration::from_secs(3600));
        assert_eq!(path.one_way(), FIRST / 2);
        for _ in 0..16 {
            path.sample(Duration::from_millis(50));
        }
        path.sample(Duration::from_secs(3600));
        assert!(path.one_way() < Duration::from_millis(150), "{path:?}");
        for _ in 0..100 {
            path.sample(Duration::MAX);
        }
        assert!(path.round_trip() <= LONGEST, "{path:?}");
    }
}
