//! The delay of a path, from measured round trips.

use std::time::Duration;

/// The number of newest round trips among which the smallest is looked for.
const SAMPLES: usize = 16;
/// The number of round trips from which on a path counts as known for sure.
const SURE: usize = 4;
/// The round trip of a path that is not known.
const UNKNOWN: Duration = Duration::from_millis(100);
/// The longest round trip that is believed before [`SURE`] were measured.
const FIRST: Duration = Duration::from_millis(300);

/// The round trips of a path.
#[derive(Debug, Default)]
pub(super) struct Path {
    samples: [Option<Duration>; SAMPLES],
    next: usize,
    smoothed: Option<Duration>,
}

impl Path {
    /// Adds a measured round trip. One that is far longer than those before counts as less.
    pub(super) fn sample(&mut self, round_trip: Duration) {
        let round_trip = round_trip.min(UNKNOWN + self.smoothed.unwrap_or(UNKNOWN) * 4);
        self.samples[self.next] = Some(round_trip);
        self.next = (self.next + 1) % SAMPLES;
        self.smoothed =
            Some(self.smoothed.map_or(round_trip, |smoothed| (smoothed * 7 + round_trip) / 8));
    }

    pub(super) fn is_known(&self) -> bool {
        self.smoothed.is_some()
    }

    /// The smallest of the newest round trips.
    pub(super) fn smallest(&self) -> Duration {
        self.believed(self.samples.iter().flatten().copied().min().unwrap_or(UNKNOWN))
    }

    /// The delay of the path to the other end with its queues: all queues are taken to be on the
    /// way there.
    pub(super) fn one_way(&self) -> Duration {
        let round_trip = self.believed(self.smoothed.unwrap_or(UNKNOWN));
        round_trip.saturating_sub(self.smallest() / 2)
    }

    /// The one-way delay, or zero if it is not known for sure.
    pub(super) fn certain_one_way(&self) -> Duration {
        if self.is_sure() { self.one_way() } else { Duration::ZERO }
    }

    fn is_sure(&self) -> bool {
        self.samples.iter().flatten().count() >= SURE
    }

    fn believed(&self, round_trip: Duration) -> Duration {
        if self.is_sure() { round_trip } else { round_trip.min(FIRST) }
    }
}
