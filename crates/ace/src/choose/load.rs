//! The load of a processor: how much slower it is than expected.

use core::time::Duration;

/// The time constant of the exponential forgetting of measurements, in seconds.
const MEMORY: f64 = 0.1;
/// The initial value of both sums in seconds, as if that much work without load had been measured.
const PRIOR: f64 = 50e-6;
/// The time constant with which the load decays towards 1 without measurements, in seconds.
const DECAY: f64 = 1.0;

/// Sums of the duration of work and of its expected duration, with exponential forgetting. Because they are sums, a rare
/// long pause counts with its length.
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
    /// Learns the duration of work and its expected duration, in seconds.
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

    /// The load at `now`: the duration of work divided by its expected duration.
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
