//! What arrived, and when to say so.

use std::ops::Range;
use std::time::Duration;

use super::ranges::Ranges;

/// When an end acknowledges what it was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AckPolicy {
    /// At once after so many packets that ask for it.
    pub every: u32,
    /// After so long at the latest.
    pub delay: Duration,
}

impl AckPolicy {
    /// As QUIC has it (RFC 9000, 13.2.2 and 18.2), quinn and Chromium.
    pub const USUAL: AckPolicy = AckPolicy { every: 2, delay: Duration::from_millis(25) };
    /// As an end that knows the extension for it can be asked to (draft-ietf-quic-ack-frequency): most acknowledgements
    /// then ride on packets that go anyway.
    pub const RARE: AckPolicy = AckPolicy { every: 11, delay: Duration::from_millis(100) };
}

/// Ranges of an acknowledgement at most; older ones are left out.
const MAX_RANGES: usize = 32;

#[derive(Debug)]
pub(super) struct Acks {
    policy: AckPolicy,
    /// All that came.
    came: Ranges,
    /// What the other end is not known to have been told.
    news: Ranges,
    /// Since the last acknowledgement.
    waiting: u32,
    newest_at: Duration,
    due: Option<Duration>,
}

impl Acks {
    pub(super) fn new(policy: AckPolicy) -> Self {
        Acks {
            policy,
            came: Ranges::default(),
            news: Ranges::default(),
            waiting: 0,
            newest_at: Duration::ZERO,
            due: None,
        }
    }

    pub(super) fn has(&self, number: u64) -> bool {
        self.came.contains(number)
    }

    pub(super) fn received(&mut self, now: Duration, number: u64, is_eliciting: bool) {
        let expected = self.came.last().map_or(0, |last| last.end);
        let range = number..number + 1;
        self.came.insert(&range);
        self.news.insert(&range);
        if number >= expected {
            self.newest_at = now;
        }
        if is_eliciting {
            self.waiting += 1;
            let at_once = self.waiting >= self.policy.every || number != expected;
            let due = if at_once { now } else { now + self.policy.delay };
            self.due = Some(self.due.map_or(due, |before| before.min(due)));
        }
    }

    pub(super) fn due(&self) -> Option<Duration> {
        self.due
    }

    pub(super) fn is_due(&self, now: Duration) -> bool {
        self.due.is_some_and(|due| due <= now)
    }

    /// What to acknowledge, if there is something, and for how long it waited.
    pub(super) fn take(&mut self, now: Duration) -> Option<(&[Range<u64>], Duration)> {
        self.due.take()?;
        self.waiting = 0;
        let all = self.news.as_slice();
        Some((&all[all.len().saturating_sub(MAX_RANGES)..], now - self.newest_at))
    }

    /// The other end has an acknowledgement of all up to this one.
    pub(super) fn seen_up_to(&mut self, largest: u64) {
        self.news.remove(&(0..largest));
    }
}
