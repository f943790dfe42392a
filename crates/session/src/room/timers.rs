//! When the room has to do something by itself.

use alloc::collections::BTreeSet;
use core::time::Duration;

use crate::ParticipantId;

/// Silence, stalls and absences are checked this often: often enough to notice a dead peer "within 6 s" (wire W35).
pub(super) const HOUSEKEEPING: Duration = Duration::from_millis(250);

/// Nothing is decided more finely than in milliseconds.
const SOONEST: Duration = Duration::from_millis(1);

/// See the [module](self).
#[derive(Debug)]
pub(super) struct Timers {
    /// The shortest time between two ticks.
    interval: Duration,
    /// The next tick.
    pub(super) tick: Option<Duration>,
    pub(super) last_tick: Option<Duration>,
    /// The next turn of a value that waits because its receiver asked for fewer.
    pub(super) turn: Option<Duration>,
    pub(super) housekeeping: Option<Duration>,
    /// Datagrams that are due to single participants, beside those of ticks: repeats, acknowledgements, reports.
    datagrams: BTreeSet<(Duration, ParticipantId)>,
}

impl Timers {
    pub(super) fn new(interval: Duration) -> Self {
        let (tick, last_tick, turn, housekeeping) = (None, None, None, None);
        Timers { interval, tick, last_tick, turn, housekeeping, datagrams: BTreeSet::new() }
    }

    /// Something is to be sent at the next tick: at once, if the last one is long past.
    pub(super) fn schedule_tick(&mut self, now: Duration) {
        let earliest = self.last_tick.map_or(now, |last| last + self.interval);
        self.tick_at(earliest.max(now));
    }

    /// There is to be a tick at this time at the latest.
    pub(super) fn tick_at(&mut self, at: Duration) {
        self.tick = Some(self.tick.map_or(at, |planned| planned.min(at)));
    }

    /// A participant left: the others are told at the next tick, for which nothing has to be waited.
    pub(super) fn tick_for_leaver(&mut self) {
        self.tick.get_or_insert(self.last_tick.unwrap_or_default());
    }

    pub(super) fn begin_housekeeping(&mut self, now: Duration) {
        self.housekeeping.get_or_insert(now + HOUSEKEEPING);
    }

    /// Moves the time at which a participant's datagrams are due. `planned`: where that time is kept.
    pub(super) fn plan_datagrams(
        &mut self,
        now: Duration,
        participant: ParticipantId,
        planned: &mut Option<Duration>,
        due: Option<Duration>,
    ) {
        let due = due.map(|at| at.max(now + SOONEST));
        if *planned != due {
            planned.map(|at| self.datagrams.remove(&(at, participant)));
            due.map(|at| self.datagrams.insert((at, participant)));
            *planned = due;
        }
    }

    /// The participant whose datagrams are due first, if they are by now, and since when.
    pub(super) fn due_datagrams(&mut self, now: Duration) -> Option<(Duration, ParticipantId)> {
        self.datagrams.first().filter(|(at, _)| *at <= now)?;
        self.datagrams.pop_first()
    }

    /// When the next of these times is.
    pub(super) fn next(&self) -> Option<Duration> {
        let datagrams = self.datagrams.first().map(|(at, _)| *at);
        [self.tick, self.turn, self.housekeeping, datagrams].into_iter().flatten().min()
    }
}
