//! The times at which the room has to do something without an input.

use alloc::collections::BTreeSet;
use core::time::Duration;

use super::log::Cursor;
use crate::{Order, ParticipantId, Position, Qos};

/// Silence, stalls and absences are checked this often: often enough to notice a dead peer "within
/// 6 s" (wire W35).
pub(super) const HOUSEKEEPING: Duration = Duration::from_millis(250);

/// Frames that are not urgent wait at most this long for a tick: a packet of their own costs the
/// headers of IP, UDP and QUIC, and an acknowledgement. The time is a little longer than the usual
/// interval between ticks.
const SHARES_TICK: Duration = Duration::from_millis(50);

/// For this time after a tick, another tick is expected even if none is planned.
const BUSY: Duration = Duration::from_millis(100);

/// A tick may come earlier by the interval divided by this, so that repeats share its packets.
const EARLIER: u32 = 4;

/// Frames of sound are sent at most this often, though they do not wait for ticks: half of the
/// length of a frame, so that those of several speakers share packets and none waits longer than
/// this.
const FRAMES_EVERY: Duration = Duration::from_millis(10);

/// Datagrams are planned at least this far ahead: timers need no finer resolution than
/// milliseconds.
const SOONEST: Duration = Duration::from_millis(1);

/// See the [module](self).
#[derive(Debug)]
pub(super) struct Timers {
    /// The shortest time between two ticks, as the room is configured.
    configured: Duration,
    /// The shortest time between two ticks unless they are spaced: the configured one, but half of
    /// it in a mirror, whose room sends it a batch at each of its own ticks.
    least: Duration,
    /// The shortest time between two ticks at present.
    interval: Duration,
    /// The next tick.
    pub(super) tick: Option<Duration>,
    pub(super) last_tick: Option<Duration>,
    /// The end of the log at the last tick: participants may be sent messages up to there.
    pub(super) released: Cursor,
    /// The position of the newest transaction at the last tick.
    pub(super) head: Position,
    /// While the due tick waits for the store: since when, and for which position to become
    /// durable.
    pub(super) waiting: Option<(Duration, Position)>,
    /// When frames of sound are sent next, and when they were sent last (wire W119).
    pub(super) frames: Option<Duration>,
    last_frames: Option<Duration>,
    /// When values that a rate limit holds back may be sent next.
    pub(super) turn: Option<Duration>,
    pub(super) housekeeping: Option<Duration>,
    /// When datagrams to single participants are due between ticks: repeats, acknowledgements and
    /// reports.
    datagrams: BTreeSet<(Duration, ParticipantId)>,
    /// True once datagrams were planned: only where there are some, waiting for a tick saves
    /// packets.
    has_datagrams: bool,
}

impl Timers {
    pub(super) fn new(interval: Duration) -> Self {
        Timers {
            configured: interval,
            least: interval,
            interval,
            tick: None,
            last_tick: None,
            released: Cursor::default(),
            head: Position(0),
            waiting: None,
            frames: None,
            last_frames: None,
            turn: None,
            housekeeping: None,
            datagrams: BTreeSet::new(),
            has_datagrams: false,
        }
    }

    /// Lets ticks follow those of another room, which come as often, though not at even times.
    pub(super) fn follow(&mut self) {
        self.least = self.configured / 2;
        self.interval = self.least;
    }

    /// Plans a tick because there is something to send: now, or one interval after the last tick if
    /// that is later.
    pub(super) fn schedule_tick(&mut self, now: Duration) {
        let earliest = self.last_tick.map_or(now, |last| last + self.interval);
        self.tick_at(earliest.max(now));
    }

    /// Plans to send frames of sound: now, or [`FRAMES_EVERY`] after the last ones if that is
    /// later.
    pub(super) fn schedule_frames(&mut self, now: Duration) {
        let earliest = self.last_frames.map_or(now, |last| last + FRAMES_EVERY);
        self.frames.get_or_insert(earliest.max(now));
    }

    /// Frames of sound are sent now.
    pub(super) fn frames_sent(&mut self, now: Duration) {
        (self.frames, self.last_frames) = (None, Some(now));
    }

    /// Lets the next tick come now, if it is planned soon and datagrams between ticks are due. They
    /// are mostly repeats, due at the last moment at which they are useful. So a packet carries
    /// both, and the next ticks come at better moments: a value that is sent early in its time has
    /// its next value, or its repeat, in the packet of the next tick.
    pub(super) fn hurry_tick(&mut self, now: Duration) {
        let is_due = self.datagrams.first().is_some_and(|(at, _)| *at <= now);
        if is_due && self.tick.is_some_and(|tick| tick <= now + self.interval / EARLIER) {
            self.tick = Some(now);
        }
    }

    /// Plans a tick at this time or earlier.
    pub(super) fn tick_at(&mut self, at: Duration) {
        self.tick = Some(self.tick.map_or(at, |planned| planned.min(at)));
    }

    /// Plans a tick at once, unless one is planned, because the others have to be sent that a
    /// participant left.
    pub(super) fn tick_for_leaver(&mut self) {
        self.tick.get_or_insert(self.last_tick.unwrap_or_default());
    }

    /// Sets the shortest time between two ticks, if that is longer than the configured one.
    pub(super) fn space_ticks(&mut self, interval: Duration) {
        self.interval = interval.max(self.least);
    }

