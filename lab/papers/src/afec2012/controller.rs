//! The controller of the paper (section 3.3.1): the receiver measures the error rate over the
//! newest messages, and asks the sender for one more repeat of each message (NAK) or for one less
//! (DEC).

use std::time::Duration;

/// The settings of the controller.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Controller {
    /// The message error rate below which the sender drops one repeat (DEC).
    pub min: f64,
    /// The message error rate above which the sender adds one repeat (NAK). A message has at most
    /// 32.
    pub max: f64,
    /// The number of newest messages over which the error rate is measured.
    pub window: usize,
    /// The time between two checks of the error rate.
    pub period: Duration,
    /// Whether late messages count as lost. In the paper they do not.
    pub late_counts: bool,
}

impl Default for Controller {
    /// The values of the paper's evaluation (section 4): 5 to 6 % of the last 1000 messages. The
    /// paper does not state the period. Its Figure 10 has four changes of the code set in 1000
    /// packets at 20 % loss, which a period of 13 s gives (10 s: 5.2, 15 s: 3.4). Then the error
    /// rate stays within 4 to 7 % on all loss patterns of the paper, as the paper reports (section
    /// 4.1.3). A shorter period changes the code set many times before the window has forgotten
    /// what was lost under the last one: with 5 s it swings from 0 to 13 repeats, with 1 s from 0
    /// to 32, which a link of 56 kbit/s does not carry in time (measured with `groupwire-lab afec
    /// --part paper --scheme afec-2012@5`, five to ten seeds of 21,000 messages).
    fn default() -> Self {
        let period = Duration::from_secs(13);
        Controller { min: 0.05, max: 0.06, window: 1000, period, late_counts: false }
    }
}

/// The least number of messages between two checks of the error rate. The paper updates "only when
/// there is significant activity" and gives no number. Chosen by judgement; not tuned.
const ACTIVITY: u32 = 10;
/// The least number of messages in the window for a NAK. Chosen by judgement; not tuned.
const FIRST_NAK: usize = 50;
/// The least number of messages in the window for a DEC. Chosen by judgement; not tuned.
const FIRST_DEC: usize = 200;

/// What happened to a message by its deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The message arrived in time.
    Met,
    /// The message arrived after its deadline.
    Late,
    /// The message did not arrive.
    Never,
}

/// The outcomes of the last messages, as a window of fixed length.
#[derive(Debug)]
pub(super) struct Window {
    settings: Controller,
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
    pub(super) fn new(settings: Controller) -> Self {
        let outcomes = vec![false; settings.window.clamp(1, 10_000)];
        Window { settings, outcomes, next: 0, filled: 0, missed: 0, since: 0, look: Duration::ZERO }
    }

    pub(super) fn push(&mut self, outcome: Outcome) {
        let missed = match outcome {
            Outcome::Met => false,
            Outcome::Late => self.settings.late_counts,
            Outcome::Never => true,
        };
        let old = std::mem::replace(&mut self.outcomes[self.next], missed);
        self.missed = self.missed + usize::from(missed)
            - usize::from(old && self.filled == self.outcomes.len());
        self.next = (self.next + 1) % self.outcomes.len();
        self.filled = (self.filled + 1).min(self.outcomes.len());
        self.since = self.since.saturating_add(1);
        debug_assert!(self.missed <= self.filled, "the window counts each missed message once");
    }

    /// When the error rate is checked next. `None` until enough messages arrived.
    pub(super) fn next_look(&self) -> Option<Duration> {
        (self.since >= ACTIVITY).then_some(self.look)
    }

    /// Checks the error rate if it is time. Returns 1 for a NAK (one more repeat), -1 for a DEC
    /// (one repeat less), and `None` for neither.
    pub(super) fn step(&mut self, now: Duration) -> Option<i8> {
        if now < self.look || self.since < ACTIVITY {
            return None;
        }
        self.look = now + self.settings.period;
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
