//! The target ratio (compressed to original size), which is lowered until messages take too long to
//! compress (section 4.1.1 of the paper). A template is an earlier message, with which similar ones
//! are compressed.

use core::time::Duration;

/// A message that no template compresses below the target becomes a template. So a low target makes
/// more templates, and each costs time for every message. Each message that was compressed fast
/// enough lowers the target a little.
#[derive(Debug)]
pub(super) struct TargetRatio {
    start: u32,
    current: u32,
    budget: Duration,
}

/// The number of steps from the first target to zero. The paper states no number: a thousand
/// messages are half a minute of one user's telepointer.
const STEPS: u32 = 1000;

impl TargetRatio {
    /// Starts at `start` ten-thousandths. `budget` is the time that a message may take.
    pub(super) fn new(start: u32, budget: Duration) -> Self {
        Self { start, current: start, budget }
    }

    /// Whether `compressed` bytes for `original` bytes are fewer than the target allows.
    pub(super) fn is_met(&self, compressed: usize, original: usize) -> bool {
        (compressed as u64) * 10_000 < u64::from(self.current) * (original as u64)
    }

    /// Notes the time that the last message took. If that is above the budget, the target rises
    /// again by one step, so that it follows the load of the machine.
    pub(super) fn took(&mut self, time: Duration) {
        let step = self.start.div_ceil(STEPS);
        self.current = if time > self.budget {
            (self.current + step).min(self.start)
        } else {
            self.current.saturating_sub(step)
        };
    }

    /// The target ratio in ten-thousandths.
    pub(super) fn current(&self) -> u32 {
        self.current
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn target_falls_within_the_budget_and_rises_above_it() {
        let mut target = TargetRatio::new(3000, Duration::from_millis(2));
        for _ in 0..100 {
            target.took(Duration::from_millis(2));
        }
        assert_eq!(target.current(), 2700);
        target.took(Duration::from_micros(2001));
        assert_eq!(target.current(), 2703);
        for _ in 0..2000 {
            target.took(Duration::from_secs(1));
        }
        assert_eq!(target.current(), 3000);
        for _ in 0..2000 {
            target.took(Duration::ZERO);
        }
        assert_eq!(target.current(), 0);
    }

    #[test]
    fn meeting_the_target_is_being_below_it() {
        let target = TargetRatio::new(3000, Duration::ZERO);
        assert!(target.is_met(29, 100));
        assert!(!target.is_met(30, 100));
        assert!(!target.is_met(0, 0));
    }
}
