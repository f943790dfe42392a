//! Decides how far apart a room's ticks are while the machine is full.
//!
//! With a tick of 0 a room sends each message at once. If messages come faster than the machine can send
//! them, queues would grow without limit, and the network layers would decide what is dropped. So a room
//! spends at most a part of its time on handling and sending: the pause before the next tick is the
//! duration of the last turn times a factor. In this pause connections do their part of the work
//! (encrypting, writing, reading), and more messages arrive that can share packets, which makes each of
//! them cheaper.

use std::time::Duration;

/// The spacing of ticks is this many times the mean length of a turn: the connections' work on a packet costs up to twice the
/// room's.
const SPACING: u32 = 3;
/// Shorter turns, as in rooms with few people, need no pause.
const SHORT: Duration = Duration::from_micros(500);
/// The longest spacing, so that one turn during which the system ran something else has little effect.
const LONGEST: Duration = Duration::from_millis(25);
/// One part in this many of a change counts in each turn, because a single long turn may be an accident.
const SMOOTHING: u32 = 4;

/// See the [module](self).
#[derive(Debug, Default)]
pub(super) struct Pacing {
    /// The mean length of the last turns.
    mean: Duration,
}

impl Pacing {
    /// Counts a turn, in which the room handled its messages and sent its packets. Returns the spacing of ticks from now on.
    pub(super) fn turned(&mut self, took: Duration) -> Duration {
        self.mean = (self.mean * (SMOOTHING - 1) + took) / SMOOTHING;
        match self.mean > SHORT {
            true => (self.mean * SPACING).min(LONGEST),
            false => Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_turns_space_ticks_and_short_ones_end_it() {
        let mut pacing = Pacing::default();
        let short = Duration::from_micros(100);
        assert_eq!(pacing.turned(short), Duration::ZERO);
        let long = Duration::from_millis(2);
        let spacings: Vec<_> = (0..20).map(|_| pacing.turned(long)).collect();
        assert!(spacings.is_sorted());
        let last = spacings.last().copied().unwrap();
        assert!(last > Duration::from_micros(5900) && last <= long * SPACING, "{last:?}");
        let spacings: Vec<_> = (0..20).map(|_| pacing.turned(short)).collect();
        assert_eq!(spacings.last(), Some(&Duration::ZERO));
    }

    #[test]
    fn one_very_long_turn_has_a_bounded_effect() {
        let mut pacing = Pacing::default();
        assert_eq!(pacing.turned(Duration::from_secs(5)), LONGEST);
    }
}
