//! How long packets wait in queues, by measured round trips.

use std::time::Duration;

/// The least time for which the smallest round trip is remembered. A route that became longer looks
/// like a queue for that time. The queues of TCP flows drain more often: those of BBR every ten
/// seconds.
const MEMORY: Duration = Duration::from_secs(15);

/// The standing queue is the smallest one within at least this time, or half a round trip if that
/// is longer: schedulers and radio links hold up single packets.
const STANDING: Duration = Duration::from_millis(30);

/// The delay that queues add to a round trip.
#[derive(Debug, Clone, Default)]
pub(super) struct QueueDelay {
    /// The round trip without a queue.
    least: Least,
    /// The least round trip of the last tens of milliseconds.
    standing: Least,
    /// The same with the waits behind packets of the same burst.
    whole: Least,
}

/// The least value of the present period and of the previous one.
#[derive(Debug, Clone, Default)]
struct Least {
    began: Duration,
    present: Option<Duration>,
    before: Option<Duration>,
}

impl QueueDelay {
    /// Notes a round trip, of which the packet waited for `burst` behind others of its own burst.
    /// That is no standing queue.
    pub(super) fn on_round_trip(&mut self, now: Duration, round_trip: Duration, burst: Duration) {
        // At least a microsecond, because the window is computed by dividing by a round trip.
        let round_trip = round_trip.max(Duration::from_micros(1));
        self.least.note(now, round_trip, MEMORY);
        let period = STANDING.max(self.least.value().unwrap_or(round_trip) / 2);
        self.standing.note(now, round_trip.saturating_sub(burst), period);
        self.whole.note(now, round_trip, period);
        debug_assert!(self.standing() <= self.whole(), "a wait within a burst is not subtracted");
        debug_assert!(!self.least().is_zero(), "round trips divide");
    }

    /// Remembers the least round trip from now on for the whole time, because a queue of others
    /// hides it at present.
    pub(super) fn keep_least(&mut self, now: Duration) {
        self.least.before = self.least.value();
        self.least.began = now;
    }

    /// The least round trip: that of the path without a queue. A microsecond until one was
    /// measured.
    pub(super) fn least(&self) -> Duration {
        self.least.value().unwrap_or(Duration::from_micros(1))
    }

    /// The least of the newest round trips, which includes the standing queue.
    pub(super) fn standing(&self) -> Duration {
        self.standing.value().unwrap_or_else(|| self.least()).max(self.least())
    }

    /// The same with the waits behind packets of the same burst.
    pub(super) fn whole(&self) -> Duration {
        self.whole.value().unwrap_or_else(|| self.least()).max(self.least())
    }

    /// The delay of the standing queue, which did not drain during the newest round trips.
    pub(super) fn queue(&self) -> Duration {
        self.standing() - self.least()
    }
}

impl Least {
    fn note(&mut self, now: Duration, value: Duration, period: Duration) {
        let passed = now.saturating_sub(self.began);
        if passed >= period {
            self.before = self.present.take().filter(|_| passed < 2 * period);
            self.began = now;
        }
        self.present = Some(self.present.map_or(value, |least| least.min(value)));
    }

    fn value(&self) -> Option<Duration> {
        self.present.into_iter().chain(self.before).min()
    }
}
