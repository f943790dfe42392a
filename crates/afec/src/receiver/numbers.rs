//! Which packets came.

/// Numbers remembered below the highest.
const WINDOW: u32 = 128;
/// A larger jump of numbers is a silence; of what was lost in it, no more than this is learned.
const JUMP: u32 = 256;
/// The most packets that a packet may be overtaken by before it counts as lost.
const REORDER: u32 = 16;
/// In-order packets after which one packet less is waited for.
const CALM: u32 = 500;
/// So many packets running, near each other, that are too old to be told from repeated ones: the highest number was a
/// lie or the sender began anew (RFC 3550, appendix A.1, which takes two). More than a moment's reordering brings, few
/// enough to take a quarter of a second.
const ASTRAY: u8 = 6;

/// The numbers of the packets that came, and how long to wait for one that did not.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// The highest number that came, plus one.
    next: u32,
    /// Bit n: whether packet next - 1 - n came.
    seen: u128,
    /// All below are settled: they came, or count as lost.
    settled: u32,
    /// How many newer packets to wait for before a packet counts as lost.
    reorder: u32,
    calm: u32,
    /// The last packet that was too old, and how many there were running.
    astray: (u16, u8),
}

impl Numbers {
    /// The highest number that came.
    pub(super) fn highest(&self) -> u32 {
        self.next.wrapping_sub(1)
    }

    /// How many newer packets are waited for.
    pub(super) fn reorder(&self) -> u32 {
        self.reorder
    }

    /// A packet came whose number ends in `low`. Hands to `settle`, in order, whether packets were lost, and says
    /// whether it is a new packet.
    pub(super) fn arrived(&mut self, low: u16, mut settle: impl FnMut(bool)) -> bool {
        let ahead = low.wrapping_sub(self.next as u16) as i16;
        let number = self.next.wrapping_add_signed(i32::from(ahead));
        if ahead >= 0 {
            self.advance(ahead as u32, number);
        } else {
            let back = u32::from(ahead.unsigned_abs()) - 1;
            if back >= WINDOW {
                return self.strayed(low);
            }
            if self.seen >> back & 1 == 1 {
                return false;
            }
            self.seen |= 1 << back;
            if (number.wrapping_sub(self.settled) as i32) < 0 {
                // It was taken for lost too early.
                self.reorder = (back + 1).clamp(self.reorder, REORDER);
                self.calm = 0;
            }
        }
        self.astray.1 = 0;
        while self.next.wrapping_sub(self.settled) > self.reorder {
            let back = self.next.wrapping_sub(self.settled).wrapping_sub(1);
            settle(back >= WINDOW || self.seen >> back & 1 == 0);
            self.settled = self.settled.wrapping_add(1);
        }
        true
    }

    /// A packet came that is too old. Whether to believe that it is the newest all the same.
    fn strayed(&mut self, low: u16) -> bool {
        let (last, count) = self.astray;
        let apart = u32::from((low.wrapping_sub(last) as i16).unsigned_abs());
        let near = count > 0 && (1..=JUMP).contains(&apart);
        let count = if near { count + 1 } else { 1 };
        self.astray = (low, count);
        if count < ASTRAY {
            return false;
        }
        // Nothing is known of what came before: it is taken for seen, and no loss is drawn from it.
        let next = u32::from(low).wrapping_add(1);
        *self = Numbers { next, seen: u128::MAX, settled: next, ..Numbers::default() };
        true
    }

    fn advance(&mut self, gap: u32, number: u32) {
        let shift = gap + 1;
        self.seen = if shift >= WINDOW { 0 } else { self.seen << shift };
        self.seen |= 1;
        self.next = number.wrapping_add(1);
        if gap > JUMP {
            self.settled = self.next.wrapping_sub(JUMP);
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
        let mut settled = Vec::new();
        let new = numbers.arrived(low, |lost| settled.push(lost));
        (new, settled)
    }

    #[test]
    fn gaps_are_losses_and_repetitions_are_told() {
        let mut numbers = Numbers::default();
        assert_eq!(run(&mut numbers, 0), (true, [false].into()));
        assert_eq!(run(&mut numbers, 2), (true, [true, false].into()));
        assert_eq!(run(&mut numbers, 2), (false, [].into()));
        assert_eq!(run(&mut numbers, 0), (false, [].into()));
    }

    #[test]
    fn overtaken_packets_are_waited_for_once_seen() {
        let mut numbers = Numbers::default();
        for low in [0, 2, 1, 4] {
            run(&mut numbers, low);
        }
        assert_eq!(run(&mut numbers, 3), (true, [].into()));
        assert_eq!(run(&mut numbers, 6), (true, [false, false].into()), "3 and 4 came");
        assert_eq!(run(&mut numbers, 7), (true, [true].into()), "5 did not; 6 is still open");
    }

    #[test]
    fn numbers_wrap_and_a_silence_teaches_little() {
        let mut numbers = Numbers::default();
        let mut low = 0u16;
        for _ in 0..70_000 {
            assert_eq!(run(&mut numbers, low), (true, [false].into()));
            low = low.wrapping_add(1);
        }
        assert_eq!(run(&mut numbers, low.wrapping_add(20_000)).1.len(), 256);
    }

    #[test]
    fn a_lie_about_the_number_is_forgotten() {
        for lie in [200, 5000, 32_000] {
            let mut numbers = Numbers::default();
            (0..100).for_each(|low| assert!(run(&mut numbers, low).0));
            run(&mut numbers, 100 + lie);
            let refused = (100..200).filter(|low| !run(&mut numbers, *low).0).count();
            assert!(refused < usize::from(ASTRAY), "{refused} were refused after a jump of {lie}");
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
