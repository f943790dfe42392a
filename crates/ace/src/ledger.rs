//! The blocks (compressed pieces of the stream) that were sent and not acknowledged yet.

use alloc::collections::VecDeque;
use core::time::Duration;

use crate::frame::Acknowledgement;
use crate::{Delivered, StreamError};

/// The most entries. Each block has an entry, until there are this many; further blocks are merged
/// into the last entry. A peer acknowledges at least every 64 blocks, and some dozens of blocks are
/// sent ahead of the acknowledgements. Only if acknowledgements cannot arrive, because the
/// application does not read, more blocks accumulate.
const MOST: usize = 1024;

/// The weight of a new measurement in the moving average of the bandwidth, which is for display and
/// need not be exact.
const NEWEST: f64 = 0.25;
/// The bandwidth is measured only if the other end waited for bytes for at least this share of the
/// time between two acknowledgements. Otherwise that end was slower than the network.
const WAITED: f64 = 0.1;

/// A block that was sent, or the end of the stream.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sent {
    /// The bytes of the block before compression; 0 for the end of the stream.
    pub(crate) plain: usize,
    /// The bytes of the block on the wire, with the header.
    pub(crate) wire: usize,
    /// The part of the compression time of the block in which the network was idle, in seconds.
    pub(crate) exposed: f64,
}

/// The blocks that the transport has accepted and the other end has not acknowledged.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    entries: VecDeque<Entry>,
    /// The bytes of all entries on the wire.
    wire: usize,
    /// The time of the last acknowledgement.
    last: Option<Duration>,
    bandwidth: f64,
    /// Whether the bandwidth was measured. If not, it is a lower bound.
    is_measured: bool,
    saved: f64,
}

/// One block, or several blocks that were merged.
#[derive(Debug, Clone, Copy)]
struct Entry {
    blocks: u64,
    /// How many of these blocks are in fact the end of the stream, which is acknowledged like a
    /// block.
    ends: u64,
    sent: Sent,
    /// The time at which the transport had accepted the last of the blocks.
    at: Duration,
}

impl Ledger {
    /// Adds a block that the transport has accepted.
    pub(crate) fn push(&mut self, now: Duration, sent: Sent) {
        debug_assert!(
            self.entries.back().is_none_or(|last| last.at <= now),
            "the transport accepts blocks in order"
        );
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

    /// The bytes on the wire that are not acknowledged.
    pub(crate) fn wire(&self) -> usize {
        self.wire
    }

    /// The bandwidth of the network in bytes per second; 0 if unknown.
    pub(crate) fn bandwidth(&self) -> f64 {
        self.bandwidth
    }

    /// The time that compression saved, in seconds.
    pub(crate) fn saved(&self) -> f64 {
        self.saved
    }

    /// The memory of the ledger in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>()
    }

    /// Releases memory if there are no entries.
    pub(crate) fn rest(&mut self) {
        if self.entries.is_empty() {
            self.entries = VecDeque::new();
        }
    }

