//! Probabilities in a snapshot, and what compaction makes of them. A snapshot is the model as
//! bytes, for a decoder that joins late; the archive writes and reads it. Compaction makes a model
//! small by rounding and forgetting.

use super::Probability;
use crate::archive::Archive;
use crate::hash::hash;
use crate::range_coder::Coder;

/// The probabilities to which compaction rounds, in 1/4096: finer where a small difference costs
/// many bits, and symmetric around one half.
const LEVELS: [u16; 16] =
    [16, 48, 110, 220, 400, 680, 1080, 1640, 2455, 3015, 3415, 3695, 3875, 3985, 4047, 4079];
/// The number of adaptations after compaction, by the number before it. A single adaptation is
/// forgotten. Settled probabilities adapt a little faster again, since rounding made them less
/// precise.
const AGES: [u16; 16] = [0, 0, 3, 3, 3, 6, 6, 6, 6, 6, 13, 13, 13, 13, 13, 13];

// Contexts: each selects the statistics that the archive keeps for one kind of value.
const EVEN: u32 = 0x200;
const AGE: u32 = 0x300;
const LEVEL: u32 = 0x400;
const ROUNDED: u32 = 0x500;
const REST: u32 = 0x501;

/// The index of the nearest of [`LEVELS`].
fn level(p: u16) -> usize {
    let upper = LEVELS.iter().position(|&level| level >= p).unwrap_or(LEVELS.len() - 1);
    if upper > 0 && p.abs_diff(LEVELS[upper - 1]) < p.abs_diff(LEVELS[upper]) {
        upper - 1
    } else {
        upper
    }
}

impl Probability {
    /// Writes or reads a probability: whether it was never adapted, and if it was, its number of
    /// adaptations and the index of its level.
    pub(crate) fn archive<C: Coder + ?Sized>(
        self,
        archive: &mut Archive<'_, C>,
        context: u32,
    ) -> Self {
        if archive.flag(hash(EVEN, context), self == Self::EVEN) {
            return Self::EVEN;
        }
        let age = archive.nibble(AGE, self.age() as u8);
        let p = self.0 >> 4;
        let level = archive.nibble(hash(LEVEL, u32::from(age)), level(p) as u8);
        let rounded = LEVELS[usize::from(level)];
        let p = if archive.flag(ROUNDED, p == rounded) {
            rounded
        } else {
            archive.number_like(REST, rounded.into(), p.into()) as u16 & 0xfff
        };
        Self(p << 4 | u16::from(age))
    }

    /// The probability after compaction.
    pub(crate) fn rounded(self) -> Self {
        match AGES[self.age()] {
            0 => Self::EVEN,
            age => Self(LEVELS[level(self.0 >> 4)] << 4 | age),
        }
    }
}
