//! The growth and the reduction of the window: CUBIC (RFC 9438), with Linux's numbers.

use std::time::Duration;

/// The share of the window that is left after a loss.
const BETA: f64 = 717.0 / 1024.0;
/// The factor of the cubic function, in segments per second cubed.
const C: f64 = 0.4;
/// The window grows by at most one segment for this number of segments that arrive.
const LEAST_COUNT: f64 = 2.0;
/// The least window of a path that loses.
const LEAST: u32 = 2;

/// The state of CUBIC.
#[derive(Debug, Clone, Default)]
pub(super) struct Cubic {
    /// The window at the last loss, in segments.
    last_max: f64,
    epoch: Option<Epoch>,
    /// Acknowledged segments that count towards the next segment of growth.
    credit: f64,
}

/// The time since the last loss.
#[derive(Debug, Clone)]
struct Epoch {
    start: Duration,
    /// The plateau of the cubic function: the window `origin`, which is reached `after` seconds.
    origin: f64,
    after: f64,
    /// The window of a Reno that shares the path fairly.
    friendly: f64,
}

impl Cubic {
    /// Reduces the window after a loss. Returns the new threshold of slow start.
    pub(super) fn lost(&mut self, window: u32) -> u32 {
        let window = f64::from(window);
        // A flow that loses again before it has reached its last window leaves room for others
        // (fast convergence).
        self.last_max = if window < self.last_max { window * (1.0 + BETA) / 2.0 } else { window };
        self.epoch = None;
        ((window * BETA) as u32).max(LEAST)
    }

    /// A timeout resets the state.
    pub(super) fn reset(&mut self) {
        *self = Cubic::default();
    }

    /// Returns by how many segments the window grows when `arrived` segments were acknowledged.
    pub(super) fn grow(&mut self, now: Duration, rtt: Duration, window: u32, arrived: u32) -> u32 {
        let (window, arrived) = (f64::from(window), f64::from(arrived));
        let last_max = self.last_max;
        let epoch = self.epoch.get_or_insert_with(|| Epoch {
            start: now,
            origin: last_max.max(window),
            after: ((last_max - window).max(0.0) / C).cbrt(),
            friendly: window,
        });
        let time = (now + rtt - epoch.start).as_secs_f64() - epoch.after;
        let target = epoch.origin + C * time.powi(3);
        // RFC 9438, 4.3: as fast as a Reno that leaves less after each loss.
        epoch.friendly += 3.0 * (1.0 - BETA) / (1.0 + BETA) * arrived / window;
        let wanted = (target.max(epoch.friendly) - window).max(0.01);
        self.credit += arrived / (window / wanted).max(LEAST_COUNT);
        let more = self.credit as u32;
        self.credit -= f64::from(more);
        more
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn the_window_shrinks_to_seven_tenths_and_is_back_after_some_seconds() {
        let mut cubic = Cubic::default();
        let mut window = cubic.lost(100);
        assert_eq!((window, cubic.last_max), (70, 100.0));
        let rtt = 100 * MS;
        // The cube root of 30 / 0.4: after 4.2 s the window is what it was.
        for trip in 0..42 {
            window += (0..window).map(|_| cubic.grow(100 * MS * trip, rtt, window, 1)).sum::<u32>();
        }
        assert!((95..=105).contains(&window), "{window}");
        assert_eq!(Cubic { last_max: 100.0, ..Cubic::default() }.lost(3), 2);
    }
}
