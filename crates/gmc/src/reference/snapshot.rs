//! References in a snapshot, and what compaction keeps of them.

use super::Reference;
use crate::archive::{Archive, Result};
use crate::range_coder::Coder;

// Contexts: the archive has statistics of its own for each kind of value.
const SEEN: u32 = 0x900;
const VALUE: u32 = 0x901;
const DELTA: u32 = 0x902;
const COST: u32 = 0x903;
const STAMP: u32 = 0x904;

/// The unit to which compaction rounds costs: it is enough to find the best predictor.
const COST_UNIT: u8 = 4;

impl Reference {
    /// Codes a reference, given another one of the same hole.
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
