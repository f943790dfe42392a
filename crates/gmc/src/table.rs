//! Tables of fixed size whose changes can be undone. The model, all that was learned from messages,
//! consists of such tables. Its version is the number of the newest packet that it has learned.
//!
//! A packet that is coded under an old version of the model must leave the model unchanged, and a
//! decoder may have to go back a few versions for a packet that comes late. While
//! [`Versioned::record`] sets a version, tables therefore keep a log of the items that were
//! replaced.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;
use core::mem::{replace, size_of, swap};
use core::ops::{Index, Range};

use crate::config::Config;
use crate::packet_number::PacketNumber;

/// A version of the model: the number of the packet that the model has learned last.
pub(crate) type Version = PacketNumber;

/// A part of the model that can go back to an earlier version.
pub(crate) trait Versioned {
    /// Logs all changes from now on as those of `version`. `None` drops the log and ends logging.
    fn record(&mut self, version: Option<Version>);
    /// Undoes all changes later than `version` and forgets them.
    fn undo(&mut self, version: Version);
    /// Undoes all changes later than `version`, but keeps them for [`Versioned::forward`].
    fn rewind(&mut self, version: Version);
    /// Makes the changes later than `version` again, after a rewind.
    fn forward(&mut self, version: Version);
    /// Drops what is needed to undo the changes of `version` and of earlier versions. Returns the
    /// memory of the log that remains, in bytes.
    fn forget(&mut self, version: Version) -> usize;
    /// The memory of the log, in bytes.
    fn log_memory(&self) -> usize;
}

/// A table of fixed size. Changes go through [`Table::change`].
#[derive(Clone)]
pub(crate) struct Table<T> {
    items: Vec<T>,
    /// The items that were replaced, in the order of the changes. After a rewind, the items that
    /// had replaced them.
    log: Vec<T>,
    changes: Changes,
}

/// The indices and versions of the logged items. This code is shared by tables of all item types.
#[derive(Clone)]
struct Changes {
    /// The index in the table of each logged item.
    indices: Vec<PackedIndex>,
    /// The positions in the log where the changes of each version start, the oldest first.
    marks: VecDeque<Mark>,
    version: Option<Version>,
    /// The index of the item that was logged last, or [`NONE`] if the present version has no mark.
    /// It gets one with its first change.
    last: u32,
}

/// Stands for no index. Indices are smaller, because a packed index has three bytes.
const NONE: u32 = u32::MAX;

/// An index of a table in three bytes, since the log has to be small.
type PackedIndex = [u8; 3];

const _: () = assert!(Config::MEMORY_MAX <= 1 << 24);

fn pack(index: usize) -> PackedIndex {
    let [a, b, c, _] = (index as u32).to_le_bytes();
    [a, b, c]
}

