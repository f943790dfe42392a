//! A table of fixed size from keys to values. It is divided into sets of eight entries, and a key
//! belongs to one set. When a set is full, a new key replaces the entry of the set that was used
//! longest ago.

use alloc::vec::Vec;
use core::mem::size_of;

use crate::hash::hash;
use crate::sort::sort;
use crate::table::{Table, Versioned};

pub(crate) mod snapshot;

/// The number of entries of a set: enough that keys rarely replace each other while other sets have
/// free entries.
const WAYS: usize = 8;

#[derive(Clone)]
pub(crate) struct Cache<T> {
    entries: Table<Entry<T>>,
    /// The number of entries of a set: [`WAYS`], or fewer in a smaller table.
    ways: usize,
    /// The number of sets.
    sets: u64,
    clock: Table<u32>,
    /// Where keys were marked last, by a hash of the key. A key may be elsewhere, or not in the
    /// table.
    #[cfg(feature = "fast")]
    hints: [u16; HINTS],
}

/// The number of hints: enough for the keys of a few types of messages.
#[cfg(feature = "fast")]
const HINTS: usize = 64;

/// The index of a key's hint.
#[cfg(feature = "fast")]
#[inline]
fn hint(key: u32) -> usize {
    (key.wrapping_mul(0x9e37_79b1) >> 26) as usize % HINTS
}

#[derive(Clone)]
struct Entry<T> {
    key: u32,
    used: u32,
    value: T,
}

impl<T: Clone + Default> Cache<T> {
    /// Bytes of an entry. The number must be the same on all machines, since both ends have the
    /// same number of entries.
    pub(crate) const ENTRY: usize = size_of::<Entry<T>>();

    pub(crate) fn new(memory: usize) -> Self {
        let entries = (memory / Self::ENTRY).max(1);
        let ways = entries.min(WAYS);
        let sets = entries / ways;
        Self {
            ways,
            sets: sets as u64,
            entries: Table::new(Entry { key: 0, used: 0, value: T::default() }, sets * ways),
            clock: Table::new(0, 1),
            #[cfg(feature = "fast")]
            hints: [0; HINTS],
        }
    }

    pub(crate) fn memory(&self) -> usize {
        self.entries.memory()
    }

    /// The value of `key`, or `None` if the key is not in the table.
    pub(crate) fn find(&self, key: u32) -> Option<&T> {
        self.index(key).map(|index| &self.entries[index].value)
    }

    /// The value of `key`, for a change. A key that is not in the table is added with the default
    /// value.
    pub(crate) fn entry(&mut self, key: u32) -> &mut T {
        let at = self.index(key);
        self.entry_at(key, at)
    }

    /// The same as [`Cache::entry`]. `at` is the index at which [`Cache::index`] found the key, or
    /// `None` if it did not. Other keys may have been added since.
    pub(crate) fn entry_at(&mut self, key: u32, at: Option<usize>) -> &mut T {
        &mut self.mark(key, at).1.value
    }

    /// Marks the key as the one that was used last. A key that is not in the table is added with
    /// the default value. Returns its index. `at` is as in [`Cache::entry_at`].
    pub(crate) fn touch(&mut self, key: u32, at: Option<usize>) -> usize {
        self.mark(key, at).0
    }

    /// The same as [`Cache::entry_at`], but a key that is still where [`Cache::touch`] found it is
    /// not marked again.
    pub(crate) fn touched_at(&mut self, key: u32, at: Option<usize>) -> &mut T {
        match self.still(key, at) {
            Some(at) if cfg!(feature = "fast") => &mut self.entries.change(at).value,
            at => self.entry_at(key, at),
        }
    }

    #[cfg_attr(feature = "fast", inline)]
    fn mark(&mut self, key: u32, at: Option<usize>) -> (usize, &mut Entry<T>) {
        let used = self.tick();
        let at = match at {
            Some(at) if self.entries[at].key == key => at,
            _ => self.index(key).unwrap_or_else(|| self.add(key)),
        };
        #[cfg(feature = "fast")]
        {
            self.hints[hint(key)] = at as u16;
        }
        let entry = self.entries.change(at);
        entry.used = used;
        (at, entry)
    }

    /// Gives a key the default value, in the entry of its set that was used longest ago. Returns
    /// the entry's index.
    #[inline(never)]
    fn add(&mut self, key: u32) -> usize {
        let first = self.set(key);
        let mut least = first;
        for index in first + 1..first + self.ways {
            if self.entries[index].used < self.entries[least].used {
                least = index;
            }
        }
        *self.entries.change(least) = Entry { key, used: 0, value: T::default() };
        least
    }

    /// The value at an index that [`Cache::index`] returned.
    pub(crate) fn at(&self, index: usize) -> &T {
        &self.entries[index].value
    }

