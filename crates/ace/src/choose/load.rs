//! The load of a processor: the duration of work divided by the duration that is expected without
//! other programs.

use core::time::Duration;

/// The time constant, in seconds, with which old measurements lose their weight.
const MEMORY: f64 = 0.1;
/// The initial value of both sums in seconds: as if this much work had been measured, without load.
const PRIOR: f64 = 50e-6;
/// The time constant, in seconds, with which the load returns to 1 while nothing is measured.
const DECAY: f64 = 1.0;

/// Sums of the duration of work and of its expected duration. Old measurements lose weight
/// exponentially. Because durations are summed, a rare long pause counts with its length.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    took: f64,
    expected: f64,
    at: Duration,
}

impl Default for Load {
    fn default() -> Self {
        Load { took: PRIOR, expected: PRIOR, at: Duration::ZERO }
    }
}

impl Load {
    /// Learns from a piece of work: the time that it took and the time that was expected, in
    /// seconds.
    pub(super) fn learn(&mut self, now: Duration, took: f64, expected: f64) {
        if expected <= 0.0 {
            return;
        }
        let passed = now.saturating_sub(self.at).as_secs_f64();
        let kept = libm::exp(-passed / MEMORY);
        let factor = self.factor(now);
        self.expected = self.expected * kept + expected;
        self.took = factor * (self.expected - expected) + took;
        self.at = now;
    }

    /// The load at the last measurement.
    pub(super) fn latest(&self) -> f64 {
        self.took / self.expected
    }

    /// The load at `now`.
    pub(super) fn factor(&self, now: Duration) -> f64 {
        let passed = now.saturating_sub(self.at).as_secs_f64();
        let factor = self.took / self.expected;
        if passed < MEMORY {
            factor
        } else {
            1.0 + (factor - 1.0) * libm::exp((MEMORY - passed) / DECAY)
        }
    }
}
