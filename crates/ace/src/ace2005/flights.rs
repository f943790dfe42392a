//! The blocks in flight: compressed and not acknowledged yet.

use alloc::collections::VecDeque;
use core::time::Duration;

/// The most blocks that have a [`Flight`] of their own. Further blocks are only counted and give no measurement. The
/// send window holds some dozens of blocks.
const MOST: usize = 1024;

/// A block in flight.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Flight {
    /// The time at which the block had been compressed.
    pub(super) handed: Duration,
    /// The time since the block before had been compressed.
    pub(super) interval: Duration,
    /// The part of `interval` that its compression took.
    pub(super) took: Duration,
    /// Whether it waited for the transport although data were ready.
    pub(super) held: bool,
    /// Whether no other block was in flight when the codec for this one was chosen.
    pub(super) alone: bool,
    /// Its bytes before and after compression.
    pub(super) plain: usize,
    pub(super) wire: usize,
    /// Its decompression time on the machine of the training run in seconds; 0 if it was sent uncompressed.
    pub(super) unpacking: f64,
    /// Whether it was compressed as a probe.
    pub(super) is_probe: bool,
}

/// The blocks in flight, the oldest first.
#[derive(Debug, Clone, Default)]
pub(super) struct Flights {
    known: VecDeque<Flight>,
    /// The number of newer blocks without an entry.
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
