//! References (the last values at one place of messages, by which the next is predicted) in a
//! snapshot, and what compaction keeps of them.
//!
//! A snapshot is the model as bytes, for a decoder that joins late; the archive writes and reads
//! it. Compaction makes a model small by rounding and forgetting.

use super::Reference;
use crate::archive::{Archive, Result};
use crate::range_coder::Coder;

// Contexts: each selects the statistics that the archive keeps for one kind of value.
const SEEN: u32 = 0x900;
const VALUE: u32 = 0x901;
const DELTA: u32 = 0x902;
const COST: u32 = 0x903;
const STAMP: u32 = 0x904;

/// The unit to which compaction rounds the costs of predictors. It is fine enough to find the best
/// predictor.
const COST_UNIT: u8 = 4;

impl Reference {
    /// Writes or reads a reference. `guess` is another one of the same place, which may be similar.
    pub(crate) fn archive<C: Coder + ?Sized>(
        &mut self,
        archive: &mut Archive<'_, C>,
        guess: &Self,
    ) -> Result<()> {
        self.seen = archive.flag(SEEN, self.seen);
        self.value = archive.number_like(VALUE, guess.value, self.value);
        self.delta = archive.signed(DELTA, self.delta.into()) as i32;
        for (index, cost) in self.costs.iter_mut().enumerate() {
            let guess = i64::from(guess.costs[index]);
            *cost = archive.number_like(COST + 0x10 * index as u32, guess, (*cost).into()) as u8;
        }
        self.stamp = archive.number_like(STAMP, guess.stamp.into(), self.stamp.into()) as u16;
        self.format = self.format.archive(archive, guess.format)?;
        Ok(())
    }

    pub(crate) fn compact(&mut self) {
        for cost in &mut self.costs {
            *cost = (*cost / COST_UNIT) * COST_UNIT + COST_UNIT / 2;
        }
    }
}