fn index([a, b, c]: PackedIndex) -> usize {
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
            log: Vec::new(),
            changes: Changes {
                indices: Vec::new(),
                marks: VecDeque::new(),
                version: None,
                last: NONE,
            },
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter()
    }

    /// The item with this index, if there is one.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&T> {
        self.items.get(index)
    }

    /// The items from this index on, if there are any.
    #[cfg(feature = "fast")]
    #[inline]
    pub(crate) fn get_from(&self, index: usize) -> Option<&[T]> {
        self.items.get(index..)
    }

    pub(crate) fn slice(&self, range: Range<usize>) -> &[T] {
        &self.items[range]
    }

    /// The memory of the items, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.items.len() * size_of::<T>()
    }

    /// Gives access to an item for a change. The item is logged before.
    #[inline]
    pub(crate) fn change(&mut self, index: usize) -> &mut T {
        if let Some(version) = self.changes.version {
            // An item that was logged last is often changed again, and is then not logged.
            if cfg!(not(feature = "fast")) || self.changes.last != index as u32 {
                self.log(version, index);
            }
        }
        &mut self.items[index]
    }

    /// Gives access to all items for changes, which are not logged: for tables that do not keep a
    /// log now.
    #[inline]
    pub(crate) fn unlogged(&mut self) -> &mut [T] {
        debug_assert!(self.changes.version.is_none(), "a change that may be undone is logged");
        &mut self.items
    }

    /// Gives access to all items for a change of the two items with these indices, which are logged
    /// before.
    #[inline]
    pub(crate) fn change_two(&mut self, first: usize, second: usize) -> &mut [T] {
        if let Some(version) = self.changes.version {
            self.log_two(version, first, second);
        }
        &mut self.items
    }

    /// Replaces the items of a range by `item`.
    pub(crate) fn fill(&mut self, range: Range<usize>, item: T) {
        if let Some(version) = self.changes.version {
            let spare = self.spare();
            let Changes { indices, last, .. } = &mut self.changes;
            if cfg!(feature = "fast") && *last != NONE && range.len() <= spare && !range.is_empty()
            {
                *last = range.end as u32 - 1;
                indices.extend(range.clone().map(pack));
                self.log.extend_from_slice(&self.items[range.clone()]);
            } else {
                range.clone().for_each(|index| self.log(version, index));
            }
        }
        self.items[range].fill(item);
    }

    /// Replaces an item by `item`, unless the two are equal.
    pub(crate) fn put(&mut self, index: usize, item: T)
    where
        T: PartialEq,
    {
        if self.items[index] != item {
            *self.change(index) = item;
        }
    }

    /// The number of items that can be logged before the log has to grow.
    #[inline]
    fn spare(&self) -> usize {
        let indices = &self.changes.indices;
        (self.log.capacity() - self.log.len()).min(indices.capacity() - indices.len())
    }

    /// Logs two items. In the usual case both are logged at once.
    #[inline]
    fn log_two(&mut self, version: Version, first: usize, second: usize) {
        let last = self.changes.last;
        let differ = first != second && last != first as u32 && last != NONE;
        if cfg!(feature = "fast") && differ && self.spare() >= 2 {
            self.changes.last = second as u32;
            self.changes.indices.extend([pack(first), pack(second)]);
            self.log.extend([self.items[first].clone(), self.items[second].clone()]);
        } else {
            self.log(version, first);
            self.log(version, second);
        }
    }

    #[inline(never)]
    fn log(&mut self, version: Version, index: usize) {
        let Changes { indices, last, .. } = &mut self.changes;
        if *last == index as u32 {
            return;
        }
        // The usual case, in few instructions.
        if *last != NONE
            && self.log.len() < self.log.capacity()
            && indices.len() < indices.capacity()
        {
            *last = index as u32;
            indices.push(pack(index));
            self.log.push(self.items[index].clone());
            return;
        }
        self.log_first(version, index);
    }

    /// Logs an item where the version has no mark yet, or the log has to grow.
    #[cold]
    #[inline(never)]
    fn log_first(&mut self, version: Version, index: usize) {
        if self.changes.last == NONE {
            self.changes.mark(version);
        }
        if self.log.len() == self.log.capacity() {
            self.tidy();
        }
        self.changes.last = index as u32;
        self.changes.indices.push(pack(index));
        self.log.push(self.items[index].clone());
    }

    /// Makes room before the log grows: drops entries of forgotten versions, and entries whose item
    /// has an earlier entry of the same version.
    #[cold]
    fn tidy(&mut self) {
        self.log.drain(..self.changes.drop_forgotten());
        let first = self.changes.newest();
        if self.log.len() - first > self.items.len() {
            self.changes.drop_repeated(first, self.items.len(), &mut |to, from| {
                self.log.swap(to, from);
            });
            self.log.truncate(self.changes.indices.len());
        }
    }
}

impl Changes {
    /// Marks the start of a version's changes.
    fn mark(&mut self, version: Version) {
        self.marks.push_back(Mark { version, start: self.indices.len() });
    }

    /// Drops the entries before the first mark. Returns how many there were.
    fn drop_forgotten(&mut self) -> usize {
        let forgotten = self.forgotten();
        self.indices.drain(..forgotten);
        for mark in &mut self.marks {
            mark.start -= forgotten;
        }
        forgotten
    }

    /// The number of entries before the first mark, which belong to forgotten versions.
    fn forgotten(&self) -> usize {
        self.marks.front().map_or(self.indices.len(), |mark| mark.start)
    }

    /// The position where the changes of the newest version start.
    fn newest(&self) -> usize {
        self.marks.back().map_or(0, |mark| mark.start)
    }

    /// Looks at the entries from `first` on, and drops those whose item has an earlier entry among
    /// them: the earlier one has the older value. `items` is the number of items of the table.
    /// Calls `swap` for entries that change indices.
    fn drop_repeated(&mut self, first: usize, items: usize, swap: &mut dyn FnMut(usize, usize)) {
        let mut seen = vec![false; items];
        let mut kept = first;
        for at in first..self.indices.len() {
            if !replace(&mut seen[index(self.indices[at])], true) {
                self.indices.swap(kept, at);
                swap(kept, at);
                kept += 1;
            }
        }
        self.indices.truncate(kept);
    }