    /// The order after which the log keeps up to two values of each key of a channel with this QoS;
    /// `None` if it keeps only the newest one.
    pub(super) fn pairs_after(&self, qos: &Qos) -> Option<Order> {
        qos.outruns(self.configured).then_some(self.released.awareness)
    }

    pub(super) fn begin_housekeeping(&mut self, now: Duration) {
        self.housekeeping.get_or_insert(now + HOUSEKEEPING);
    }

    /// True if a tick is expected soon, so that what can wait may share its packets. If none comes,
    /// housekeeping sends it.
    pub(super) fn expects_tick(&self, now: Duration) -> bool {
        let is_busy = |last: Duration| last < now && now <= last + BUSY;
        let is_cared_for = self.housekeeping.is_some_and(|due| now < due);
        let is_expected = self.tick.is_some_and(|tick| tick <= now + SHARES_TICK)
            || (is_cared_for && self.last_tick.is_some_and(is_busy));
        self.has_datagrams && is_expected
    }

    /// The time of the next housekeeping: after a tick that is expected soon, so that what both
    /// send shares packets.
    pub(super) fn next_housekeeping(&self) -> Option<Duration> {
        let due = self.housekeeping?;
        let latest = due + SHARES_TICK;
        Some(match (self.tick, self.last_tick) {
            _ if !self.has_datagrams => due,
            (_, Some(last)) if last >= due => due,
            (Some(tick), _) if tick <= latest => tick.max(due),
            (None, Some(last)) if due <= last + BUSY => latest,
            _ => due,
        })
    }

    /// Moves the time at which a participant's datagrams are due to `due`. `planned`: the
    /// connection's copy of that time, which is updated.
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
            self.has_datagrams |= due.is_some();
            *planned = due;
        }
    }

    /// Removes and returns the participant whose datagrams are due first, with their time; `None`
    /// if no datagrams are due by now.
    pub(super) fn due_datagrams(&mut self, now: Duration) -> Option<(Duration, ParticipantId)> {
        self.datagrams.first().filter(|(at, _)| *at <= now)?;
        self.datagrams.pop_first()
    }

    /// The earliest of all planned times.
    pub(super) fn next(&self) -> Option<Duration> {
        let datagrams = self.datagrams.first().map(|(at, _)| *at);
        [self.tick, self.frames, self.turn, self.next_housekeeping(), datagrams]
            .into_iter()
            .flatten()
            .min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn housekeeping_waits_for_a_tick_that_is_expected_soon() {
        let mut timers = Timers { has_datagrams: true, ..Timers::new(MS * 40) };
        timers.begin_housekeeping(MS * 1000);
        assert_eq!(timers.next_housekeeping(), Some(MS * 1250));
        timers.tick_at(MS * 1330);
        assert_eq!(timers.next_housekeeping(), Some(MS * 1250));
        timers.tick_at(MS * 1280);
        assert_eq!((timers.next_housekeeping(), timers.next()), (Some(MS * 1280), Some(MS * 1280)));
        // A tick before that, and none is planned.
        (timers.tick, timers.last_tick) = (None, Some(MS * 1200));
        assert_eq!(timers.next_housekeeping(), Some(MS * 1300));
        timers.last_tick = Some(MS * 1100);
        assert_eq!(timers.next_housekeeping(), Some(MS * 1250));
        // The tick that it waited for.
        timers.last_tick = Some(MS * 1280);
        assert_eq!(timers.next_housekeeping(), Some(MS * 1250));
    }

    #[test]
    fn a_tick_comes_a_little_earlier_for_datagrams_that_are_due() {
        let mut timers = Timers { last_tick: Some(MS * 1000), ..Timers::new(MS * 40) };
        timers.schedule_tick(MS * 1020);
        timers.plan_datagrams(MS * 1000, ParticipantId(1), &mut None, Some(MS * 1031));
        timers.hurry_tick(MS * 1030);
        assert_eq!(timers.tick, Some(MS * 1040));
        timers.hurry_tick(MS * 1031);
        assert_eq!(timers.tick, Some(MS * 1031));
        // Not much earlier, and not if there is nothing to send at a tick.
        timers.tick = Some(MS * 1042);
        timers.hurry_tick(MS * 1031);
        assert_eq!(timers.tick, Some(MS * 1042));
        timers.tick = None;
        timers.hurry_tick(MS * 1031);
        assert_eq!(timers.tick, None);
    }

    #[test]
    fn answers_wait_for_ticks_that_follow_each_other_until_housekeeping() {
        let mut timers = Timers { has_datagrams: true, ..Timers::new(MS * 40) };
        timers.begin_housekeeping(MS * 1000);
        assert!(!timers.expects_tick(MS * 1000));
        timers.tick_at(MS * 1040);
        assert!(timers.expects_tick(MS * 1000) && !timers.expects_tick(MS * 980));
        (timers.tick, timers.last_tick) = (None, Some(MS * 1040));
        assert_eq!(
            [1040, 1041, 1140, 1141].map(|ms| timers.expects_tick(MS * ms)),
            [false, true, true, false]
        );
        timers.last_tick = Some(MS * 1240);
        assert_eq!([1249, 1250].map(|ms| timers.expects_tick(MS * ms)), [true, false]);
    }
}
