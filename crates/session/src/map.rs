//! An ordered map with small machine code. A browser has to download the code for each pair of key
//! and value types; that of `BTreeMap` has several kilobytes for each pair.

use alloc::vec;
use alloc::vec::Vec;
use core::mem::{replace, take};

/// The most entries in a chunk. It is small, so that moving half of them takes less than a
/// microsecond, but large enough that the list of chunks is short.
const CHUNK: usize = 128;

/// A map whose entries are in the order of their keys, in chunks. No chunk is empty, and after a
/// removal two neighbouring chunks are joined if they have at most `CHUNK / 2` entries together, so
/// that memory shrinks with the number of entries.
#[derive(Debug)]
pub(crate) struct Map<K, V> {
    chunks: Vec<Vec<(K, V)>>,
    len: usize,
}

/// The place of an entry: the index of its chunk, and its index in the chunk.
type Place = (usize, usize);

impl<K: Ord, V> Map<K, V> {
    pub(crate) const fn new() -> Self {
        Map { chunks: Vec::new(), len: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        self.find(key).ok().map(|(chunk, at)| &self.chunks[chunk][at].1)
    }

    pub(crate) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.find(key).ok().map(|(chunk, at)| &mut self.chunks[chunk][at].1)
    }

    pub(crate) fn contains_key(&self, key: &K) -> bool {
        self.find(key).is_ok()
    }

    /// Inserts or replaces the value of a key. Returns the value that was replaced.
    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.find(&key) {
            Ok((chunk, at)) => Some(replace(&mut self.chunks[chunk][at].1, value)),
            Err(place) => {
                self.insert_at(place, key, value);
                None
            }
        }
    }

    /// The value of a key. If there is none, `value` is inserted first.
    pub(crate) fn or_insert(&mut self, key: K, value: V) -> &mut V {
        let (chunk, at) = match self.find(&key) {
            Ok(place) => place,
            Err(place) => self.insert_at(place, key, value),
        };
        &mut self.chunks[chunk][at].1
    }

    pub(crate) fn remove(&mut self, key: &K) -> Option<V> {
        let place = self.find(key).ok()?;
        Some(self.remove_at(place))
    }

    /// Removes the entry with the smallest key, and returns its value.
    pub(crate) fn pop_first(&mut self) -> Option<V> {
        (!self.is_empty()).then(|| self.remove_at((0, 0)))
    }

    /// Removes the entries for which `keep` returns false.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&K, &V) -> bool) {
        for entry in take(self) {
            if keep(&entry.0, &entry.1) {
                // The key is greater than those that are already in the map.
                let last = self.end();
                self.insert_at(last, entry.0, entry.1);
            }
        }
    }

    /// The entries whose keys are `key` or greater, in order.
    pub(crate) fn from(&self, key: K) -> impl Iterator<Item = (&K, &V)> {
        let (chunk, at) = self.find(&key).unwrap_or_else(|place| place);
        let entries = self.chunks.iter().skip(chunk).flatten().skip(at);
        entries.map(|(key, value)| (key, value))
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.chunks.iter_mut().flatten().map(|(_, value)| value)
    }

    pub(crate) fn first(&self) -> Option<(&K, &V)> {
        self.chunks.first()?.first().map(|(key, value)| (key, value))
    }

    /// The place of a key, or else the place where it would be inserted.
    fn find(&self, key: &K) -> Result<Place, Place> {
        let before = |chunk: &Vec<(K, V)>| chunk.last().is_some_and(|(last, _)| last < key);
        let at = self.chunks.partition_point(before);
        let Some(chunk) = self.chunks.get(at) else { return Err(self.end()) };
        match chunk.binary_search_by(|(other, _)| other.cmp(key)) {
            Ok(entry) => Ok((at, entry)),
            Err(entry) => Err((at, entry)),
        }
    }

    /// The place after the last entry.
    fn end(&self) -> Place {
        let last = self.chunks.len().saturating_sub(1);
        (last, self.chunks.last().map_or(0, Vec::len))
    }

    fn insert_at(&mut self, (mut chunk, mut at): Place, key: K, value: V) -> Place {
        self.len += 1;
        match self.chunks.get_mut(chunk) {
            None => self.chunks.push(vec![]),
            Some(full) if full.len() == CHUNK => {
                // A key after the end of a full chunk gets a new chunk, so that keys inserted in
                // rising order leave full chunks behind.
                let middle = if at == CHUNK { CHUNK } else { CHUNK / 2 };
                let tail = full.split_off(middle);
                self.chunks.insert(chunk + 1, tail);
                if at >= middle {
                    (chunk, at) = (chunk + 1, at - middle);
                }
            }
            Some(_) => {}
        }
        let (before, after) = self.chunks[chunk].split_at(at);
        debug_assert!(
            before.last().is_none_or(|(other, _)| *other < key)
                && after.first().is_none_or(|(other, _)| key < *other),
            "the keys of a chunk are in order"
        );
        self.chunks[chunk].insert(at, (key, value));
        (chunk, at)
    }

    fn remove_at(&mut self, (chunk, at): Place) -> V {
        self.len -= 1;
        let (_, value) = self.chunks[chunk].remove(at);
        self.join(chunk);
        if chunk > 0 {
            self.join(chunk - 1);
        }
        if self.is_empty() {
            self.chunks.clear();
        }
        debug_assert!(
            self.chunks.iter().all(|chunk| (1..=CHUNK).contains(&chunk.len())),
            "no chunk is empty or too long"
        );
        value
    }

    /// Joins a chunk and the next one if one is empty, or both have few entries.
    fn join(&mut self, chunk: usize) {
        let length = |at: usize| self.chunks.get(at).map(Vec::len);
        let (Some(one), Some(other)) = (length(chunk), length(chunk + 1)) else { return };
        if one == 0 || other == 0 || one + other <= CHUNK / 2 {
            let mut next = self.chunks.remove(chunk + 1);
            self.chunks[chunk].append(&mut next);
        }
    }
}

