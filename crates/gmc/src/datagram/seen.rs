//! Sets of packets that arrived, one bit for each packet.

use crate::datagram::acknowledgement::DISTANCE_MAX;
use crate::packet_number::PacketNumber;

/// Which of the newest 128 packets arrived.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) newest: PacketNumber,
    /// A bit for each packet, set if it arrived: the lowest for `newest`, the next for the packet
    /// before it, and so on.
    pub(crate) mask: u128,
}

impl Seen {
    /// Whether a packet arrived. Also true if it is too old to tell.
    pub(crate) fn contains(&self, number: PacketNumber) -> bool {
        if number.is_after(self.newest) {
            return false;
        }
        let age = self.newest.since(number);
        age >= u128::BITS || self.mask >> age & 1 == 1
    }

    /// Adds a packet that arrived.
    pub(crate) fn add(&mut self, number: PacketNumber) {
        if number.is_after(self.newest) {
            let ahead = number.since(self.newest);
            self.mask = self.mask.checked_shl(ahead).unwrap_or(0);
            self.newest = number;
        }
        let age = self.newest.since(number);
        self.mask |= 1u128.checked_shl(age).unwrap_or(0);
    }
}

/// The packets that arrived after the epoch (the version of the model in use) and will not be
/// learned: a bit for each, at its number modulo [`DISTANCE_MAX`].
#[derive(Debug, Default)]
pub(crate) struct Unlearned([u64; WORDS]);

const WORDS: usize = (DISTANCE_MAX / u64::BITS) as usize;

impl Unlearned {
    pub(crate) fn contains(&self, number: PacketNumber) -> bool {
        let (word, bit) = Self::place(number);
        self.0[word] & bit != 0
    }

    /// Adds a packet, unless it is more than [`DISTANCE_MAX`] packets after `epoch`.
    pub(crate) fn add(&mut self, epoch: PacketNumber, number: PacketNumber) {
        if number.since(epoch).wrapping_sub(1) < DISTANCE_MAX {
            let (word, bit) = Self::place(number);
            self.0[word] |= bit;
        }
    }

    /// Removes all packets from `epoch` (exclusive) to `number` (inclusive).
    pub(crate) fn remove(&mut self, epoch: PacketNumber, number: PacketNumber) {
        for ahead in 1..=number.since(epoch).min(DISTANCE_MAX) {
            let (word, bit) = Self::place(epoch.plus(ahead));
            self.0[word] &= !bit;
        }
    }

    /// The index of the word with the packet's bit, and that bit.
    fn place(number: PacketNumber) -> (usize, u64) {
        let place = number.get() % DISTANCE_MAX;
        ((place / u64::BITS) as usize, 1 << (place % u64::BITS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn seen_contains_the_packets_that_came(
            numbers in proptest::collection::vec(1u32..300, 1..100),
        ) {
            let mut seen = Seen::default();
            let mut came = BTreeSet::new();
            for number in numbers {
                let newest = came.last().copied().unwrap_or(0);
                let old = came.contains(&number) || number + 128 <= newest;
                prop_assert_eq!(seen.contains(PacketNumber::new(number)), old);
                if !old {
                    seen.add(PacketNumber::new(number));
                    came.insert(number);
                }
            }
        }

        #[test]
        fn an_unlearned_packet_is_contained_until_it_is_removed(
            start in prop_oneof![Just(0u32), Just(u32::MAX - 900)],
            numbers in proptest::collection::btree_set(1u32..1500, 0..200),
            removed in 0u32..1100,
        ) {
            let start = PacketNumber::new(start);
            let mut unlearned = Unlearned::default();
            for &number in &numbers {
                unlearned.add(start, start.plus(number));
            }
            unlearned.remove(start, start.plus(removed));
            for number in 1..=DISTANCE_MAX {
                let contained = unlearned.contains(start.plus(number));
                prop_assert_eq!(contained, number > removed && numbers.contains(&number));
            }
        }
    }
}
