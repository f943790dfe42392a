//! The blocks that were packed and of which the other end has not spoken yet.

use alloc::collections::VecDeque;
use core::time::Duration;

/// So many are remembered. Those beyond are in flight all the same, but nothing is learned from them.
const MOST: usize = 1024;

/// A block under way.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Flight {
    /// When it was packed.
    pub(super) handed: Duration,
    /// The time since the block before it was packed.
    pub(super) interval: Duration,
    /// Of that, what packing took.
    pub(super) took: Duration,
    /// Whether it waited for the transport although there was something to send.
    pub(super) held: bool,
    /// Whether nothing else was in flight.
    pub(super) alone: bool,
    pub(super) plain: usize,
    pub(super) wire: usize,
    /// What unpacking it would take on the machine of the training run, seconds; 0 if it was sent as it is.
    pub(super) unpacking: f64,
    /// Whether it was compressed only to see whether that pays.
    pub(super) is_probe: bool,
}

/// Blocks under way, the oldest first.
#[derive(Debug, Clone, Default)]
pub(super) struct Flights {
    known: VecDeque<Flight>,
    /// Newer ones that were not remembered.
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

    /// The oldest so many: those of them that are remembered.
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
    fn they_come_in_order() {
        let mut flights = Flights::default();
        (0..5).for_each(|nth| flights.push(flight(nth)));
        assert_eq!(taken(&mut flights, 2), [0, 1]);
        assert_eq!(taken(&mut flights, 2), [2, 3]);
        assert!(!flights.is_empty());
        assert_eq!(taken(&mut flights, 9), [4]);
        assert!(flights.is_empty());
    }

    #[test]
    fn those_beyond_the_limit_are_counted_only() {
        let mut flights = Flights::default();
        (0..MOST + 3).for_each(|nth| flights.push(flight(nth)));
        assert_eq!(taken(&mut flights, 1), [0]);
        // Not behind the three that nobody knows.
        flights.push(flight(7));
        assert_eq!(taken(&mut flights, MOST as u32).len(), MOST - 1);
        assert!(!flights.is_empty());
        assert_eq!(taken(&mut flights, 3), []);
        assert!(flights.is_empty());
        flights.push(flight(8));
        assert_eq!(taken(&mut flights, 1), [8]);
    }
}
