//! Received packets, and when to acknowledge them.

use std::ops::Range;
use std::time::Duration;

use groupwire_quic::AckFrequency;

use super::ends::USUAL_DELAY;
use super::ranges::Ranges;

/// The acknowledgements unless the other end asks for others: for every second packet, and at once
/// if one is missing (RFC 9000, 13.2), as quinn and Chromium do it.
const USUAL: AckFrequency = AckFrequency { threshold: 1, max_delay: USUAL_DELAY, reordering: 1 };

/// The most ranges of an acknowledgement; older ones are left out.
const MAX_RANGES: usize = 32;

#[derive(Debug)]
pub(super) struct Acks {
    frequency: AckFrequency,
    /// The numbers of all packets that arrived.
    came: Ranges,
    /// Received packets that were not acknowledged yet.
    news: Ranges,
    /// The number of packets that arrived since the last acknowledgement.
    waiting: u32,
    /// The largest number that asked for an acknowledgement, and what it was at the last
    /// acknowledgement.
    largest: Option<u64>,
    told: Option<u64>,
    newest_at: Duration,
    due: Option<Duration>,
}

impl Acks {
    pub(super) fn new() -> Self {
        Acks {
            frequency: USUAL,
            came: Ranges::default(),
            news: Ranges::default(),
            waiting: 0,
            largest: None,
            told: None,
            newest_at: Duration::ZERO,
            due: None,
        }
    }

    pub(super) fn has(&self, number: u64) -> bool {
        self.came.contains(number)
    }

    /// The other end asks for acknowledgements at this frequency.
    pub(super) fn ask(&mut self, frequency: AckFrequency) {
        self.frequency = frequency;
    }

    /// The other end asks for an acknowledgement at once.
    pub(super) fn hurry(&mut self, now: Duration) {
        self.due = Some(now);
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
            self.largest = self.largest.max(Some(number));
            let is_odd = match self.frequency.reordering {
                0 => false,
                1 => number != expected,
                _ => self.shows_a_loss(),
            };
            let at_once = self.waiting > self.frequency.threshold || is_odd;
            let due = if at_once { now } else { now + self.frequency.max_delay };
            self.due = Some(self.due.map_or(due, |before| before.min(due)));
        }
    }

    /// Whether an acknowledgement would tell the other end of a loss that it does not know of (the
    /// draft's section 6.1, as quinn has it).
    fn shows_a_loss(&self) -> bool {
        let later = u64::from(self.frequency.reordering);
        let (Some(told), Some(largest)) = (self.told, self.largest) else { return false };
        if told < later {
            return false;
        }
        self.came.first_missing(told - later + 2) + later <= largest
    }

    pub(super) fn due(&self) -> Option<Duration> {
        self.due
    }

    pub(super) fn is_due(&self, now: Duration) -> bool {
        self.due.is_some_and(|due| due <= now)
    }

    /// The ranges to acknowledge now, if an acknowledgement is due, and the time for which it
    /// waited.
    pub(super) fn take(&mut self, now: Duration) -> Option<(&[Range<u64>], Duration)> {
        self.due.take()?;
        self.waiting = 0;
        self.told = self.largest;
        let all = self.news.as_slice();
        Some((&all[all.len().saturating_sub(MAX_RANGES)..], now - self.newest_at))
    }

    /// The other end has received an acknowledgement of all packets up to this one.
    pub(super) fn seen_up_to(&mut self, largest: u64) {
        self.news.remove(&(0..largest));
    }
}
