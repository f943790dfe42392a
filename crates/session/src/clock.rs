//! Comparing two clocks by ping and pong: the sample with the smallest round trip wins (wire.md W35; RFC 5905,
//! section 10, the clock filter).

use core::time::Duration;

/// Samples kept. With one ping in two seconds: the last half minute, so that a changed path is noticed.
const SAMPLES: usize = 16;

/// Round trips and the offset between this clock and the other end's.
#[derive(Debug, Clone, Default)]
pub(crate) struct Clock {
    samples: [Option<Sample>; SAMPLES],
    next: usize,
    smoothed: Option<Duration>,
}

#[derive(Debug, Clone, Copy)]
struct Sample {
    round_trip: Duration,
    offset_us: i64,
}

impl Clock {
    /// A PONG came at `now` for a ping of `sent`; `there_received` and `there_sent` are on the other clock,
    /// all in microseconds. Nonsense (an answer to the future, a stay longer than the trip) is ignored.
    pub(crate) fn pong(&mut self, now: u64, sent: u64, there_received: u64, there_sent: u64) {
        let stay = there_sent.checked_sub(there_received);
        let Some(trip) =
            now.checked_sub(sent).zip(stay).and_then(|(all, stay)| all.checked_sub(stay))
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

    /// Smoothed as in RFC 6298, section 2.
    pub(crate) fn round_trip(&self) -> Option<Duration> {
        self.smoothed
    }

    /// The best guess of the way to the other end: half of the smallest recent round trip.
    pub(crate) fn one_way(&self) -> Duration {
        self.best().map_or(Duration::ZERO, |sample| sample.round_trip / 2)
    }

    /// How far the other clock is ahead in microseconds, and by how much that may be wrong.
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
    fn the_quickest_sample_tells_the_offset() {
        let mut clock = Clock::default();
        // The other clock is 1,000,000 ahead. Way out 10, way back 10: exact.
        clock.pong(20_000, 0, 1_010_000, 1_010_000);
        // A queue on the way back makes this sample wrong by 40 ms; the filter passes it over.
        clock.pong(200_000, 100_000, 1_110_000, 1_110_000);
        assert_eq!(clock.offset(), Some((1_000_000, Duration::from_millis(10))));
        assert_eq!(clock.one_way(), Duration::from_millis(10));
        assert_eq!(clock.round_trip(), Some(Duration::from_millis(30)));
    }

    #[test]
    fn nonsense_is_ignored() {
        let mut clock = Clock::default();
        clock.pong(10, 20, 0, 0);
        clock.pong(10, 0, 5, u64::MAX);
        clock.pong(10, 0, 7, 3);
        assert!(clock.round_trip().is_none());
    }
}
