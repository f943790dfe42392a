//! The literal coder (which codes strings byte by byte) in a snapshot, and what compaction keeps of
//! it.
//!
//! A snapshot is the model as bytes, for a decoder that joins late; the archive writes and reads
//! it. Compaction makes a model small by rounding and forgetting.

use super::LiteralCoder;
use crate::archive::{Archive, Result};
use crate::range_coder::Coder;

/// The context that selects the archive's statistics for the probabilities of matches.
const HIT: u32 = 0x1000;

impl LiteralCoder {
    pub(crate) fn archive<C: Coder + ?Sized>(
        &mut self,
        archive: &mut Archive<'_, C>,
    ) -> Result<()> {
        for length in 0..self.hits.len() {
            let hit = self.hits[length].archive(archive, HIT);
            self.hits.put(length, hit);
        }
        self.byte_contexts.archive(archive)?;
        self.history.archive(archive)
    }

    /// Rounds all probabilities. Forgets the probabilities of single bytes unless `keeps_contexts`
    /// is set: they are soon learned again.
    pub(crate) fn compact(&mut self, keeps_contexts: bool) {
        for length in 0..self.hits.len() {
            let hit = self.hits[length].rounded();
            self.hits.put(length, hit);
        }
        self.byte_contexts.compact(keeps_contexts);
    }
}
