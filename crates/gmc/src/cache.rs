//! A table of fixed size: key to value, the least recently used of eight gives way.

use alloc::vec;
use alloc::vec::Vec;
use core::mem::size_of;

use crate::hash::hash;

/// Entries that a key can be in: enough that keys rarely drive each other out of a table with room
/// to spare.
const WAYS: usize = 8;

pub(crate) struct Cache<T> {
    entries: Vec<Entry<T>>,
    clock: u32,
}

#[derive(Clone)]
struct Entry<T> {
    key: u32,
    used: u32,
    value: T,
}

impl<T: Clone + Default> Cache<T> {
    /// What an entry takes, which must be the same on all machines.
    pub(crate) const ENTRY: usize = size_of::<Entry<T>>();

    pub(crate) fn new(memory: usize) -> Self {
        let sets = (memory / Self::ENTRY / WAYS).max(1);
        Self {
            entries: vec![Entry { key: 0, used: 0, value: T::default() }; sets * WAYS],
            clock: 0,
        }
    }

    pub(crate) fn memory(&self) -> usize {
        self.entries.len() * Self::ENTRY
    }

    /// The value of `key` if there is one.
    pub(crate) fn find(&self, key: u32) -> Option<&T> {
        let first = self.set(key);
        let set = &self.entries[first..first + WAYS];
        set.iter().find(|entry| entry.key == key && entry.used != 0).map(|entry| &entry.value)
    }

    /// The value of `key`, a default one if it is new.
    pub(crate) fn entry(&mut self, key: u32) -> &mut T {
        self.clock = self.clock.wrapping_add(1).max(1);
        let first = self.set(key);
        let set = &mut self.entries[first..first + WAYS];
        let found = set.iter().position(|entry| entry.key == key && entry.used != 0);
        let index = found.unwrap_or_else(|| {
            let mut least = 0;
            for index in 1..WAYS {
                if set[index].used < set[least].used {
                    least = index;
                }
            }
            set[least].key = key;
            set[least].value = T::default();
            least
        });
        set[index].used = self.clock;
        &mut set[index].value
    }

    fn set(&self, key: u32) -> usize {
        let sets = (self.entries.len() / WAYS) as u64;
        ((u64::from(hash(key, 1)) * sets) >> 32) as usize * WAYS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_gives_way() {
        let mut cache = Cache::<u32>::new(0);
        for key in 0..WAYS as u32 {
            *cache.entry(key) = key + 10;
        }
        cache.entry(0);
        cache.entry(99);
        assert_eq!(cache.find(0), Some(&10));
        assert_eq!(cache.find(1), None);
        assert_eq!(cache.find(99), Some(&0));
    }
}
