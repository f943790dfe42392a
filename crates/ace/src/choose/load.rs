//! How much slower a processor is than is believed of it.

use core::time::Duration;

/// What is older counts less: by the factor e for each such time, seconds.
const MEMORY: f64 = 0.1;
/// So much work, seconds, is believed to have taken what it should before anything is measured.
const BELIEF: f64 = 50e-6;
/// Without work it is forgotten that a processor was slow: by the factor e for each such time, seconds.
const FORGIVEN: f64 = 1.0;

/// Time that work took and that it should have taken, of late. Sums, so that a rare long pause counts with its length,
/// as it does in what is left of a processor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    took: f64,
    expected: f64,
    at: Duration,
}

impl Default for Load {
    fn default() -> Self {
        Load { took: BELIEF, expected: BELIEF, at: Duration::ZERO }
    }
}

impl Load {
    /// Learns what work took that was expected to take so long, seconds.
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

    /// The same when it was last measured.
    pub(super) fn latest(&self) -> f64 {
        self.took / self.expected
    }

    /// Time that work takes over what it should.
    pub(super) fn factor(&self, now: Duration) -> f64 {
        let passed = now.saturating_sub(self.at).as_secs_f64();
        let factor = self.took / self.expected;
        if passed < MEMORY {
            factor
        } else {
            1.0 + (factor - 1.0) * libm::exp((MEMORY - passed) / FORGIVEN)
        }
    }
}
