//! A queue in which a newer value of a key replaces the older one (conflation). Clients and rooms
//! use it.

use crate::ids::Order;
use crate::map::Map;

/// Values in the order in which they were pushed. A value with a key goes to the end, and the older
/// value of that key is removed.
#[derive(Debug)]
pub(crate) struct Latest<K, V> {
    items: Map<Order, (Option<K>, V)>,
    /// The order number of the newest value of each key.
    newest: Map<K, Order>,
}

impl<K: Ord + Clone, V> Latest<K, V> {
    pub(crate) const fn new() -> Self {
        Latest { items: Map::new(), newest: Map::new() }
    }

    /// Appends a value. `order` must be greater than in all calls before. Returns the value that
    /// was replaced.
    pub(crate) fn push(&mut self, order: Order, key: Option<K>, value: V) -> Option<V> {
        let replaced = key.as_ref().and_then(|key| self.newest.insert(key.clone(), order));
        self.items.insert(order, (key, value));
        replaced.and_then(|order| self.items.remove(&order)).map(|(_, value)| value)
    }

    /// The order number of the newest value of a key.
    pub(crate) fn newest(&self, key: &K) -> Option<Order> {
        self.newest.get(key).copied()
    }

    /// Separates a value from its key, so that later values of the key do not replace it. Returns
    /// the value.
    pub(crate) fn detach(&mut self, order: Order) -> Option<&mut V> {
        let (key, value) = self.items.get_mut(&order)?;
        if let Some(key) = key.take() {
            self.newest.remove(&key);
        }
        Some(value)
    }

    /// All values whose order numbers are greater than `order`, the oldest first.
    pub(crate) fn after(&self, order: Order) -> impl Iterator<Item = (Order, &V)> {
        self.items
            .from(Order(order.get().saturating_add(1)))
            .map(|(&order, (_, value))| (order, value))
    }

    pub(crate) fn into_values(self) -> impl Iterator<Item = (Order, V)> {
        self.items.into_iter().map(|(order, (_, value))| (order, value))
    }

    pub(crate) fn get(&self, order: Order) -> Option<&V> {
        self.items.get(&order).map(|(_, value)| value)
    }

    /// True if there is a value of this key.
    pub(crate) fn holds(&self, key: &K) -> bool {
        self.newest.contains_key(key)
    }

    pub(crate) fn first(&self) -> Option<(Order, &V)> {
        self.items.first().map(|(&order, (_, value))| (order, value))
    }

    pub(crate) fn remove(&mut self, order: Order) -> Option<V> {
        let (key, value) = self.items.remove(&order)?;
        if let Some(key) = key {
            self.newest.remove(&key);
        }
        Some(value)
    }

    /// Removes the values for which `keep` returns false.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(Order, &V) -> bool) {
        let newest = &mut self.newest;
        self.items.retain(|&order, (key, value)| {
            let kept = keep(order, value);
            if let (false, Some(key)) = (kept, key.as_ref()) {
                newest.remove(key);
            }
            kept
        });
    }

    /// All values, the oldest first.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.items.values_mut().map(|(_, value)| value)
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn holds_the_newest_of_each_key_in_order(pushes: Vec<(Option<u8>, u8)>) {
            let mut queue = Latest::new();
            let mut model: Vec<(Order, Option<u8>, u8)> = Vec::new();
            for (order, (key, value)) in pushes.into_iter().enumerate() {
                let order = Order(order as u64 + 1);
                let key = key.map(|key| key % 5);
                let replaced = queue.push(order, key, value);
                let at = model.iter().position(|(_, other, _)| key.is_some() && *other == key);
                prop_assert_eq!(replaced, at.map(|at| model.remove(at).2));
                model.push((order, key, value));
            }
            let held: Vec<_> = queue.after(Order(0)).map(|(order, value)| (order, *value)).collect();
            let expected: Vec<_> = model.iter().map(|(order, _, value)| (*order, *value)).collect();
            prop_assert_eq!(held, expected);
        }
    }
}
