//! The message error rate over a window of messages, for the controller of the AFEC paper (2012, section 3.3.1). A NAK
//! asks the sender for one more repeat of each message, a DEC for one less.

use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

use crate::scheme::Afec2012;

/// The least number of messages between two checks of the error rate. The paper updates "only when there is significant
/// activity" and gives no number. Chosen by judgement; not tuned.
const ACTIVITY: u32 = 10;
/// The least number of messages in the window for a NAK. Chosen by judgement; not tuned.
const FIRST_NAK: usize = 50;
/// The least number of messages in the window for a DEC. Chosen by judgement; not tuned.
const FIRST_DEC: usize = 200;

/// What happened to a message by its deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The message, or a newer value of its key, arrived in time.
    Met,
    /// The message arrived after its deadline.
    Late,
    /// The message did not arrive.
    Never,
}

/// The outcomes of the last messages, as a window of fixed length.
#[derive(Debug)]
pub(super) struct Window {
    settings: Afec2012,
    /// A ring with `true` for each missed message.
    outcomes: Vec<bool>,
    /// The index of the next outcome in the ring.
    next: usize,
    /// The number of outcomes in the ring.
    filled: usize,
    /// The number of missed messages in the ring.
    missed: usize,
    /// The number of messages since the error rate was last checked.
    since: u32,
    /// The earliest time at which the error rate is checked again.
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
        debug_assert!(self.missed <= self.filled, "the window counts each missed message once");
    }

    /// Counts `count` messages that never arrived.
    pub(super) fn push_missed(&mut self, count: usize) {
        for _ in 0..count.min(self.outcomes.len()) {
            self.push(Outcome::Never);
        }
    }

    /// When the error rate is checked next. `None` until enough messages arrived.
    pub(super) fn next_look(&self) -> Option<Duration> {
        (self.since >= ACTIVITY).then_some(self.look)
    }

    /// Checks the error rate if it is time. Returns 1 for a NAK (one more repeat), -1 for a DEC (one repeat less), and
    /// `None` for neither.
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

    /// Memory in use, in bytes.
    pub(super) fn memory(&self) -> usize {
        self.outcomes.capacity()
    }
}
