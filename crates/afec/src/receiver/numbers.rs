//! Which packets arrived, by their numbers.

use crate::ids::PacketNumber;

/// The number of highest packet numbers for which it is remembered whether the packets arrived: the
/// bits of a `u128`.
const WINDOW: u32 = 128;
/// The most packets that count as lost because of one jump of the numbers. A longer jump is an
/// outage or a false number, and the loss estimator would learn little from more. Chosen by
/// judgement; not tuned.
const JUMP: u32 = 256;
/// The most packets that may overtake a packet before that packet counts as lost. Chosen by
/// judgement; not tuned.
const REORDER: u32 = 16;
/// After this many packets without one that arrived too late, the number of overtaking packets
/// after which a packet counts as lost falls by one: 17 seconds of a telepointer (the pointer of
/// another user). Chosen by judgement; not tuned.
const CALM: u32 = 500;
/// The number of consecutive packets that are too old for a copy to be recognised, but have numbers
/// near each other, after which counting continues from these numbers. Then either the highest
/// number was false, or the sender began anew (RFC 3550, appendix A.1, which takes two). Six are
/// more than reordering brings at once, and take a telepointer a fifth of a second.
const ASTRAY: u8 = 6;

/// The numbers of the packets that arrived, and how long to wait for a packet that did not.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// The number after the highest one that arrived.
    next: PacketNumber,
    /// Bit n says whether packet next - 1 - n arrived.
    seen: u128,
    /// The first number that is undecided: for all numbers before it, it is known whether the
    /// packet arrived or was lost.
    decided: PacketNumber,
    /// A packet counts as lost when this many newer packets have arrived.
    reorder: u32,
    /// The number of packets since the last change of `reorder`.
    calm: u32,
    /// The low bits of the number of the last packet that was too old, and the number of such
    /// packets in a row.
    astray: (u16, u8),
}

impl Numbers {
    /// The highest number of a packet that arrived.
    pub(super) fn highest(&self) -> PacketNumber {
        PacketNumber(self.next.0.wrapping_sub(1))
    }

    /// The number of newer packets after which a packet counts as lost.
    pub(super) fn reorder(&self) -> u32 {
        self.reorder
    }

    /// Notes a packet whose number ends in `low`. Calls `decide`, in the order of numbers, for each
    /// packet for which it is now certain enough whether it was lost. Returns whether the packet is
    /// new.
    pub(super) fn arrived(&mut self, low: u16, mut decide: impl FnMut(bool)) -> bool {
        let ahead = low.wrapping_sub(self.next.low()) as i16;
        let number = PacketNumber(self.next.0.wrapping_add_signed(i32::from(ahead)));
        if ahead >= 0 {
            self.advance(ahead as u32, number);
        } else {
            let back = u32::from(ahead.unsigned_abs()) - 1;
            if back >= WINDOW {
                return self.is_new_start(low);
            }
            if self.seen >> back & 1 == 1 {
                return false;
            }
            self.seen |= 1 << back;
            if self.decided.is_after(number) {
                // The packet was counted as lost too early.
                self.reorder = (back + 1).clamp(self.reorder, REORDER);
                self.calm = 0;
            }
        }
        self.astray.1 = 0;
        debug_assert!(self.undecided() <= JUMP + REORDER + 1, "a packet decides about few others");
        while self.undecided() > self.reorder {
            let back = self.undecided().wrapping_sub(1);
            decide(back >= WINDOW || self.seen >> back & 1 == 0);
            self.decided = self.decided.next();
        }
        true
    }

    /// The count of numbers for which it is not decided whether the packet was lost.
    fn undecided(&self) -> u32 {
        self.next.0.wrapping_sub(self.decided.0)
    }

    /// Whether a packet whose number seems too old shows that the numbers began anew: true if it is
    /// the last of [`ASTRAY`] consecutive such packets with numbers near each other.
    fn is_new_start(&mut self, low: u16) -> bool {
        let (last, count) = self.astray;
        let apart = u32::from((low.wrapping_sub(last) as i16).unsigned_abs());
        let near = count > 0 && (1..=JUMP).contains(&apart);
        let count = if near { count + 1 } else { 1 };
        self.astray = (low, count);
        if count < ASTRAY {
            return false;
        }
        // Earlier packets are noted as seen, so that none of them counts as lost.
        let next = PacketNumber(u32::from(low)).next();
        *self = Numbers { next, seen: u128::MAX, decided: next, ..Numbers::default() };
        true
    }

    /// Makes `number` the highest number; the `gap` numbers before it are skipped.
    fn advance(&mut self, gap: u32, number: PacketNumber) {
        let shift = gap + 1;
        self.seen = if shift >= WINDOW { 0 } else { self.seen << shift };
        self.seen |= 1;
        self.next = number.next();
        if gap > JUMP {
            self.decided = PacketNumber(self.next.0.wrapping_sub(JUMP));
        }
        self.calm += 1;
        if self.calm >= CALM {
            self.calm = 0;
            self.reorder = self.reorder.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    fn run(numbers: &mut Numbers, low: u16) -> (bool, Vec<bool>) {
        let mut decided = Vec::new();
        let new = numbers.arrived(low, |lost| decided.push(lost));
        (new, decided)
    }

    #[test]
    fn gaps_are_losses_and_copies_are_recognised() {
        let mut numbers = Numbers::default();
        assert_eq!(run(&mut numbers, 0), (true, [false].into()));
        assert_eq!(run(&mut numbers, 2), (true, [true, false].into()));
        assert_eq!(run(&mut numbers, 2), (false, [].into()));
        assert_eq!(run(&mut numbers, 0), (false, [].into()));
    }

    #[test]
    fn overtaken_packets_are_waited_for_after_the_first_one() {
        let mut numbers = Numbers::default();
        for low in [0, 2, 1, 4] {
            run(&mut numbers, low);
        }
        assert_eq!(run(&mut numbers, 3), (true, [].into()));
        assert_eq!(run(&mut numbers, 6), (true, [false, false].into()), "3 and 4 came");
        assert_eq!(run(&mut numbers, 7), (true, [true].into()), "5 did not, 6 is undecided");
    }

    #[test]
    fn numbers_wrap_and_a_jump_yields_few_losses() {
        let mut numbers = Numbers::default();
        let mut low = 0u16;
        for _ in 0..70_000 {
            assert_eq!(run(&mut numbers, low), (true, [false].into()));
            low = low.wrapping_add(1);
        }
        assert_eq!(run(&mut numbers, low.wrapping_add(20_000)).1.len(), 256);
    }

    #[test]
    fn a_false_number_is_forgotten() {
        for jump in [200, 5000, 32_000] {
            let mut numbers = Numbers::default();
            (0..100).for_each(|low| assert!(run(&mut numbers, low).0));
            run(&mut numbers, 100 + jump);
            let refused = (100..200).filter(|low| !run(&mut numbers, *low).0).count();
            assert!(refused < usize::from(ASTRAY), "{refused} were refused after a jump of {jump}");
        }
    }

    #[test]
    fn old_packets_between_new_ones_change_nothing() {
        let mut numbers = Numbers::default();
        (0..1000).for_each(|low| assert!(run(&mut numbers, low).0));
        for old in 0..500 {
            assert!(!run(&mut numbers, old).0);
            if old % 4 == 0 {
                assert_eq!(run(&mut numbers, 1000 + old / 4), (true, [false].into()));
            }
        }
    }
}
