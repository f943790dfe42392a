//! A map that remembers the order in which its keys were added, as JavaScript's `Map` does. State
//! is written in this order, and it is the same for all programs.

use alloc::collections::BTreeMap;

/// A map in the order of its keys' insertion. A new value of a key keeps the key's place; a key
/// that was removed and comes again is the last one.
#[derive(Debug, Clone)]
pub(crate) struct Ordered<K, V> {
    places: BTreeMap<K, u64>,
    entries: BTreeMap<u64, (K, V)>,
    next: u64,
}

impl<K, V> Default for Ordered<K, V> {
    fn default() -> Self {
        Ordered { places: BTreeMap::new(), entries: BTreeMap::new(), next: 0 }
    }
}

impl<K: Ord + Clone, V> Ordered<K, V> {
    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        Some(&self.entries.get(self.places.get(key)?)?.1)
    }

    pub(crate) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        Some(&mut self.entries.get_mut(self.places.get(key)?)?.1)
    }

    pub(crate) fn insert(&mut self, key: K, value: V) {
        let place = *self.places.entry(key.clone()).or_insert(self.next);
        self.next = self.next.max(place + 1);
        self.entries.insert(place, (key, value));
    }

    pub(crate) fn remove(&mut self, key: &K) -> Option<V> {
        Some(self.entries.remove(&self.places.remove(key)?)?.1)
    }

    pub(crate) fn remove_first(&mut self) -> Option<(K, V)> {
        let (_, (key, value)) = self.entries.pop_first()?;
        self.places.remove(&key);
        Some((key, value))
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.entries.values().map(|(key, value)| (key, value))
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.places.clear();
        self.entries.clear();
    }
}

impl<K: Ord + Clone, V> FromIterator<(K, V)> for Ordered<K, V> {
    fn from_iter<Entries: IntoIterator<Item = (K, V)>>(entries: Entries) -> Self {
        let mut map = Ordered::default();
        entries.into_iter().for_each(|(key, value)| map.insert(key, value));
        map
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn keys_keep_their_places() {
        let mut map: Ordered<_, _> = [("b", 1), ("a", 2), ("c", 3)].into_iter().collect();
        map.insert("a", 4);
        assert_eq!(map.remove(&"b"), Some(1));
        map.insert("b", 5);
        assert_eq!(map.iter().collect::<Vec<_>>(), [(&"a", &4), (&"c", &3), (&"b", &5)]);
        assert_eq!((map.remove_first(), map.get(&"a"), map.len()), (Some(("a", 4)), None, 2));
    }
}
