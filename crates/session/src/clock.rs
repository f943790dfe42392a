//! Compares the clocks of the two ends by PING and PONG. Of the last samples, the one with the
//! smallest round trip counts, as in the clock filter of RFC 5905, section 10 (wire W35).

use core::time::Duration;

/// The number of samples that are kept. With one PING of a client every two seconds, these are its
/// last 32 s, so that old samples of a path that has changed do not stay for long.
const SAMPLES: usize = 16;

/// The number of samples from which on a long time is believed. The first PING may travel behind
/// the state of a room, which takes long in one direction alone, so that the clocks seem to differ
/// by half of that.
const SURE: usize = 3;

/// By how much two offsets may differ beyond what their round trips explain: clocks drift, and some
/// are coarse.
const SLACK: Duration = Duration::from_millis(50);

/// The round trip to the other end, and the offset between the two clocks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Clock {
    samples: [Option<Sample>; SAMPLES],
    next: usize,
    /// The smoothed round trip.
    smoothed: Option<Duration>,
}

/// What the samples tell about packets from the other end.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Way {
    /// The time that a packet takes at least: half of the smallest recent round trip; zero before
    /// the first sample.
    pub(crate) least: Duration,
    /// How far the other clock is ahead, in microseconds.
    ahead_us: i64,
    /// The newest round trip; zero before [`SURE`] samples.
    newest: Duration,
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
        let sample = Sample { round_trip, offset_us };
        // Each offset is wrong by at most half of its round trip. What differs by more is of a time
        // before one of the clocks stood still.
        for old in &mut self.samples {
            old.take_if(|old| !old.agrees_with(&sample));
        }
        self.samples[self.next] = Some(sample);
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

    /// What the samples tell about packets from the other end.
    pub(crate) fn way(&self) -> Way {
        let newest = self.samples[(self.next + SAMPLES - 1) % SAMPLES];
        let Some((best, newest)) = self.best().zip(newest) else { return Way::default() };
        let is_sure = self.samples.iter().flatten().count() >= SURE;
        let newest = if is_sure { newest.round_trip } else { Duration::ZERO };
        Way { least: best.round_trip / 2, ahead_us: best.offset_us, newest }
    }

    /// The time that the other clock shows at `now`. `None` before the first sample, or if that
    /// clock had not begun.
    pub(crate) fn there(&self, now: Duration) -> Option<Duration> {
        there(now, self.best()?.offset_us)
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

fn there(now: Duration, ahead_us: i64) -> Option<Duration> {
    let ahead = Duration::from_micros(ahead_us.unsigned_abs());
    if ahead_us < 0 { now.checked_sub(ahead) } else { now.checked_add(ahead) }
}

impl Sample {
    fn agrees_with(&self, other: &Sample) -> bool {
        let most = (self.round_trip + other.round_trip) / 2 + SLACK;
        Duration::from_micros(self.offset_us.abs_diff(other.offset_us)) <= most
    }
}

impl Way {
    /// How long a packet took whose sender's clock had `sent` as the low 16 bits of its ms. At most
    /// the newest round trip: if the other clock stood still, as that of a machine that sleeps,
    /// packets must not seem late until the clocks were compared again.
    pub(crate) fn taken(self, now: Duration, sent: u16) -> Duration {
        let there = there(now, self.ahead_us).unwrap_or_default();
        let ago = (there.as_millis() as u16).wrapping_sub(sent) as i16;
        Duration::from_millis(ago.max(0).unsigned_abs().into()).min(self.newest)
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
    fn the_time_of_a_packet_follows_from_the_other_clock() {
        let mut clock = Clock::default();
        let ms = Duration::from_millis;
        assert_eq!(clock.way().taken(ms(500), 3), Duration::ZERO);
        // The other clock is 66 s ahead, which is more than 16 bits of ms.
        for _ in 0..SURE {
            assert_eq!(clock.way().taken(ms(1015), 1000 + 464), Duration::ZERO, "nothing is sure");
            clock.pong(20_000, 0, 66_010_000, 66_010_000);
        }
        let sent = |at: u32| (at + 66_000) as u16;
        assert_eq!(clock.way().taken(ms(1015), sent(1000)), ms(15));
        assert_eq!(clock.way().taken(ms(1015), sent(1016)), ms(0));
        assert_eq!(clock.way().taken(ms(1400), sent(1000)), ms(20), "no round trip was so long");
        clock.pong(2_800_000, 2_000_000, 68_400_000, 68_400_000);
        assert_eq!(clock.way().taken(ms(3400), sent(3000)), ms(400));
        assert_eq!(clock.way().least, ms(10));
        // The other clock stood still for 3 s: what was measured before counts no more.
        clock.pong(8_800_000, 8_000_000, 71_400_000, 71_400_000);
        assert_eq!(clock.way().least, ms(400));
        assert_eq!(clock.offset(), Some((63_000_000, ms(400))));
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
