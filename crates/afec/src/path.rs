//! How long packets take.

use core::time::Duration;

/// Round trips remembered for the smallest.
const SAMPLES: usize = 16;
/// So many of them are believed, and messages given up for them.
const SURE: usize = 4;
/// What is assumed before the first round trip is known.
const UNKNOWN: Duration = Duration::from_millis(100);
/// A longer round trip is no path to keep deadlines on. It is one that slept, or a lie.
const LONGEST: Duration = Duration::from_secs(3);
/// Until then they count as at most this: they may be lies, and there may be no others for long.
const FIRST: Duration = Duration::from_millis(300);
/// A round trip counts as at most this many smoothed ones more than [`UNKNOWN`]: a single one, true or not, must not make
/// everything look hopeless.
const OUTLIER: u32 = 4;
/// The least margin kept from a deadline.
const MARGIN: Duration = Duration::from_millis(3);

/// Round trips of a path: the smallest of the last ones tells the path's own delay (as in RFC 5905, section 10), the
/// smoothed one what queues add (RFC 6298, section 2).
#[derive(Debug, Clone)]
pub(crate) struct Path {
    samples: [Option<Duration>; SAMPLES],
    next: usize,
    smoothed: Option<Duration>,
    variation: Duration,
}

impl Path {
    pub(crate) fn new() -> Self {
        Path { samples: [None; SAMPLES], next: 0, smoothed: None, variation: Duration::ZERO }
    }

    pub(crate) fn sample(&mut self, round_trip: Duration) {
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

    fn is_sure(&self) -> bool {
        self.samples.iter().flatten().count() >= SURE
    }

    fn believed(&self, round_trip: Duration) -> Duration {
        if self.is_sure() { round_trip } else { round_trip.min(FIRST) }
    }

    /// The way to the other end: half of the path's own delay, and all that queues add, since ours are the larger.
    pub(crate) fn one_way(&self) -> Duration {
        self.round_trip().saturating_sub(self.smallest() / 2)
    }

    /// The way to the other end if no queue were on it.
    pub(crate) fn unqueued(&self) -> Duration {
        self.smallest() / 2
    }

    /// What the way to the other end takes for sure: nothing is, before some round trips agree. One alone may lie.
    pub(crate) fn surely(&self) -> Duration {
        if self.is_sure() { self.one_way() } else { Duration::ZERO }
    }

    /// What to keep from a deadline.
    pub(crate) fn jitter(&self) -> Duration {
        (self.variation / 2).clamp(MARGIN, Duration::from_millis(50))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_path_is_soon_believed() {
        let mut path = Path::new();
        for _ in 0..SURE {
            path.sample(Duration::from_millis(480));
        }
        assert_eq!(path.smallest(), Duration::from_millis(480));
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