impl<K: Ord, V> Default for Map<K, V> {
    fn default() -> Self {
        Map::new()
    }
}

impl<K, V> IntoIterator for Map<K, V> {
    type Item = (K, V);
    type IntoIter = core::iter::Flatten<vec::IntoIter<Vec<(K, V)>>>;

    fn into_iter(self) -> Self::IntoIter {
        self.chunks.into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn check(map: &Map<u16, u32>, model: &BTreeMap<u16, u32>) {
        assert_eq!(map.len(), model.len());
        assert!(map.from(0).eq(model.iter()));
        assert_eq!(map.first(), model.first_key_value());
        assert!(map.chunks.iter().all(|chunk| (1..=CHUNK).contains(&chunk.len())));
    }

    proptest! {
        #[test]
        fn behaves_like_btree_map(
            steps in vec((0u8..7, any::<u16>(), any::<u32>()), 0..3000),
            keys in 1u16..2000,
        ) {
            let (mut map, mut model) = (Map::new(), BTreeMap::new());
            for (step, key, value) in steps {
                let key = key % keys;
                match step {
                    0..=2 => prop_assert_eq!(map.insert(key, value), model.insert(key, value)),
                    3 => {
                        let mine = *map.or_insert(key, value);
                        prop_assert_eq!(mine, *model.entry(key).or_insert(value));
                    }
                    4 => prop_assert_eq!(map.remove(&key), model.remove(&key)),
                    5 if value % 8 == 0 => {
                        let first = model.pop_first().map(|(_, value)| value);
                        prop_assert_eq!(map.pop_first(), first);
                    }
                    6 if value % 256 == 0 => {
                        map.retain(|key, value| u32::from(*key) % 3 != value % 3);
                        model.retain(|key, value| u32::from(*key) % 3 != *value % 3);
                    }
                    _ => {
                        prop_assert_eq!(map.get(&key), model.get(&key));
                        prop_assert_eq!(map.get_mut(&key), model.get_mut(&key));
                        prop_assert_eq!(map.contains_key(&key), model.contains_key(&key));
                        prop_assert!(map.from(key).eq(model.range(key..)));
                    }
                }
            }
            check(&map, &model);
            prop_assert!(map.into_iter().eq(model));
        }
    }

    #[test]
    fn removed_entries_free_their_memory() {
        let mut map = Map::new();
        for key in 0..10_000u16 {
            map.insert(key, 0);
        }
        assert_eq!(map.chunks.len(), 10_000usize.div_ceil(CHUNK));
        for key in 0..10_000u16 {
            if key % 100 != 0 {
                map.remove(&key);
            }
        }
        assert!(map.chunks.len() <= 4 * 100usize.div_ceil(CHUNK) + 4);
        (0..10_000u16).for_each(|key| _ = map.remove(&key));
        assert!(map.is_empty() && map.chunks.is_empty());
    }
}
