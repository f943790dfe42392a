//! Byte contexts (the probabilities of the bits of a byte, given the bytes before it) in a
//! snapshot, and what compaction keeps of them.
//!
//! A snapshot is the model as bytes, for a decoder that joins late; the archive writes and reads
//! it. Compaction makes a model small by rounding and forgetting.

use super::ByteContexts;
use crate::archive::{Archive, Result};
use crate::probability::Probability;
use crate::range_coder::Coder;

// Contexts: each selects the statistics that the archive keeps for one kind of value.
const EMPTY: u32 = 0x502;
const LETTER: u32 = 0x503;

impl ByteContexts {
    /// Writes or reads all probabilities, or a flag that none of them was ever adapted.
    pub(crate) fn archive<C: Coder + ?Sized>(
        &mut self,
        archive: &mut Archive<'_, C>,
    ) -> Result<()> {
        if archive.flag(EMPTY, self.bits.iter().all(|&bit| bit == Probability::EVEN)) {
            return Ok(());
        }
        for index in 0..self.bits.len() {
            let bit = self.bits[index].archive(archive, LETTER);
            self.bits.put(index, bit);
            archive.check()?;
        }
        Ok(())
    }

    /// Rounds all probabilities if `keeps` is set; otherwise resets them.
    pub(crate) fn compact(&mut self, keeps: bool) {
        for index in 0..self.bits.len() {
            let bit = if keeps { self.bits[index].rounded() } else { Probability::EVEN };
            self.bits.put(index, bit);
        }
    }
}
