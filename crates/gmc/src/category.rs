//! Numbers that are one of a few: identifiers of people and objects, kinds, flags.

use crate::cache::Cache;
use crate::hash::hash;
use crate::pass::Pass;
use crate::range_coder::Coder;

mod snapshot;

/// The last different numbers in a hole, the latest first, and whether it holds one of them as a
/// rule.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Category {
    values: [i32; Category::VALUES],
    used: u8,
    /// The rank of the last value.
    rank: u8,
    novelty: Novelty,
}

/// How often something new comes, lately, in 1/256.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Novelty(u8);

const _: () = assert!(Cache::<Category>::ENTRY == 44);

impl Category {
    /// A group of so many people is told apart; of more, those who are active.
    const VALUES: usize = 8;

    fn known(&self) -> &[i32] {
        &self.values[..usize::from(self.used)]
    }

    /// Whether the hole holds one of a few values as a rule.
    pub(crate) fn is_few(&self) -> bool {
        self.novelty.is_low()
    }

    /// Whether the hole holds one of a few values, and not always the same.
    pub(crate) fn is_key(&self) -> bool {
        self.used > 1 && self.is_few()
    }

    /// Codes one of the known values. Returns nothing if it is another one.
    pub(crate) fn code<C: Coder + ?Sized>(
        &self,
        pass: &mut Pass<'_, C>,
        label: u32,
        given: i64,
    ) -> Option<i64> {
        let general = hash(label, 0xca7e);
        let row = pass.pair(general, hash(general, 1 + u32::from(self.rank)));
        let mut known = self.known().iter().enumerate();
        known
            .find(|&(rank, &value)| pass.bit(row, rank, i64::from(value) == given))
            .map(|(_, &value)| i64::from(value))
    }

    /// Moves a value to the front; a new one replaces the last.
    pub(crate) fn note(&mut self, value: i64) {
        let Ok(value) = i32::try_from(value) else {
            // Times and the like; an identifier that is so large costs its difference.
            self.novelty.note(true);
            return;
        };
        if self.used > 0 && self.values[0] == value {
            self.novelty.note(false);
            self.rank = 0;
            return;
        }
        let rank = self.known().iter().position(|&known| known == value);
        self.novelty.note(rank.is_none());
        let place = rank.unwrap_or_else(|| {
            self.used = (self.used + 1).min(Self::VALUES as u8);
            usize::from(self.used) - 1
        });
        self.values[..=place].rotate_right(1);
        self.values[0] = value;
        self.rank = place as u8;
    }
}

impl Default for Category {
    fn default() -> Self {
        Self { values: [0; Self::VALUES], used: 0, rank: 0, novelty: Novelty::default() }
    }
}

/// Stands for a value where values of all kinds are compared.
pub(crate) fn identity(value: i64) -> u32 {
    hash(value as u32, (value >> 32) as u32)
}

impl Novelty {
    /// Below this, the few known values are worth asking for one by one.
    const LOW: u8 = 32;

    pub(crate) fn is_low(self) -> bool {
        self.0 < Self::LOW
    }

    pub(crate) fn note(&mut self, is_new: bool) {
        self.0 = if is_new { self.0 + (255 - self.0) / 8 } else { self.0 - self.0.div_ceil(8) };
    }
}

impl Default for Novelty {
    /// Twelve known values in a row are needed to be believed.
    fn default() -> Self {
        Self(128)
    }
}
