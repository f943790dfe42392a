//! Caches in a snapshot, and what compaction leaves of them.

use alloc::vec;
use alloc::vec::Vec;

use super::{Cache, Entry};
use crate::hash::hash;
use crate::range_coder::Coder;
use crate::snapshot::SnapshotError;
use crate::snapshot::archive::{Archive, Result};

/// A key that may be in a cache, and the context that tells how likely.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) key: u32,
    pub(crate) context: u32,
}

/// What of a cache was coded so far.
pub(crate) struct Progress {
    context: u32,
    done: Vec<bool>,
}

// Contexts, for each cache.
const CLOCK: u32 = 1;
const PRESENT: u32 = 2;
const MORE: u32 = 3;
const RANK: u32 = 4;

impl<T: Clone + Default> Cache<T> {
    /// Starts to code a cache. Where in its set an entry is does not matter, and of when it was used
    /// only the order in the set.
    pub(crate) fn archive<C: Coder + ?Sized>(
        &mut self,
        archive: &mut Archive<'_, C>,
        context: u32,
    ) -> Progress {
        let clock = archive.number(hash(context, CLOCK), self.clock[0].into()) as u32;
        self.clock.put(0, clock);
        Progress { context, done: vec![false; self.entries.len()] }
    }

    /// Codes which of the candidates are there, and what `code_value` makes of their values.
    pub(crate) fn archive_some<C: Coder + ?Sized>(
        &mut self,
        archive: &mut Archive<'_, C>,
        progress: &mut Progress,
        candidates: &[Candidate],
        mut code_value: impl FnMut(&mut Archive<'_, C>, Candidate, &mut T) -> Result<()>,
    ) -> Result<()> {
        for &candidate in candidates {
            let index = self.index(candidate.key);
            if index.is_some_and(|index| progress.done[index]) {
                continue;
            }
            let present = hash(hash(progress.context, PRESENT), candidate.context);
            if archive.flag(present, index.is_some()) {
                let index = self.archive_rank(archive, progress, candidate.key)?;
                code_value(archive, candidate, &mut self.entries.change(index).value)?;
                archive.check()?;
            }
        }
        Ok(())
    }

    /// Codes the entries that were no candidates, with their keys.
    pub(crate) fn archive_rest<C: Coder + ?Sized>(
        &mut self,
        archive: &mut Archive<'_, C>,
        mut progress: Progress,
        mut code_value: impl FnMut(&mut Archive<'_, C>, &mut T) -> Result<()>,
    ) -> Result<()> {
        loop {
            let next = if archive.coder.decodes() { None } else { self.next(&progress) };
            if !archive.flag(hash(progress.context, MORE), next.is_some()) {
                return Ok(());
            }
            let key = archive.raw(32, next.unwrap_or(0));
            let index = self.archive_rank(archive, &mut progress, key)?;
            code_value(archive, &mut self.entries.change(index).value)?;
            archive.check()?;
        }
    }

    /// The least key that is not done: the same wherever in its set it is.
    fn next(&self, progress: &Progress) -> Option<u32> {
        let entries = self.entries.iter().zip(&progress.done);
        entries.filter(|(entry, done)| entry.used != 0 && !**done).map(|(entry, _)| entry.key).min()
    }

    /// Codes how many entries of its set were used before this one. Returns where the entry is.
    fn archive_rank<C: Coder + ?Sized>(
        &mut self,
        archive: &mut Archive<'_, C>,
        progress: &mut Progress,
        key: u32,
    ) -> Result<usize> {
        let first = self.set(key);
        let set = first..first + self.ways;
        let rank = self.index(key).filter(|_| !archive.coder.decodes()).map_or(0, |index| {
            let used = self.entries[index].used;
            set.clone().filter(|&other| (1..used).contains(&self.entries[other].used)).count()
        });
        let rank = archive.up_to(hash(progress.context, RANK), self.ways - 1, rank)?;
        if !archive.coder.decodes() {
            let index = self.index(key).ok_or(SnapshotError::Malformed)?;
            progress.done[index] = true;
            return Ok(index);
        }
        let mut free = set.filter(|&index| self.entries[index].used == 0);
        let free = free.next().filter(|_| self.index(key).is_none());
        let free = free.ok_or(SnapshotError::Malformed)?;
        // The clock has ticked for each entry.
        let used = self.clock[0].saturating_sub(self.ways as u32) + 1 + rank as u32;
        progress.done[free] = true;
        *self.entries.change(free) = Entry { key, used, value: T::default() };
        Ok(free)
    }

    /// Keeps the entries used last, at most so many, and of these the ones wanted.
    pub(crate) fn compact(&mut self, most: usize, mut is_wanted: impl FnMut(u32) -> bool) {
        let mut used: Vec<u32> = self.entries.iter().map(|entry| entry.used).collect();
        used.sort_unstable_by(|a, b| b.cmp(a));
        let oldest = used.get(most.saturating_sub(1)).copied().unwrap_or(0);
        for index in 0..self.entries.len() {
            let Entry { key, used, .. } = self.entries[index];
            if used != 0 && (most == 0 || used < oldest || !is_wanted(key)) {
                *self.entries.change(index) = Entry { key: 0, used: 0, value: T::default() };
            }
        }
    }

    /// Changes all values.
    pub(crate) fn change_all(&mut self, mut change: impl FnMut(&mut T)) {
        for index in 0..self.entries.len() {
            if self.entries[index].used != 0 {
                change(&mut self.entries.change(index).value);
            }
        }
    }

    /// Visits all values.
    pub(crate) fn each(&self, mut visit: impl FnMut(&T)) {
        for entry in self.entries.iter().filter(|entry| entry.used != 0) {
            visit(&entry.value);
        }
    }
}
