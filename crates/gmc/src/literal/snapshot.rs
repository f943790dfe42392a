//! What is known of spelling, in a snapshot, and what compaction leaves of it.

use super::LiteralCoder;
use crate::archive::{Archive, Result};
use crate::range_coder::Coder;

/// Context of the first length of a match.
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

    /// Rounds, and keeps letters or forgets them: they are soon learned again.
    pub(crate) fn compact(&mut self, keeps_contexts: bool) {
        for length in 0..self.hits.len() {
            let hit = self.hits[length].rounded();
            self.hits.put(length, hit);
        }
        self.byte_contexts.compact(keeps_contexts);
    }
}
