//! The blocks in flight: blocks of the stream that are compressed and not acknowledged by the other
//! end yet.

use alloc::collections::VecDeque;
use core::time::Duration;

/// The most blocks that have an entry, a [`Flight`]. Further blocks are only counted and give no
/// measurement. The limit is generous: the send window holds some dozens of blocks.
const MOST: usize = 1024;

/// A block in flight.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Flight {
    /// The time at which the compression of the block ended.
    pub(super) handed: Duration,
    /// The time from the end of the previous block's compression to `handed`.
    pub(super) interval: Duration,
    /// The part of `interval` that the compression of this block took.
    pub(super) took: Duration,
    /// Whether the block waited for the transport although its data were ready.
    pub(super) held: bool,
    /// Whether no other block was in flight when the codec for this block was chosen.
    pub(super) alone: bool,
    /// The bytes of the block before compression (`plain`) and after it (`wire`).
    pub(super) plain: usize,
    pub(super) wire: usize,
    /// The block's expected decompression time in seconds on the machine of the training run, in
    /// which the codecs were measured; 0 if the block was sent uncompressed.
    pub(super) unpacking: f64,
    /// Whether the block was a probe: compressed only to find out whether compression pays again.
    pub(super) is_probe: bool,
}

/// The blocks in flight, the oldest first.
#[derive(Debug, Clone, Default)]
pub(super) struct Flights {
    known: VecDeque<Flight>,
    /// The number of blocks in flight that have no entry. They are newer than all that have one.
    unknown: u64,
}

impl Flights {
    pub(super) fn push(&mut self, flight: Flight) {
        if self.unknown > 0 || self.known.len() == MOST {
            self.unknown += 1;
        } else {
            self.known.push_back(flight);
        }
    }

    /// Removes the oldest `blocks` blocks and returns those of them that have an entry.
    pub(super) fn take(&mut self, blocks: u32) -> impl Iterator<Item = Flight> {
        let known = self.known.len().min(blocks as usize);
        self.unknown = self.unknown.saturating_sub(u64::from(blocks) - known as u64);
        self.known.drain(..known)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty() && self.unknown == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use alloc::vec::Vec;

    fn flight(nth: usize) -> Flight {
        Flight { plain: nth, ..Flight::default() }
    }

    fn taken(flights: &mut Flights, blocks: u32) -> Vec<usize> {
        flights.take(blocks).map(|flight| flight.plain).collect()
    }

    #[test]
    fn blocks_are_taken_in_order() {
        let mut flights = Flights::default();
        (0..5).for_each(|nth| flights.push(flight(nth)));
        assert_eq!(taken(&mut flights, 2), [0, 1]);
        assert_eq!(taken(&mut flights, 2), [2, 3]);
        assert!(!flights.is_empty());
        assert_eq!(taken(&mut flights, 9), [4]);
        assert!(flights.is_empty());
    }

    #[test]
    fn blocks_beyond_the_limit_are_only_counted() {
        let mut flights = Flights::default();
        (0..MOST + 3).for_each(|nth| flights.push(flight(nth)));
        assert_eq!(taken(&mut flights, 1), [0]);
        // This block is only counted too, because three blocks before it are only counted.
        flights.push(flight(7));
        assert_eq!(taken(&mut flights, MOST as u32).len(), MOST - 1);
        assert!(!flights.is_empty());
        assert_eq!(taken(&mut flights, 3), []);
        assert!(flights.is_empty());
        flights.push(flight(8));
        assert_eq!(taken(&mut flights, 1), [8]);
    }
}
