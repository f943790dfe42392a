//! What was sent and not yet spoken of by the other end.

use alloc::collections::VecDeque;
use core::time::Duration;

use crate::frame::Acknowledgement;
use crate::{Delivered, StreamError};

/// A peer speaks of 64 blocks at the latest, and a window holds some dozens of usual size. Beyond this, as when the
/// peer's words cannot come because our application does not read, the latest are counted together.
const MOST: usize = 1024;

/// The newest measurement counts for so much of the average.
const NEWEST: f64 = 0.25;
/// Who waits for less of its time was not slowed by the network.
const WAITED: f64 = 0.1;

/// A block on its way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sent {
    /// Octets of the application; 0 for the end of the stream.
    pub(crate) plain: usize,
    /// Octets on the wire, with the header.
    pub(crate) wire: usize,
    /// Time of packing in which the network had nothing else to do, seconds.
    pub(crate) exposed: f64,
}

/// The blocks that the transport took and the other end has not yet spoken of.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    entries: VecDeque<Entry>,
    /// Octets of all of them on the wire.
    wire: usize,
    /// When the last word came.
    last: Option<Duration>,
    bandwidth: f64,
    /// Whether the bandwidth was measured, and is not only what the network carried at least.
    is_measured: bool,
    saved: f64,
}

/// One block, or several that are counted together.
#[derive(Debug, Clone, Copy)]
struct Entry {
    blocks: u64,
    /// Of these, ends of the stream.
    ends: u64,
    sent: Sent,
    /// When the transport had taken the last of them.
    at: Duration,
}

impl Ledger {
    /// The transport has taken a block.
    pub(crate) fn push(&mut self, now: Duration, sent: Sent) {
        self.wire += sent.wire;
        let ends = u64::from(sent.plain == 0);
        if self.entries.len() >= MOST
            && let Some(last) = self.entries.back_mut()
        {
            last.blocks += 1;
            last.ends += ends;
            last.sent.plain += sent.plain;
            last.sent.wire += sent.wire;
            last.sent.exposed += sent.exposed;
            last.at = now;
            return;
        }
        self.entries.push_back(Entry { blocks: 1, ends, sent, at: now });
    }

    /// Octets on the wire that the other end has not yet spoken of.
    pub(crate) fn wire(&self) -> usize {
        self.wire
    }

    /// What the network carries, octets per second; 0: not known.
    pub(crate) fn bandwidth(&self) -> f64 {
        self.bandwidth
    }

    /// Time saved, seconds.
    pub(crate) fn saved(&self) -> f64 {
        self.saved
    }

    /// Octets of memory.
    pub(crate) fn memory(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>()
    }

    /// Gives back memory if there is nothing in it.
    pub(crate) fn rest(&mut self) {
        if self.entries.is_empty() {
            self.entries = VecDeque::new();
        }
    }

    /// The other end speaks of the oldest blocks. `None`: of nothing but the end.
    ///
    /// # Errors
    /// If they were never sent, or were others.
    pub(crate) fn acknowledge(
        &mut self,
        now: Duration,
        word: &Acknowledgement,
    ) -> Result<Option<Delivered>, StreamError> {
        let taken = self.take(word)?;
        let before = self.last.replace(now);
        let blocks = u32::try_from(taken.blocks - taken.ends).unwrap_or(u32::MAX);
        let delivered = Delivered {
            blocks,
            wire: taken.sent.wire,
            unpacking: word.unpacking,
            span: word.span,
            waited: word.waited,
            round_trip: now.saturating_sub(taken.at),
            backlogged: before.is_some_and(|before| taken.at <= before),
        };
        self.measure(&delivered);
        if self.bandwidth > 0.0 {
            let less = taken.sent.plain as f64 - taken.sent.wire as f64;
            self.saved += less / self.bandwidth;
        }
        self.saved -= taken.sent.exposed;
        Ok((blocks > 0).then_some(delivered))
    }

    /// Takes out what the word is about.
    fn take(&mut self, word: &Acknowledgement) -> Result<Entry, StreamError> {
        let wrong = StreamError::Acknowledgement;
        let wire = usize::try_from(word.wire).map_err(|_| wrong)?;
        let mut left = wire;
        let sent = Sent { plain: 0, wire, exposed: 0.0 };
        let mut taken = Entry { blocks: 0, ends: 0, sent, at: Duration::ZERO };
        while taken.blocks < word.blocks {
            let front = self.entries.front_mut().ok_or(wrong)?;
            let asked = word.blocks - taken.blocks;
            taken.at = front.at;
            if front.blocks <= asked {
                left = left.checked_sub(front.sent.wire).ok_or(wrong)?;
                taken.blocks += front.blocks;
                taken.ends += front.ends;
                taken.sent.plain += front.sent.plain;
                taken.sent.exposed += front.sent.exposed;
                self.entries.pop_front();
            } else {
                // Some of those that are counted together: how long each was is known to the other end only.
                let share = asked as f64 / front.blocks as f64;
                let plain = (front.sent.plain as f64 * share) as usize;
                front.sent.wire = front.sent.wire.checked_sub(left).ok_or(wrong)?;
                front.sent.plain -= plain;
                front.blocks -= asked;
                taken.sent.plain += plain;
                taken.blocks += asked;
                left = 0;
            }
        }
        if taken.blocks == 0 || left != 0 {
            return Err(wrong);
        }
        self.wire -= wire;
        Ok(taken)
    }