    /// Whether there are changes later than `version`.
    fn has_later(&self, version: Version) -> bool {
        self.marks.back().is_some_and(|mark| mark.version.is_after(version))
    }

    /// The index of the first mark later than `version`.
    fn later(&self, version: Version) -> usize {
        let earlier = self.marks.iter().rev().take_while(|mark| mark.version.is_after(version));
        self.marks.len() - earlier.count()
    }

    /// The position where the changes later than `version` start.
    fn start(&self, version: Version) -> usize {
        self.marks.get(self.later(version)).map_or(self.indices.len(), |mark| mark.start)
    }

    fn record(&mut self, version: Option<Version>) {
        self.version = version;
        let is_marked = self.marks.back().is_some_and(|mark| Some(mark.version) == version);
        let last = self.indices.last().filter(|_| is_marked);
        self.last = last.map_or(NONE, |&last| index(last) as u32);
        if version.is_none() {
            self.indices.clear();
            self.marks.clear();
        }
    }

    /// Drops all changes later than `version`.
    fn undo(&mut self, version: Version) {
        let later = self.later(version);
        if let Some(mark) = self.marks.get(later) {
            self.indices.truncate(mark.start);
            self.marks.truncate(later);
            self.last = NONE;
        }
    }

    fn forget(&mut self, version: Version) {
        while self.marks.front().is_some_and(|mark| !mark.version.is_after(version)) {
            self.marks.pop_front();
        }
        if self.marks.is_empty() {
            self.indices.clear();
            self.last = NONE;
        }
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
        self.changes.record(version);
        self.log.truncate(self.changes.indices.len());
    }

    fn undo(&mut self, version: Version) {
        // Most tables have not changed.
        if !self.changes.has_later(version) {
            return;
        }
        self.rewind(version);
        self.changes.undo(version);
        self.log.truncate(self.changes.indices.len());
    }

    fn rewind(&mut self, version: Version) {
        let start = self.changes.start(version);
        let changes = self.changes.indices[start..].iter().zip(&mut self.log[start..]);
        for (&packed, item) in changes.rev() {
            swap(&mut self.items[index(packed)], item);
        }
    }

    fn forward(&mut self, version: Version) {
        let start = self.changes.start(version);
        for (&packed, item) in self.changes.indices[start..].iter().zip(&mut self.log[start..]) {
            swap(&mut self.items[index(packed)], item);
        }
    }

    fn forget(&mut self, version: Version) -> usize {
        // Most tables have no log.
        if self.changes.indices.is_empty() {
            return 0;
        }
        self.changes.forget(version);
        self.log.truncate(self.changes.indices.len());
        self.log_memory()
    }

    fn log_memory(&self) -> usize {
        if self.changes.indices.is_empty() {
            return 0;
        }
        (self.log.len() - self.changes.forgotten()) * (size_of::<PackedIndex>() + size_of::<T>())
            + self.changes.marks.len() * size_of::<Mark>()
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
            let version = |index: usize| Version::new(start.wrapping_add(index as u32));
            for (index, changes) in versions.iter().enumerate() {
                table.record(Some(version(index + 1)));
                for &(at, value) in changes {
                    if value % 4 == 0 {
                        table.fill(at / 2..at + 1, value);
                    }
                    if value % 4 == 1 {
                        let two = table.change_two(at, usize::from(value / 4) % 8);
                        two[at] ^= 1;
                        two[usize::from(value / 4) % 8] ^= 2;
                    }
                    *table.change(at) = value;
                }
                states.push(items(&table));
            }
            let oldest = versions.len().saturating_sub(kept);
            let kept_memory = table.forget(version(oldest));
            prop_assert_eq!(kept_memory, table.log_memory());
            let last = states.last().cloned().unwrap_or_default();
            for index in (oldest..states.len()).rev() {
                table.rewind(version(index));
                prop_assert_eq!(&items(&table), &states[index]);
                // Changes made in an earlier version and undone leave no trace.
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
        table.record(Some(Version::new(1)));
        for round in 0..10_000u16 {
            *table.change(usize::from(round) % 16) = round;
        }
        assert!(table.log_memory() <= 4 * 16 * (size_of::<PackedIndex>() + size_of::<u16>()));
        table.undo(Version::new(0));
        assert_eq!(items(&table), [0; 16]);
    }
}
