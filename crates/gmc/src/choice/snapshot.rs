//! The last templates of each channel and sender, in a snapshot. A snapshot is the model as bytes,
//! for a decoder that joins late; the archive writes and reads it.

use super::{Choices, Recent};
use crate::archive::{Archive, Result};
use crate::cache::snapshot::Candidate;
use crate::range_coder::Coder;

// Contexts: each selects the statistics that the archive keeps for one kind of value.
const CACHE: u32 = 0xd00;
const NUMBER: u32 = 0xd01;
const REPEATS: u32 = 0xd08;

impl Choices {
    pub(crate) fn archive<C: Coder + ?Sized>(
        &mut self,
        archive: &mut Archive<'_, C>,
        candidates: &[Candidate],
    ) -> Result<()> {
        let mut progress = self.recents.archive(archive, CACHE)?;
        self.recents.archive_some(archive, &mut progress, candidates, |archive, _, recent| {
            recent.archive(archive)
        })?;
        self.recents.archive_rest(archive, progress, |archive, recent| recent.archive(archive))
    }

    pub(crate) fn compact(&mut self, most: usize) {
        self.recents.compact(most, |_| true);
    }
}

impl Recent {
    fn archive<C: Coder + ?Sized>(&mut self, archive: &mut Archive<'_, C>) -> Result<()> {
        for (index, number) in self.numbers.iter_mut().enumerate() {
            *number = archive.byte(NUMBER + index as u32, *number)?;
        }
        self.repeats = archive.byte(REPEATS, self.repeats)?;
        Ok(())
    }
}
