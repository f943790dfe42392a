//! The context table (probabilities of decisions, in rows of fifteen for each context) in a
//! snapshot, and what compaction keeps of it.
//!
//! A snapshot is the model as bytes, for a decoder that joins late; the archive writes and reads
//! it. Compaction makes a model small by rounding and forgetting.

use super::{ContextTable, ROW, USES};
use crate::archive::{Archive, Result};
use crate::probability::Probability;
use crate::range_coder::Coder;

/// The values to which compaction rounds the use counts of rows down.
const ROUND_USES: [u16; 8] = [0, 2, 5, 10, 16, 22, 27, USES];

// Contexts: each selects the statistics that the archive keeps for one kind of value.
const ROW_USED: u32 = 0x100;
const ROW_USES: u32 = 0x101;

impl ContextTable {
    /// Writes or reads all rows.
    pub(crate) fn archive<C: Coder + ?Sized>(
        &mut self,
        archive: &mut Archive<'_, C>,
    ) -> Result<()> {
        for first in (0..self.cells.len()).step_by(ROW) {
            let is_used = !archive.decodes()
                && (first..first + ROW).any(|cell| self.cells[cell] != Probability(0));
            if !archive.flag(ROW_USED, is_used) {
                continue;
            }
            let tag = self.cells[first].0;
            let uses = archive.up_to(ROW_USES, usize::from(USES), (tag & USES).into())? as u16;
            let check = (archive.raw(11, u32::from(tag >> 5)) as u16) << 5;
            self.cells.put(first, Probability(check | uses));
            let mut even = false;
            for cell in 1..ROW {
                let context = cell as u32 * 2 + u32::from(even);
                let bit = self.cells[first + cell].archive(archive, context);
                self.cells.put(first + cell, bit);
                even = bit == Probability::EVEN;
            }
            archive.check()?;
        }
        Ok(())
    }

    /// Rounds the probabilities, and drops rows whose use count is less than `least`.
    pub(crate) fn compact(&mut self, least: u16) {
        for first in (0..self.cells.len()).step_by(ROW) {
            let tag = self.cells[first].0;
            let uses = tag & USES;
            if uses < least {
                for cell in first..first + ROW {
                    self.cells.put(cell, Probability(0));
                }
                continue;
            }
            let rounded = ROUND_USES.iter().rev().find(|&&rounded| rounded <= uses);
            self.cells.put(first, Probability(tag & !USES | rounded.copied().unwrap_or(0)));
            for cell in first + 1..first + ROW {
                let bit = self.cells[cell].rounded();
                self.cells.put(cell, bit);
            }
        }
    }
}
