//! Tables of fixed size whose changes can be taken back.
//!
//! A packet that is coded under an old version of the model must leave no trace in it, and a decoder
//! may have to go back a few versions for a packet that comes late. Tables therefore keep a log of
//! what was there before, if they are told to.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;
use core::mem::{replace, size_of, swap};
use core::ops::{Index, Range};

use crate::config::Config;

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
#[derive(Clone)]
pub(crate) struct Table<T> {
    items: Vec<T>,
    /// Which items changed.
    places: Vec<Place>,
    /// What was there before; after a rewind, what was there behind it.
    log: Vec<T>,
    /// Where the changes of each version start in the log.
    marks: VecDeque<Mark>,
    version: Option<Version>,
    /// Whether the version has a mark.
    is_marked: bool,
}

/// An index in three bytes, since the log has to be small.
type Place = [u8; 3];

const _: () = assert!(Config::MEMORY_MAX <= 1 << 24);

fn place(index: usize) -> Place {
    let [a, b, c, _] = (index as u32).to_le_bytes();
    [a, b, c]
}

fn index([a, b, c]: Place) -> usize {
    u32::from_le_bytes([a, b, c, 0]) as usize
}

#[derive(Clone)]
struct Mark {
    version: Version,
    start: usize,
}

impl<T: Clone> Table<T> {
    pub(crate) fn new(item: T, count: usize) -> Self {
        Self {
            items: vec![item; count],
            places: Vec::new(),
            log: Vec::new(),
            marks: VecDeque::new(),
            version: None,
            is_marked: false,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter()
    }

    pub(crate) fn slice(&self, range: Range<usize>) -> &[T] {
        &self.items[range]
    }

    /// Bytes of the items.
    pub(crate) fn memory(&self) -> usize {
        self.items.len() * size_of::<T>()
    }

    /// The item, to be changed.
    #[inline]
    pub(crate) fn change(&mut self, index: usize) -> &mut T {
        if let Some(version) = self.version {
            self.log(version, index);
        }
        &mut self.items[index]
    }

    /// Makes the item this one, if it is not.
    pub(crate) fn put(&mut self, index: usize, item: T)
    where
        T: PartialEq,
    {
        if self.items[index] != item {
            *self.change(index) = item;
        }
    }

    #[inline]
    fn log(&mut self, version: Version, index: usize) {
        if !self.is_marked {
            self.marks.push_back(Mark { version, start: self.log.len() });
            self.is_marked = true;
        } else if self.places.last() == Some(&place(index)) {
            return;
        }
        if self.log.len() == self.log.capacity() {
            self.tidy();
        }
        self.places.push(place(index));
        self.log.push(self.items[index].clone());
    }

    /// Before the log grows: drops what is forgotten, and what this version logged twice.
    fn tidy(&mut self) {
        let forgotten = self.marks.front().map_or(self.log.len(), |mark| mark.start);
        self.places.drain(..forgotten);
        self.log.drain(..forgotten);
        for mark in &mut self.marks {
            mark.start -= forgotten;
        }
        let first = self.marks.back().map_or(0, |mark| mark.start);
        if self.log.len() - first <= self.items.len() {
            return;
        }
        // The first change of an item knows what was there before all others.
        let mut seen = vec![false; self.items.len()];
        let mut kept = first;
        for at in first..self.log.len() {
            if !replace(&mut seen[index(self.places[at])], true) {
                self.places.swap(kept, at);
                self.log.swap(kept, at);
                kept += 1;
            }
        }
        self.places.truncate(kept);
        self.log.truncate(kept);
    }

    /// Where the changes later than `version` start, among the marks.
    fn later(&self, version: Version) -> usize {
        let earlier = self.marks.iter().rev().take_while(|mark| is_later(mark.version, version));
        self.marks.len() - earlier.count()
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
        self.is_marked = self.marks.back().is_some_and(|mark| Some(mark.version) == version);
        if version.is_none() {
            self.places.clear();
            self.log.clear();
            self.marks.clear();
        }
    }

    fn undo(&mut self, version: Version) {
        let later = self.later(version);
        let Some(mark) = self.marks.get(later) else { return };
        let places = self.places.drain(mark.start..).rev();
        for (place, item) in places.zip(self.log.drain(mark.start..).rev()) {
            self.items[index(place)] = item;
        }
        self.marks.truncate(later);
        self.is_marked = false;
    }

    fn rewind(&mut self, version: Version) {
        let Some(mark) = self.marks.get(self.later(version)) else { return };
        let changes = self.places[mark.start..].iter().zip(&mut self.log[mark.start..]);
        for (&place, item) in changes.rev() {
            swap(&mut self.items[index(place)], item);
        }
    }

    fn forward(&mut self, version: Version) {
        let Some(mark) = self.marks.get(self.later(version)) else { return };
        for (&place, item) in self.places[mark.start..].iter().zip(&mut self.log[mark.start..]) {
            swap(&mut self.items[index(place)], item);
        }
    }

    fn forget(&mut self, version: Version) {
        while self.marks.front().is_some_and(|mark| !is_later(mark.version, version)) {
            self.marks.pop_front();
        }
        if self.marks.is_empty() {
            self.places.clear();
            self.log.clear();
            self.is_marked = false;
        }
    }

    fn log_memory(&self) -> usize {
        let forgotten = self.marks.front().map_or(self.log.len(), |mark| mark.start);
        (self.log.len() - forgotten) * (size_of::<Place>() + size_of::<T>())
            + self.marks.len() * size_of::<Mark>()
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
        assert!(table.log_memory() <= 4 * 16 * (size_of::<Place>() + size_of::<u16>()));
        table.undo(0);
        assert_eq!(items(&table), [0; 16]);
    }
}