    /// Removes the oldest blocks, which the other end has acknowledged, and returns the
    /// measurements of these blocks. `None` if the acknowledgement covers only the end of the
    /// stream.
    ///
    /// # Errors
    /// An acknowledgement that does not match the blocks that were sent.
    pub(crate) fn acknowledge(
        &mut self,
        now: Duration,
        acknowledgement: &Acknowledgement,
    ) -> Result<Option<Delivered>, StreamError> {
        let taken = self.take(acknowledgement)?;
        let before = self.last.replace(now);
        let blocks = u32::try_from(taken.blocks - taken.ends).unwrap_or(u32::MAX);
        let delivered = Delivered {
            blocks,
            wire: taken.sent.wire,
            unpacking: acknowledgement.unpacking,
            span: acknowledgement.span,
            waited: acknowledgement.waited,
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

    /// Removes the acknowledged blocks and returns them as one merged entry.
    fn take(&mut self, acknowledgement: &Acknowledgement) -> Result<Entry, StreamError> {
        let wrong = StreamError::Acknowledgement;
        let wire = usize::try_from(acknowledgement.wire).map_err(|_| wrong)?;
        let mut left = wire;
        let sent = Sent { plain: 0, wire, exposed: 0.0 };
        let mut taken = Entry { blocks: 0, ends: 0, sent, at: Duration::ZERO };
        while taken.blocks < acknowledgement.blocks {
            let front = self.entries.front_mut().ok_or(wrong)?;
            let asked = acknowledgement.blocks - taken.blocks;
            taken.at = front.at;
            if front.blocks <= asked {
                left = left.checked_sub(front.sent.wire).ok_or(wrong)?;
                taken.blocks += front.blocks;
                taken.ends += front.ends;
                taken.sent.plain += front.sent.plain;
                taken.sent.exposed += front.sent.exposed;
                self.entries.pop_front();
            } else {
                // Only a part of a merged entry is acknowledged. Its share is estimated, because
                // this end does not know the length of each block.
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

    /// Updates the bandwidth from the measurements of an acknowledgement.
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
            // The network was idle in between, or the other end was slower than the network: this
            // gives no measurement.
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

    fn acknowledgement(blocks: u64, wire: u64) -> Acknowledgement {
        Acknowledgement { blocks, wire, span: MS, waited: MS, ..Acknowledgement::default() }
    }

    #[test]
    fn an_acknowledgement_is_for_the_oldest_blocks() {
        let mut ledger = Ledger::default();
        for nth in 1..=4u32 {
            ledger.push(nth * MS, sent(1000, 104));
        }
        let first = ledger.acknowledge(10 * MS, &acknowledgement(1, 104)).unwrap().unwrap();
        assert_eq!((first.blocks, first.wire, first.round_trip), (1, 104, 9 * MS));
        assert!(!first.backlogged);
        ledger.push(11 * MS, sent(1000, 104));
        let second = ledger.acknowledge(12 * MS, &acknowledgement(3, 312)).unwrap().unwrap();
        assert_eq!((second.blocks, second.round_trip, second.backlogged), (3, 8 * MS, true));
        assert_eq!(ledger.bandwidth(), 312_000.0);
        let third = ledger.acknowledge(13 * MS, &acknowledgement(1, 104)).unwrap().unwrap();
        assert!(third.backlogged, "it was sent before the second acknowledgement arrived");
        assert_eq!(ledger.wire(), 0);
    }

    #[test]
    fn acknowledgements_of_other_blocks_are_refused() {
        for wrong in [
            acknowledgement(0, 0),
            acknowledgement(1, 103),
            acknowledgement(1, 105),
            acknowledgement(1, 208),
            acknowledgement(2, 209),
            acknowledgement(3, 312),
        ] {
            let mut ledger = Ledger::default();
            ledger.push(MS, sent(1000, 104));
            ledger.push(MS, sent(1000, 104));
            let outcome = ledger.acknowledge(2 * MS, &wrong);
            assert_eq!(outcome, Err(StreamError::Acknowledgement), "{wrong:?}");
        }
    }

    #[test]
    fn the_end_gives_no_measurement() {
        let mut ledger = Ledger::default();
        ledger.push(MS, sent(0, 4));
        assert_eq!(ledger.acknowledge(2 * MS, &acknowledgement(1, 4)), Ok(None));
    }

    #[test]
    fn memory_is_bounded_without_acknowledgements() {
        let mut ledger = Ledger::default();
        for _ in 0..10 * MOST {
            ledger.push(MS, sent(1000, 104));
        }
        let memory = ledger.memory();
        assert!(memory < 128 << 10, "{memory}");
        for _ in 0..10 * MOST / 64 {
            ledger.acknowledge(2 * MS, &acknowledgement(64, 64 * 104)).unwrap();
        }
        assert_eq!((ledger.wire(), ledger.entries.len()), (0, 0));
        assert!(ledger.acknowledge(2 * MS, &acknowledgement(1, 104)).is_err());
    }

    #[test]
    fn bytes_that_were_not_sent_save_time() {
        let mut ledger = Ledger::default();
        let late = Sent { exposed: 0.5, ..sent(1_000_104, 104) };
        ledger.push(MS, late);
        ledger.push(MS, sent(1_000_104, 104));
        // 104 bytes arrive in a millisecond, so the bandwidth is 104,000 bytes per second.
        ledger.acknowledge(2 * MS, &acknowledgement(1, 104)).unwrap();
        let saved = ledger.saved();
        assert!((saved - (1e6 / 104e3 - 0.5)).abs() < 1e-6, "{saved}");
        ledger.acknowledge(3 * MS, &acknowledgement(1, 104)).unwrap();
        assert!((ledger.saved() - (2e6 / 104e3 - 0.5)).abs() < 1e-6);
    }
}
