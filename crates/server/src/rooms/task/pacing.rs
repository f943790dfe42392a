//! Decides how far apart a room's ticks are while the machine is full.
//!
//! With a tick of 0 a room sends each message at once. If messages come faster than the machine can
//! send them, queues would grow without limit, and the network layers would decide what is dropped.
//! So a room spends at most a part of its time on handling and sending, unless that takes longer
//! than the usual tick: the pause before the next tick is the mean work for a tick times a factor.
//! In this pause connections do their part of the work (reading, and what the room has not written
//! itself), and more messages arrive that can share packets, which makes each of them cheaper.

use std::time::Duration;

/// The pause lasts twice as long as the room's work for a tick, if connections do the rest: their
/// work on a packet costs up to twice the room's.
const PAUSE_FOR_CONNECTIONS: u32 = 2;
/// Packets that the room's task writes to sockets itself need nothing more: then half as long as
/// its work is left to reading, to other rooms and to the system.
const PAUSE_PART: u32 = 2;
/// Less work, as in rooms with few people, needs no pause.
const SHORT: Duration = Duration::from_micros(500);
/// The longest spacing, which is the usual tick. It also bounds the effect of one turn during which
/// the system ran something else.
const LONGEST: Duration = Duration::from_millis(40);
/// One part in this many of a change counts at each tick, because the work for a single one may
/// take long by accident.
const SMOOTHING: u32 = 4;

/// See the [module](self).
#[derive(Debug, Default)]
pub(super) struct Pacing {
    /// The time of the room's last tick.
    last_tick: Option<Duration>,
    /// The room's work since then. Turns without a tick count, too: what receivers answer is a part
    /// of a tick's cost.
    work: Duration,
    /// The packets that were sent since the last tick.
    sending: Sent,
    /// The mean work for one tick.
    mean: Duration,
    /// The packets of the last tick that sent any.
    sent: Sent,
}

/// How the packets and datagrams of a turn were sent.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sent {
    /// The number that the room's task wrote to sockets itself.
    pub(super) written: u32,
    /// The number that connections have to encrypt or to write.
    pub(super) handed_over: u32,
}

impl Pacing {
    /// Counts a turn, in which the room handled its messages and sent its packets, and which took
    /// this long from `now` on. `last_tick`: the time of the room's last tick. Returns the spacing
    /// of ticks from now on.
    pub(super) fn turned(
        &mut self,
        (now, took): (Duration, Duration),
        last_tick: Option<Duration>,
        sent: Sent,
    ) -> Duration {
        // What comes later, such as signs of life in a quiet room, has nothing to do with the tick.
        if last_tick.is_some_and(|at| now < at + LONGEST) {
            self.work += took;
        }
        self.sending.written = self.sending.written.saturating_add(sent.written);
        self.sending.handed_over = self.sending.handed_over.saturating_add(sent.handed_over);
        if self.last_tick != last_tick {
            self.last_tick = last_tick;
            let sent = std::mem::take(&mut self.sending);
            if sent != Sent::default() {
                self.sent = sent;
            }
            let work = std::mem::take(&mut self.work).min(LONGEST);
            self.mean = (self.mean * (SMOOTHING - 1) + work) / SMOOTHING;
        }
        match self.mean > SHORT {
            true => (self.mean + self.pause()).min(LONGEST),
            false => Duration::ZERO,
        }
    }

    /// The pause after the mean work, by the part of the packets that were handed over.
    fn pause(&self) -> Duration {
        let Sent { written, handed_over } = self.sent;
        let all = written.saturating_add(handed_over).max(1);
        let for_connections = self.mean * PAUSE_FOR_CONNECTIONS * handed_over / all;
        for_connections + self.mean * written / all / PAUSE_PART
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITTEN: Sent = Sent { written: 500, handed_over: 0 };
    const HANDED_OVER: Sent = Sent { written: 0, handed_over: 500 };
    const LONG: Duration = Duration::from_millis(2);

    /// The spacings after twenty ticks, each a millisecond after the one before.
    fn after_ticks(pacing: &mut Pacing, took: Duration, sent: Sent) -> Vec<Duration> {
        let from = pacing.last_tick.unwrap_or_default();
        let ticks = (1..=20).map(|tick| from + Duration::from_millis(tick));
        ticks.map(|now| pacing.turned((now, took), Some(now), sent)).collect()
    }

    #[test]
    fn much_work_spaces_ticks_and_little_ends_it() {
        let mut pacing = Pacing::default();
        let short = Duration::from_micros(100);
        assert_eq!(after_ticks(&mut pacing, short, HANDED_OVER), [Duration::ZERO; 20]);
        let spacings = after_ticks(&mut pacing, LONG, HANDED_OVER);
        assert!(spacings.is_sorted());
        let last = spacings.last().copied().unwrap();
        assert!(last > Duration::from_micros(5900) && last <= LONG * 3, "{last:?}");
        let spacings = after_ticks(&mut pacing, short, HANDED_OVER);
        assert_eq!(spacings.last(), Some(&Duration::ZERO));
    }

    #[test]
    fn the_pause_is_shorter_for_packets_that_are_written_already() {
        let last = |sent| after_ticks(&mut Pacing::default(), LONG, sent).pop().unwrap();
        let (written, handed_over) = (last(WRITTEN), last(HANDED_OVER));
        assert!(written > Duration::from_micros(2900) && written <= LONG * 3 / 2, "{written:?}");
        let both = last(Sent { written: 250, handed_over: 250 });
        assert!(both > written && both < handed_over, "{both:?}");
    }

    #[test]
    fn turns_soon_after_a_tick_are_part_of_its_work() {
        let (mut whole, mut divided, mut quiet) =
            (Pacing::default(), Pacing::default(), Pacing::default());
        for tick in 1..=20 {
            let now = Duration::from_millis(100 * tick);
            let spacing = whole.turned((now, LONG), Some(now), HANDED_OVER);
            // Half of the work is to take in what receivers answer, a little in each turn.
            divided.turned((now, LONG / 2), Some(now), HANDED_OVER);
            quiet.turned((now, LONG / 2), Some(now), HANDED_OVER);
            for turn in 1..=10 {
                let soon = now + Duration::from_millis(turn);
                divided.turned((soon, LONG / 20), Some(now), Sent::default());
                quiet.turned((soon + LONGEST, LONG / 20), Some(now), Sent::default());
            }
            if tick > 10 {
                assert!(divided.mean > whole.mean * 9 / 10 && divided.mean <= whole.mean);
                assert!(quiet.mean <= spacing / 6);
            }
        }
    }

    #[test]
    fn one_very_long_turn_has_a_bounded_effect() {
        let mut pacing = Pacing::default();
        let (tick, took) = (Duration::ZERO, Duration::from_secs(5));
        let spacing = pacing.turned((tick, took), Some(tick), HANDED_OVER);
        assert!(spacing > Duration::ZERO && spacing <= LONGEST);
        // A pause counts no longer than the longest spacing.
        let spacings = after_ticks(&mut pacing, Duration::from_micros(100), HANDED_OVER);
        assert_eq!(spacings[12], Duration::ZERO);
    }

    #[test]
    fn what_is_sent_between_ticks_does_not_stand_for_a_tick() {
        let mut pacing = Pacing::default();
        let spacing = after_ticks(&mut pacing, LONG, WRITTEN).pop();
        let (now, last) = (Duration::from_millis(21), Some(Duration::from_millis(20)));
        let one = Sent { written: 0, handed_over: 1 };
        assert_eq!(pacing.turned((now, Duration::ZERO), last, one), spacing.unwrap());
    }
}
