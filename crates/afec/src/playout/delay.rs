//! The playout delay as a function of time.

use core::time::Duration;

/// The fastest growth of the delay per second: 1/2, so that messages are played at half speed. It is fast because messages are late
/// until the delay has grown, which looks worse. Chosen by judgement; not tuned.
pub const RISE: f64 = 1.0 / RISE_DIVISOR as f64;

/// The fastest decrease of the delay per second: 1/20, so that messages are played 5 % too fast, which users do not notice. Chosen
/// by judgement; not tuned.
pub const FALL: f64 = 1.0 / FALL_DIVISOR as f64;

const RISE_DIVISOR: u32 = 2;
const FALL_DIVISOR: u32 = 20;

const NANO: Duration = Duration::from_nanos(1);

/// A delay that moves from one value to another at a limited rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PlayoutDelay {
    /// When the change began.
    since: Duration,
    /// The delay at that time.
    from: Duration,
    /// The delay at the end of the change.
    to: Duration,
}

impl PlayoutDelay {
    /// A constant delay.
    pub(super) fn new(delay: Duration) -> Self {
        PlayoutDelay { since: Duration::ZERO, from: delay, to: delay }
    }

    /// Changes towards `target` from now on.
    pub(super) fn steer(&mut self, now: Duration, target: Duration) {
        if target != self.to {
            *self = PlayoutDelay { since: now, from: self.at(now), to: target };
        }
    }

    /// The delay at the end of the change.
    pub(super) fn target(&self) -> Duration {
        self.to
    }

    /// The delay at `now`, which is not before the change began.
    pub(super) fn at(&self, now: Duration) -> Duration {
        let passed = now.saturating_sub(self.since);
        if self.from < self.to {
            self.to.min(self.from.saturating_add(passed / RISE_DIVISOR))
        } else {
            self.to.max(self.from.saturating_sub(passed / FALL_DIVISOR))
        }
    }

    /// The first moment since the change began at which a message of this origin is at least as old as the delay.
    pub(super) fn due(&self, origin: Duration) -> Duration {
        // First for a constant delay, then with the change.
        let left = origin.saturating_add(self.from).saturating_sub(self.since);
        let passed = if self.from < self.to {
            // passed - min(passed / 2, rise) >= left
            let all = left.saturating_add(self.to - self.from);
            all.min(left.saturating_mul(RISE_DIVISOR))
        } else {
            // passed + min(passed / 20, fall) >= left
            let all = left.saturating_sub(self.from - self.to);
            // The division in `at` rounds down, and so does this one.
            let moving = left.saturating_mul(FALL_DIVISOR) / (FALL_DIVISOR + 1);
            all.max(moving.saturating_add(2 * NANO).min(left))
        };
        self.since.saturating_add(passed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn it_rises_by_half_a_second_per_second_and_falls_by_a_twentieth() {
        let mut delay = PlayoutDelay::new(ms(100));
        delay.steer(ms(1000), ms(200));
        let seen = [1000, 1100, 1199, 1200, 5000].map(|now| delay.at(ms(now)).as_micros());
        assert_eq!(seen, [100_000, 150_000, 199_500, 200_000, 200_000]);
        delay.steer(ms(5000), ms(150));
        let seen = [5000, 5100, 6000, 9000].map(|now| delay.at(ms(now)).as_micros());
        assert_eq!(seen, [200_000, 195_000, 150_000, 150_000]);
    }

    #[test]
    fn due_is_the_first_moment_to_the_nanosecond() {
        for (from, to) in [(100, 100), (100, 170), (170, 100), (0, 33), (33, 0)] {
            let mut delay = PlayoutDelay::new(ms(from));
            delay.steer(ms(1000), ms(to));
            for origin in (950_000_000..1_200_000_000).step_by(999_983) {
                let origin = Duration::from_nanos(origin);
                let is_due = |at: Duration| origin + delay.at(at) <= at;
                let due = delay.due(origin);
                assert!(is_due(due), "{from} to {to}, {origin:?}: not at {due:?}");
                let before = due - 3 * NANO;
                assert!(before < ms(1000) || !is_due(before), "{from} to {to}: {due:?} is late");
            }
        }
    }
}
