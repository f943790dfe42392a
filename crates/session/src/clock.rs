//! Compares the clocks of the two ends by PING and PONG. Of the last samples, the one with the
//! smallest round trip counts, as in the clock filter of RFC 5905, section 10 (wire W35).

use core::time::Duration;

/// The number of samples that are kept. With one PING every two seconds, these are the last 32 s,
/// so that old samples of a path that has changed do not stay for long.
const SAMPLES: usize = 16;

/// The round trip to the other end, and the offset between the two clocks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Clock {
    samples: [Option<Sample>; SAMPLES],
    next: usize,
    /// The smoothed round trip.
    smoothed: Option<Duration>,
}

#[derive(Debug, Clone, Copy)]
struct Sample {
    round_trip: Duration,
    /// How far the other clock is ahead, in microseconds.
    offset_us: i64,
}

impl Clock {
    /// Takes in a PONG that arrived at `now`, for a PING that left at `sent`. The other end
    /// received the PING at `there_received` and sent the PONG at `there_sent`, on its own clock.
    /// All times are in microseconds. A PONG with impossible times is ignored: `sent` is after
    /// `now`, or the other end claims to have taken longer than the whole round trip.
    pub(crate) fn pong(&mut self, now: u64, sent: u64, there_received: u64, there_sent: u64) {
        let processing = there_sent.checked_sub(there_received);
        let Some(trip) = now
            .checked_sub(sent)
            .zip(processing)
            .and_then(|(all, processing)| all.checked_sub(processing))
        else {
            return;
        };
        let round_trip = Duration::from_micros(trip);
        let middle_here = (sent / 2).wrapping_add(now / 2) as i64;
        let middle_there = (there_received / 2).wrapping_add(there_sent / 2) as i64;
        let offset_us = middle_there.wrapping_sub(middle_here);
        self.samples[self.next] = Some(Sample { round_trip, offset_us });
        self.next = (self.next + 1) % SAMPLES;
        self.smoothed = Some(match self.smoothed {
            None => round_trip,
            Some(smoothed) => (smoothed * 7 + round_trip) / 8,
        });
    }

    /// The round trip, smoothed as in RFC 6298, section 2.
    pub(crate) fn round_trip(&self) -> Option<Duration> {
        self.smoothed
    }

    /// The estimated time from one end to the other: half of the smallest recent round trip; zero
    /// before the first sample.
    pub(crate) fn one_way(&self) -> Duration {
        self.best().map_or(Duration::ZERO, |sample| sample.round_trip / 2)
    }

    /// How far the other clock is ahead in microseconds, and the largest error of that number.
    /// `None` before the first sample.
    pub(crate) fn offset(&self) -> Option<(i64, Duration)> {
        self.best().map(|sample| (sample.offset_us, sample.round_trip / 2))
    }

    fn best(&self) -> Option<Sample> {
        self.samples.iter().flatten().copied().min_by_key(|sample| sample.round_trip)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_with_the_smallest_round_trip_gives_the_offset() {
        let mut clock = Clock::default();
        // The other clock is 1 s ahead. Both directions take 10 ms, so that the offset is exact.
        clock.pong(20_000, 0, 1_010_000, 1_010_000);
        // A queue delays the PONG by 80 ms, which makes the offset of this sample wrong by 40 ms.
        // The filter ignores it.
        clock.pong(200_000, 100_000, 1_110_000, 1_110_000);
        assert_eq!(clock.offset(), Some((1_000_000, Duration::from_millis(10))));
        assert_eq!(clock.one_way(), Duration::from_millis(10));
        assert_eq!(clock.round_trip(), Some(Duration::from_millis(30)));
    }

    #[test]
    fn impossible_times_are_ignored() {
        let mut clock = Clock::default();
        clock.pong(10, 20, 0, 0);
        clock.pong(10, 0, 5, u64::MAX);
        clock.pong(10, 0, 7, 3);
        assert!(clock.round_trip().is_none());
    }
}
