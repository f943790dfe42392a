//! Packet numbers: 32 bits that wrap around, of which packets carry only the low ones.

use core::cmp::Ordering;

/// The number of a packet on a link that loses some, counted from 1. It is also the version of the
/// model (all that was learned) whose newest packet this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct PacketNumber(u32);

impl PacketNumber {
    pub(crate) const fn new(number: u32) -> Self {
        Self(number)
    }

    pub(crate) const fn get(self) -> u32 {
        self.0
    }

    /// Whether the number is later than `other`, which is true for the next 2^31 packets.
    pub(crate) fn is_after(self, other: Self) -> bool {
        (self.0.wrapping_sub(other.0) as i32) > 0
    }

    /// The order of two numbers that are at most 2^31 packets apart.
    pub(crate) fn order(self, other: Self) -> Ordering {
        (self.0.wrapping_sub(other.0) as i32).cmp(&0)
    }

    /// The number of the next packet.
    pub(crate) fn next(self) -> Self {
        self.plus(1)
    }

    /// The number of the packet before.
    pub(crate) fn previous(self) -> Self {
        self.minus(1)
    }

    /// The number `packets` packets later.
    pub(crate) fn plus(self, packets: u32) -> Self {
        Self(self.0.wrapping_add(packets))
    }

    /// The number `packets` packets earlier.
    pub(crate) fn minus(self, packets: u32) -> Self {
        Self(self.0.wrapping_sub(packets))
    }

    /// How many packets this one is after `earlier`.
    pub(crate) fn since(self, earlier: Self) -> u32 {
        self.0.wrapping_sub(earlier.0)
    }

    /// The low `bits` bits of the number.
    pub(crate) fn low(self, bits: u32) -> u32 {
        self.0 & ((1 << bits) - 1)
    }

    /// The number nearest to this one whose low `bits` bits are `low`.
    pub(crate) fn nearest(self, low: u32, bits: u32) -> Self {
        Self(nearest(self.0, low, bits))
    }
}

/// The number nearest to `near` whose low `bits` bits are `low`.
pub(crate) fn nearest(near: u32, low: u32, bits: u32) -> u32 {
    first_from(near.wrapping_sub(1 << (bits - 1)), low, bits)
}

/// The first number, starting with `start`, whose low `bits` bits are `low`.
pub(crate) fn first_from(start: u32, low: u32, bits: u32) -> u32 {
    let mask = (1 << bits) - 1;
    start.wrapping_add(low.wrapping_sub(start) & mask)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_low_bits_tell_the_number(near: u32, away in -128i32..128) {
            let number = near.wrapping_add_signed(away);
            prop_assert_eq!(nearest(near, number & 0xff, 8), number);
            prop_assert_eq!(first_from(near, near.wrapping_add(200) & 0xff, 8), near.wrapping_add(200));
        }
    }
}
