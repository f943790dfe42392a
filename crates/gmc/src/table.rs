//! Tables of fixed size whose changes can be taken back.
//!
//! A packet that is coded under an old version of the model must leave no trace in it, and a decoder
//! may have to go back a few versions for a packet that comes late. Tables therefore keep a log of
//! what was there before, if they are told to.

use alloc::vec;
use alloc::vec::Vec;
use core::mem::{size_of, swap};
use core::ops::Index;

/// A version of the model. Versions grow and wrap around.
pub(crate) type Version = u32;

/// Whether `a` is a later version than `b`.
pub(crate) fn is_later(a: Version, b: Version) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

/// What can go back to an earlier version.
pub(crate) trait Versioned {
    /// Attributes all changes from now on to a version; `None` keeps no log.
    fn record(&mut self, version: Option<Version>);
    /// Takes back all changes later than `version` and forgets them.
    fn undo(&mut self, version: Version);
    /// Takes back all changes later than `version`, for [`Versioned::forward`] to make again.
    fn rewind(&mut self, version: Version);
    /// Makes the changes later than `version` again.
    fn forward(&mut self, version: Version);
    /// Forgets how to take back the changes of `version` and those before it.
    fn forget(&mut self, version: Version);
    /// Bytes of the log.
    fn log_memory(&self) -> usize;
}

/// A table of fixed size. Changes go through [`Table::change`].
pub(crate) struct Table<T> {
    items: Vec<T>,
    log: Vec<Change<T>>,
    /// The first changes of the log are forgotten.
    forgotten: usize,
    version: Option<Version>,
}

struct Change<T> {
    version: Version,
    index: u32,
    /// What was there before the change; after a rewind, what was there behind it.
    item: T,
}

impl<T: Clone> Table<T> {
    pub(crate) fn new(item: T, count: usize) -> Self {
        Self { items: vec![item; count], log: Vec::new(), forgotten: 0, version: None }
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter()
    }

    /// Bytes of the items.
    pub(crate) fn memory(&self) -> usize {
        self.items.len() * size_of::<T>()
    }

    /// The item, to be changed.
    #[inline]
    pub(crate) fn change(&mut self, index: usize) -> &mut T {
        self.log(index);
        &mut self.items[index]
    }

    /// Notes that an item is about to change, any number of times until the next version.
    #[inline]
    pub(crate) fn log(&mut self, index: usize) {
        if let Some(version) = self.version {
            self.log_as(version, index);
        }
    }

    /// The item, to be changed after it was logged.
    #[inline]
    pub(crate) fn logged(&mut self, index: usize) -> &mut T {
        &mut self.items[index]
    }

    fn log_as(&mut self, version: Version, index: usize) {
        let is_logged = |last: &Change<T>| last.version == version && last.index as usize == index;
        if self.log.last().is_some_and(is_logged) {
            return;
        }
        if self.log.len() == self.log.capacity() {
            self.tidy(version);
        }
        self.log.push(Change { version, index: index as u32, item: self.items[index].clone() });
    }

    /// Before the log grows: drops what is forgotten, and what this version logged twice.
    fn tidy(&mut self, version: Version) {
        self.log.drain(..self.forgotten);
        self.forgotten = 0;
        let first = self.log.iter().rposition(|change| change.version != version);
        let first = first.map_or(0, |index| index + 1);
        if self.log.len() - first <= self.items.len() {
            return;
        }
        // The first change of an item knows what was there before all others.
        let mut seen = vec![false; self.items.len()];
        let mut index = 0;
        self.log.retain(|change| {
            index += 1;
            index <= first || !core::mem::replace(&mut seen[change.index as usize], true)
        });
    }
}

impl<T> Index<usize> for Table<T> {
    type Output = T;

    #[inline]
    fn index(&self, index: usize) -> &T {
        &self.items[index]
    }
}

impl<T: Clone> Versioned for Table<T> {
    fn record(&mut self, version: Option<Version>) {
        self.version = version;
        if version.is_none() {
            self.log.clear();
            self.forgotten = 0;
        }
    }

    fn undo(&mut self, version: Version) {
        while self.log.len() > self.forgotten
            && let Some(change) = self.log.pop_if(|change| is_later(change.version, version))
        {
            self.items[change.index as usize] = change.item;
        }
    }

    fn rewind(&mut self, version: Version) {
        for change in self.log[self.forgotten..].iter_mut().rev() {
            if !is_later(change.version, version) {
                break;
            }
            swap(&mut self.items[change.index as usize], &mut change.item);
        }
    }

    fn forward(&mut self, version: Version) {
        let live = &mut self.log[self.forgotten..];
        let first = live.iter().rposition(|change| !is_later(change.version, version));
        for change in &mut live[first.map_or(0, |index| index + 1)..] {
            swap(&mut self.items[change.index as usize], &mut change.item);
        }
    }

    fn forget(&mut self, version: Version) {
        let live = &self.log[self.forgotten..];
        self.forgotten +=
            live.iter().take_while(|change| !is_later(change.version, version)).count();
        if self.forgotten == self.log.len() {
            self.log.clear();
            self.forgotten = 0;
        }
    }

    fn log_memory(&self) -> usize {
        (self.log.len() - self.forgotten) * size_of::<Change<T>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn items(table: &Table<u16>) -> Vec<u16> {
        table.iter().copied().collect()
    }

    proptest! {
        #[test]
        fn every_version_comes_back(
            versions in vec(vec((0usize..8, any::<u16>()), 0..40), 1..12),
            kept in 0usize..12,
            start in prop_oneof![Just(0u32), Just(u32::MAX - 5)],
        ) {
            let mut table = Table::new(0u16, 8);
            let mut states = vec![items(&table)];
            let version = |index: usize| start.wrapping_add(index as u32);
            for (index, changes) in versions.iter().enumerate() {
                table.record(Some(version(index + 1)));
                for &(at, value) in changes {
                    *table.change(at) = value;
                }
                states.push(items(&table));
            }
            let oldest = versions.len().saturating_sub(kept);
            table.forget(version(oldest));
            let last = states.last().cloned().unwrap_or_default();
            for index in (oldest..states.len()).rev() {
                table.rewind(version(index));
                prop_assert_eq!(&items(&table), &states[index]);
                // What is tried in the past leaves no trace.
                table.record(Some(version(versions.len() + 1)));
                for at in 0..8 {
                    *table.change(at) = 7;
                }
                table.undo(version(versions.len()));
                prop_assert_eq!(&items(&table), &states[index]);
                table.forward(version(index));
                prop_assert_eq!(&items(&table), &last);
            }
            table.undo(version(oldest));
            prop_assert_eq!(&items(&table), &states[oldest]);
        }
    }

    #[test]
    fn a_long_change_takes_no_more_than_the_table() {
        let mut table = Table::new(0u16, 16);
        table.record(Some(1));
        for round in 0..10_000u16 {
            *table.change(usize::from(round) % 16) = round;
        }
        assert!(table.log_memory() <= 4 * 16 * size_of::<Change<u16>>());
        table.undo(0);
        assert_eq!(items(&table), [0; 16]);
    }
}