    /// Follows what the network carries.
    fn measure(&mut self, delivered: &Delivered) {
        let seconds = delivered.span.as_secs_f64();
        if seconds <= 0.0 {
            return;
        }
        let rate = delivered.wire as f64 / seconds;
        let waited = delivered.waited.as_secs_f64() >= seconds * WAITED;
        match (delivered.backlogged && waited, self.is_measured) {
            (true, true) => self.bandwidth += (rate - self.bandwidth) * NEWEST,
            (true, false) => (self.bandwidth, self.is_measured) = (rate, true),
            (false, false) => self.bandwidth = rate.max(self.bandwidth),
            // There was less to carry, or the other end was too slow, or took what had waited for it.
            (false, true) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn sent(plain: usize, wire: usize) -> Sent {
        Sent { plain, wire, exposed: 0.0 }
    }

    fn word(blocks: u64, wire: u64) -> Acknowledgement {
        Acknowledgement { blocks, wire, span: MS, waited: MS, ..Acknowledgement::default() }
    }

    #[test]
    fn a_word_is_about_the_oldest_blocks() {
        let mut ledger = Ledger::default();
        for nth in 1..=4u32 {
            ledger.push(nth * MS, sent(1000, 104));
        }
        let first = ledger.acknowledge(10 * MS, &word(1, 104)).unwrap().unwrap();
        assert_eq!((first.blocks, first.wire, first.round_trip), (1, 104, 9 * MS));
        assert!(!first.backlogged);
        ledger.push(11 * MS, sent(1000, 104));
        let second = ledger.acknowledge(12 * MS, &word(3, 312)).unwrap().unwrap();
        assert_eq!((second.blocks, second.round_trip, second.backlogged), (3, 8 * MS, true));
        assert_eq!(ledger.bandwidth(), 312_000.0);
        let third = ledger.acknowledge(13 * MS, &word(1, 104)).unwrap().unwrap();
        assert!(third.backlogged, "it was sent before the second word came");
        assert_eq!(ledger.wire(), 0);
    }

    #[test]
    fn what_was_never_sent_is_refused() {
        for wrong in
            [word(0, 0), word(1, 103), word(1, 105), word(1, 208), word(2, 209), word(3, 312)]
        {
            let mut ledger = Ledger::default();
            ledger.push(MS, sent(1000, 104));
            ledger.push(MS, sent(1000, 104));
            let outcome = ledger.acknowledge(2 * MS, &wrong);
            assert_eq!(outcome, Err(StreamError::Acknowledgement), "{wrong:?}");
        }
    }

    #[test]
    fn the_end_is_no_block() {
        let mut ledger = Ledger::default();
        ledger.push(MS, sent(0, 4));
        assert_eq!(ledger.acknowledge(2 * MS, &word(1, 4)), Ok(None));
    }

    #[test]
    fn memory_is_bounded_however_long_the_other_end_is_silent() {
        let mut ledger = Ledger::default();
        for _ in 0..10 * MOST {
            ledger.push(MS, sent(1000, 104));
        }
        let memory = ledger.memory();
        assert!(memory < 128 << 10, "{memory}");
        for _ in 0..10 * MOST / 64 {
            ledger.acknowledge(2 * MS, &word(64, 64 * 104)).unwrap();
        }
        assert_eq!((ledger.wire(), ledger.entries.len()), (0, 0));
        assert!(ledger.acknowledge(2 * MS, &word(1, 104)).is_err());
    }

    #[test]
    fn time_is_saved_by_what_did_not_travel() {
        let mut ledger = Ledger::default();
        let late = Sent { exposed: 0.5, ..sent(1_000_104, 104) };
        ledger.push(MS, late);
        ledger.push(MS, sent(1_000_104, 104));
        // 104 octets in a millisecond.
        ledger.acknowledge(2 * MS, &word(1, 104)).unwrap();
        let saved = ledger.saved();
        assert!((saved - (1e6 / 104e3 - 0.5)).abs() < 1e-6, "{saved}");
        ledger.acknowledge(3 * MS, &word(1, 104)).unwrap();
        assert!((ledger.saved() - (2e6 / 104e3 - 0.5)).abs() < 1e-6);
    }
}