    fn tick(&mut self) -> u32 {
        if self.clock[0] == u32::MAX {
            self.renumber();
        }
        let clock = self.clock[0] + 1;
        *self.clock.change(0) = clock;
        clock
    }

    /// Numbers the times of use anew from 1, in the same order: only their order matters.
    #[cold]
    fn renumber(&mut self) {
        let entries = self.entries.iter().enumerate().filter(|(_, entry)| entry.used != 0);
        let mut uses: Vec<(u32, usize)> =
            entries.map(|(index, entry)| (entry.used, index)).collect();
        sort(&mut uses);
        for (used, &(before, index)) in (1..).zip(&uses) {
            if before != used {
                self.entries.change(index).used = used;
            }
        }
        self.clock.put(0, uses.len() as u32);
    }

    /// The index of `key` in the table, or `None` if the key is not there.
    #[inline]
    pub(crate) fn index(&self, key: u32) -> Option<usize> {
        // Many tables stay empty.
        if cfg!(feature = "fast") && self.clock[0] == 0 {
            return None;
        }
        #[cfg(feature = "fast")]
        {
            let at = self.hints[hint(key)].into();
            if self.entries.get(at).is_some_and(|entry| entry.key == key && entry.used != 0) {
                return Some(at);
            }
        }
        self.search(key)
    }

    /// Looks for a key in all entries of its set.
    #[cfg_attr(feature = "fast", inline(never))]
    fn search(&self, key: u32) -> Option<usize> {
        let first = self.set(key);
        let set = self.entries.slice(first..first + self.ways);
        let has_key = |entry: &Entry<T>| entry.key == key && entry.used != 0;
        let way = match set.first_chunk::<WAYS>() {
            // A known number of entries is searched in half the time.
            Some(set) if cfg!(feature = "fast") => set.iter().position(has_key),
            _ => set.iter().position(has_key),
        };
        way.map(|way| first + way)
    }

    /// The index of `key` in the table. `at` is what [`Cache::index`] returned for it before
    /// another key was added.
    pub(crate) fn still(&self, key: u32, at: Option<usize>) -> Option<usize> {
        at.filter(|&at| self.entries[at].key == key)
    }

    fn set(&self, key: u32) -> usize {
        ((u64::from(hash(key, 1)) * self.sets) >> 32) as usize * self.ways
    }
}

impl<T: Clone> Cache<T> {
    /// Passes each table to `visit`, so that the caller can undo the changes of that table (see
    /// [`Versioned`]).
    pub(crate) fn visit(&mut self, visit: &mut dyn FnMut(&mut dyn Versioned)) {
        visit(&mut self.entries);
        visit(&mut self.clock);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A key is found where it is, also where many keys share few entries.
        #[test]
        fn a_key_is_found_where_it_is(
            keys in proptest::collection::vec(0u32..200, 0..300),
            entries in 1usize..40,
        ) {
            let mut cache = Cache::<u32>::new(12 * entries);
            for key in keys {
                *cache.entry(key) = key;
                for key in 0..200 {
                    let is_there = |entry: &Entry<u32>| entry.key == key && entry.used != 0;
                    prop_assert_eq!(cache.index(key), cache.entries.iter().position(is_there));
                }
            }
        }
    }

    #[test]
    fn the_least_recently_used_gives_way() {
        let mut cache = Cache::<u32>::new(12 * WAYS);
        for key in 0..WAYS as u32 {
            *cache.entry(key) = key + 10;
        }
        cache.entry(0);
        cache.entry(99);
        assert_eq!(cache.find(0), Some(&10));
        assert_eq!(cache.find(1), None);
        assert_eq!(cache.find(99), Some(&0));
    }

    #[test]
    fn a_value_is_changed_where_it_was_found() {
        // Of two keys that share the only entry each replaces the other.
        let mut cache = Cache::<u32>::new(12);
        let at = Some(cache.touch(1, None));
        *cache.touched_at(1, at) = 7;
        assert_eq!(cache.find(1), Some(&7));
        cache.touch(2, None);
        assert_eq!((cache.still(1, at), cache.still(2, at)), (None, at));
        assert_eq!(*cache.touched_at(1, at), 0);
        assert_eq!((cache.find(1), cache.find(2)), (Some(&0), None));
    }

    #[test]
    fn the_order_of_use_outlasts_the_clock() {
        let mut cache = Cache::<u32>::new(12 * WAYS);
        cache.clock.put(0, u32::MAX - WAYS as u32 + 1);
        for key in 0..WAYS as u32 + 2 {
            *cache.entry(key) = key;
        }
        assert_eq!([0, 1, 2].map(|key| cache.find(key).is_some()), [false, false, true]);
    }
}
