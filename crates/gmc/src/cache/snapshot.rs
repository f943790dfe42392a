//! Caches (tables from keys to values) in a snapshot, and what compaction keeps of them.
//!
//! A snapshot is the model as bytes, for a decoder that joins late; the archive writes and reads
//! it, and to "code" is to do either. Compaction makes a model small by rounding and forgetting.
//! Entries have a rank: their place when sorted by the time of their last use.

use alloc::vec;
use alloc::vec::Vec;

use super::{Cache, Entry};
use crate::archive::{Archive, Result};
use crate::error::SnapshotError;
use crate::hash::hash;
use crate::range_coder::Coder;

/// A key that may be in a cache, and the context that predicts whether it is: a number that selects
/// statistics.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) key: u32,
    pub(crate) context: u32,
}

/// Which entries of a cache were coded so far.
pub(crate) struct Progress {
    context: u32,
    /// For each rank, whether the entry was coded.
    done: Vec<bool>,
    /// The rank of the entry that was coded last.
    last: u32,
}

// Contexts: the archive keeps separate statistics for each of these, mixed with the context of the
// cache.
const COUNT: u32 = 1;
const PRESENT: u32 = 2;
const MORE: u32 = 3;
const USED: u32 = 4;

impl<T: Clone + Default> Cache<T> {
    /// Begins to code a cache. The index of an entry is not coded, since it does not matter within
    /// a set. Of the times of use only the order is coded, which compaction needs: it forgets the
    /// entries that were used longest ago.
    pub(crate) fn archive<C: Coder + ?Sized>(
        &mut self,
        archive: &mut Archive<'_, C>,
        context: u32,
    ) -> Result<Progress> {
        self.renumber();
        let given = self.clock[0] as usize;
        let count = archive.up_to(hash(context, COUNT), self.entries.len(), given)?;
        self.clock.put(0, count as u32);
        Ok(Progress { context, done: vec![false; count], last: 0 })
    }

    /// Codes which of the candidates are in the cache. `code_value` codes the value of each that
    /// is.
    pub(crate) fn archive_some<C: Coder + ?Sized>(
        &mut self,
        archive: &mut Archive<'_, C>,
        progress: &mut Progress,
        candidates: &[Candidate],
        mut code_value: impl FnMut(&mut Archive<'_, C>, Candidate, &mut T) -> Result<()>,
    ) -> Result<()> {
        for &candidate in candidates {
            let index = self.index(candidate.key);
            if index.is_some_and(|index| progress.has(self.entries[index].used)) {
                continue;
            }
            let present = hash(hash(progress.context, PRESENT), candidate.context);
            if archive.flag(present, index.is_some()) {
                let index = self.archive_entry(archive, progress, candidate.key)?;
                code_value(archive, candidate, &mut self.entries.change(index).value)?;
                archive.check()?;
            }
        }
        Ok(())
    }

    /// Codes the entries that were not among the candidates, with their keys.
    pub(crate) fn archive_rest<C: Coder + ?Sized>(
        &mut self,
        archive: &mut Archive<'_, C>,
        mut progress: Progress,
        mut code_value: impl FnMut(&mut Archive<'_, C>, &mut T) -> Result<()>,
    ) -> Result<()> {
        loop {
            let next = if archive.decodes() { None } else { self.next(&progress) };
            if !archive.flag(hash(progress.context, MORE), next.is_some()) {
                return Ok(());
            }
            let key = archive.raw(32, next.unwrap_or(0));
            let index = self.archive_entry(archive, &mut progress, key)?;
            code_value(archive, &mut self.entries.change(index).value)?;
            archive.check()?;
        }
    }

    /// The smallest key that is still to be coded. Keys have the same order at both ends; indices
    /// do not.
    fn next(&self, progress: &Progress) -> Option<u32> {
        let entries = self.entries.iter().filter(|entry| entry.used != 0);
        entries.filter(|entry| !progress.has(entry.used)).map(|entry| entry.key).min()
    }

    /// Codes the rank of the entry of `key`. Returns the entry's index.
    fn archive_entry<C: Coder + ?Sized>(
        &mut self,
        archive: &mut Archive<'_, C>,
        progress: &mut Progress,
        key: u32,
    ) -> Result<usize> {
        let known = self.index(key);
        // Mostly the entries were used in the order of the candidates, so the rank is likely to be
        // the next one.
        let guess = i64::from(progress.last) + 1;
        let given = known.map_or(0, |index| self.entries[index].used);
        let used = archive.number_like(hash(progress.context, USED), guess, given.into());
        let used = u32::try_from(used).ok().filter(|&used| progress.note(used));
        let used = used.ok_or(SnapshotError::Malformed)?;
        if !archive.decodes() {
            return known.ok_or(SnapshotError::Malformed);
        }
        let first = self.set(key);
        let free = (first..first + self.ways).find(|&index| self.entries[index].used == 0);
        let free = free.filter(|_| known.is_none()).ok_or(SnapshotError::Malformed)?;
        *self.entries.change(free) = Entry { key, used, value: T::default() };
        Ok(free)
    }

    /// Keeps the `most` entries that were used last, except those for which `is_wanted` is false.
    pub(crate) fn compact(&mut self, most: usize, mut is_wanted: impl FnMut(u32) -> bool) {
        self.renumber();
        let gone = self.clock[0].saturating_sub(most as u32);
        for index in 0..self.entries.len() {
            let Entry { key, used, .. } = self.entries[index];
            if used != 0 && (used <= gone || !is_wanted(key)) {
                *self.entries.change(index) = Entry { key: 0, used: 0, value: T::default() };
            }
        }
    }

    /// Calls `change` with each value.
    pub(crate) fn change_all(&mut self, mut change: impl FnMut(&mut T)) {
        for index in 0..self.entries.len() {
            if self.entries[index].used != 0 {
                change(&mut self.entries.change(index).value);
            }
        }
    }

    /// Calls `visit` with each value.
    pub(crate) fn each(&self, mut visit: impl FnMut(&T)) {
        for entry in self.entries.iter().filter(|entry| entry.used != 0) {
            visit(&entry.value);
        }
    }
}

impl Progress {
    /// Whether the entry of this rank was coded.
    fn has(&self, used: u32) -> bool {
        used.checked_sub(1).is_some_and(|rank| self.done[rank as usize])
    }

    /// Notes that the entry of this rank is coded. Returns `false` if no entry has the rank, or if
    /// it was coded before.
    fn note(&mut self, used: u32) -> bool {
        self.last = used;
        let done = used.checked_sub(1).and_then(|rank| self.done.get_mut(rank as usize));
        done.is_some_and(|done| !core::mem::replace(done, true))
    }
}
