//! Categories: the numbers of a hole that has one of a few numbers as a rule, such as identifiers
//! of people and objects, kinds, flags. A hole is a place of a message where the value differs from
//! message to message.
//!
//! To "code" a value is to write it in the encoder and to read it in the decoder.

use crate::cache::Cache;
use crate::hash::hash;
use crate::pass::Pass;
use crate::range_coder::Coder;

mod snapshot;

/// The last different numbers in a hole, the newest first, and how often a number that is not among
/// them appears.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Category {
    values: [i32; Category::VALUES],
    /// A bit for each value, the lowest for the first. It is set if the value is larger than an
    /// `i32`: then it is the `u32` with the same bits.
    unsigned: u8,
    used: u8,
    /// The rank that the newest value had among the values before it.
    rank: u8,
    novelty: Novelty,
}

/// The recent share of new values (values that are not among the known ones), in 1/256.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Novelty(u8);

const _: () = assert!(Cache::<Category>::ENTRY == 44);

impl Category {
    /// The number of values that a hole remembers: enough for a group of eight people, or for the
    /// most active ones of a larger group.
    const VALUES: usize = 8;

    fn known(&self) -> impl ExactSizeIterator<Item = i64> + '_ {
        (0..usize::from(self.used)).map(|rank| self.value(rank))
    }

    fn value(&self, rank: usize) -> i64 {
        match self.unsigned >> rank & 1 {
            0 => self.values[rank].into(),
            _ => (self.values[rank] as u32).into(),
        }
    }

    /// Whether the hole has one of a few values as a rule.
    pub(crate) fn is_few(&self) -> bool {
        self.novelty.is_low()
    }

    /// Whether the hole has one of a few values as a rule, and not always the same one. Such a hole
    /// may tell to which sender or object a message belongs.
    pub(crate) fn is_key(&self) -> bool {
        self.used > 1 && self.is_few()
    }

    /// Codes which of the known values it is, or that it is none of them. Returns the value if it
    /// is known.
    pub(crate) fn code<C: Coder + ?Sized>(
        &self,
        pass: &mut Pass<'_, C>,
        label: u32,
        given: i64,
    ) -> Option<i64> {
        let general = hash(label, 0xca7e);
        let row = pass.pair(general, hash(general, 1 + u32::from(self.rank)));
        let mut known = self.known().enumerate();
        known
            .find(|&(rank, value)| pass.bit_inlined(row, rank, value == given))
            .map(|(_, value)| value)
    }

    /// The rank of a value with these bits among the known ones.
    #[cfg_attr(feature = "fast", inline(always))]
    fn rank_of(&self, bits: i32, unsigned: bool) -> Option<usize> {
        // All values are compared, so that no step depends on the one before.
        let equal = (0..).zip(&self.values).map(|(rank, &known)| u8::from(known == bits) << rank);
        let equal = equal.fold(0, |all, one| all | one);
        let alike = if unsigned { self.unsigned } else { !self.unsigned };
        let used = ((1u16 << self.used) - 1) as u8;
        let found = equal & alike & used;
        (found != 0).then_some(found.trailing_zeros() as usize)
    }

    /// Moves a value to the front. If it is new and all places are taken, it replaces the value
    /// that was used longest ago.
    #[cfg_attr(feature = "fast", inline(always))]
    pub(crate) fn note(&mut self, value: i64) {
        let unsigned = u32::try_from(value).is_ok_and(|value| value > i32::MAX as u32);
        if i32::try_from(value).is_err() && !unsigned {
            // Numbers of more than 32 bits, such as times, are not kept; they are coded as
            // differences.
            self.novelty.note(true);
            return;
        }
        let rank = self.rank_of(value as i32, unsigned);
        self.novelty.note(rank.is_none());
        let place = rank.unwrap_or_else(|| {
            self.used = (self.used + 1).min(Self::VALUES as u8);
            usize::from(self.used) - 1
        });
        debug_assert!(place < usize::from(self.used), "a value replaces one that is in use");
        self.rank = place as u8;
        if rank == Some(0) {
            return;
        }
        // A known number of values is moved in less time.
        if cfg!(feature = "fast") && place == Self::VALUES - 1 {
            self.values.copy_within(..Self::VALUES - 1, 1);
        } else {
            self.values.copy_within(..place, 1);
        }
        self.values[0] = value as i32;
        let before = self.unsigned & ((1 << place) - 1);
        let behind = (u16::from(self.unsigned) >> (place + 1) << (place + 1)) as u8;
        self.unsigned = behind | before << 1 | u8::from(unsigned);
    }
}

impl Default for Category {
    fn default() -> Self {
        Self {
            values: [0; Self::VALUES],
            unsigned: 0,
            used: 0,
            rank: 0,
            novelty: Novelty::default(),
        }
    }
}

/// A hash that stands for a number where values of all kinds are compared with each other.
pub(crate) fn identity(value: i64) -> u32 {
    hash(value as u32, (value >> 32) as u32)
}

impl Novelty {
    /// The share of new values below which a known value is cheapest coded by its rank.
    const LOW: u8 = 32;

    pub(crate) fn is_low(self) -> bool {
        self.0 < Self::LOW
    }

    pub(crate) fn note(&mut self, is_new: bool) {
        self.0 = if is_new { self.0 + (255 - self.0) / 8 } else { self.0 - self.0.div_ceil(8) };
    }
}

impl Default for Novelty {
    /// The share for a hole without values: after twelve known values in a row it falls below
    /// [`Novelty::LOW`].
    fn default() -> Self {
        Self(128)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    proptest! {
        /// The known values are the last different ones, the newest first.
        #[test]
        fn the_last_values_are_known(
            values in proptest::collection::vec(prop_oneof![-3i64..12, Just(u32::MAX.into()), Just(1 << 40)], 0..60),
        ) {
            let mut category = Category::default();
            let mut expected: Vec<i64> = Vec::new();
            for value in values {
                category.note(value);
                if value < 1 << 40 {
                    expected.retain(|&known| known != value);
                    expected.insert(0, value);
                    expected.truncate(Category::VALUES);
                }
                prop_assert!(category.known().eq(expected.iter().copied()));
            }
        }
    }
}
