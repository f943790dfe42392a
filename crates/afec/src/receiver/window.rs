//! The message error rate over the last messages, as in the paper (section 3.3.1).

use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

use super::channel::Outcome;
use crate::scheme::Afec2012;

/// Messages judged since the last look, below which nothing changes: "only updated when there is significant activity".
const ACTIVITY: u32 = 10;
/// Messages before the rate says anything.
const FIRST_NAK: usize = 50;
const FIRST_DEC: usize = 200;

/// The outcomes of the last messages, and when to look at them.
#[derive(Debug)]
pub(super) struct Window {
    settings: Afec2012,
    outcomes: Vec<bool>,
    next: usize,
    filled: usize,
    missed: usize,
    since: u32,
    look: Duration,
}

impl Window {
    pub(super) fn new(settings: Afec2012) -> Self {
        let outcomes = vec![false; settings.window.clamp(1, 10_000)];
        Window { settings, outcomes, next: 0, filled: 0, missed: 0, since: 0, look: Duration::ZERO }
    }

    pub(super) fn push(&mut self, outcome: Outcome) {
        let missed = match outcome {
            Outcome::Met => false,
            Outcome::Late => self.settings.late_counts,
            Outcome::Never => true,
        };
        let old = core::mem::replace(&mut self.outcomes[self.next], missed);
        self.missed = self.missed + usize::from(missed)
            - usize::from(old && self.filled == self.outcomes.len());
        self.next = (self.next + 1) % self.outcomes.len();
        self.filled = (self.filled + 1).min(self.outcomes.len());
        self.since = self.since.saturating_add(1);
    }

    /// So many messages never came.
    pub(super) fn push_missed(&mut self, count: usize) {
        for _ in 0..count.min(self.outcomes.len()) {
            self.push(Outcome::Never);
        }
    }

    /// When to look next.
    pub(super) fn next_look(&self) -> Option<Duration> {
        (self.since >= ACTIVITY).then_some(self.look)
    }

    /// NAK is 1, DEC is -1.
    pub(super) fn step(&mut self, now: Duration) -> Option<i8> {
        if now < self.look || self.since < ACTIVITY {
            return None;
        }
        self.look = now + Duration::from_millis(u64::from(self.settings.period_ms));
        self.since = 0;
        let rate = self.missed as f64 / self.filled.max(1) as f64;
        if self.filled >= FIRST_NAK && rate > self.settings.max {
            return Some(1);
        }
        let enough = self.filled >= FIRST_DEC.min(self.outcomes.len());
        (enough && rate < self.settings.min).then_some(-1)
    }

    pub(super) fn memory(&self) -> usize {
        self.outcomes.capacity()
    }
}
