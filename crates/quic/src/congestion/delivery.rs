//! The rate at which sent bytes arrive at the other end.

use std::time::Duration;

/// The length of a period in which acknowledged bytes are counted: a few acknowledgements of a
/// pointer's packets.
const PERIOD: Duration = Duration::from_millis(250);
/// The number of past periods that are remembered: two seconds, for which a burst of losses may
/// hide the rate of the path. Periods without acknowledgements do not count, so after a pause the
/// remembered ones are older.
const PERIODS: usize = 8;

/// The highest rate at which bytes were acknowledged, over the present period and the remembered
/// ones.
#[derive(Debug, Clone, Default)]
pub(super) struct Delivery {
    began: Duration,
    bytes: u64,
    /// A ring of the bytes that were acknowledged in past periods.
    past: [u64; PERIODS],
    next: usize,
}

impl Delivery {
    pub(super) fn on_acknowledged(&mut self, now: Duration, bytes: u64) {
        if now.saturating_sub(self.began) >= PERIOD {
            self.past[self.next] = self.bytes;
            self.next = (self.next + 1) % PERIODS;
            self.bytes = 0;
            self.began = now;
        }
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// The bytes that arrive in `time` at the highest remembered rate.
    pub(super) fn bytes_in(&self, now: Duration, time: Duration) -> u64 {
        (self.rate(now) * time.as_secs_f64()) as u64
    }

    /// The time in which these bytes arrive at the highest remembered rate.
    pub(super) fn time_of(&self, now: Duration, bytes: u64) -> Duration {
        Duration::try_from_secs_f64(bytes as f64 / self.rate(now)).unwrap_or_default()
    }

    /// The highest remembered rate in bytes per second.
    fn rate(&self, now: Duration) -> f64 {
        let part = now.saturating_sub(self.began).max(PERIOD);
        let best = self.past.iter().copied().max().unwrap_or(0);
        (best as f64 / PERIOD.as_secs_f64()).max(self.bytes as f64 / part.as_secs_f64())
    }
}
