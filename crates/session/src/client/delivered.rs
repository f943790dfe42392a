//! Up to which transaction of each sender was delivered, to see awareness that a later one has overtaken (wire.md W24).

use crate::map::Map;

/// Senders remembered at most: far more than a room has. Of those whose transactions a log or a snapshot's rest brings,
/// many have left long ago, and nobody says so. Beyond, the oldest is forgotten: what comes of it is not taken for stale.
const MAX_SENDERS: usize = 1 << 16;

/// By sender, the counter of its last transaction. That each comes once does not depend on it: positions see to that.
#[derive(Debug, Default)]
pub(super) struct Delivered {
    counters: Map<u32, u32>,
}

impl Delivered {
    /// A transaction was delivered. One that fills a channel opened late may come after a newer one.
    pub(super) fn note(&mut self, sender: u32, counter: u32) {
        let newest = self.counters.or_insert(sender, counter);
        *newest = counter.max(*newest);
        if self.counters.len() > MAX_SENDERS {
            self.counters.pop_first();
        }
    }

    /// Whether a transaction was delivered that is newer than this one of the same sender.
    pub(super) fn is_beyond(&self, sender: u32, counter: u32) -> bool {
        self.counters.get(&sender).is_some_and(|&newest| counter < newest)
    }

    /// A participant left for good.
    pub(super) fn forget(&mut self, sender: u32) {
        self.counters.remove(&sender);
    }

    pub(super) fn clear(&mut self) {
        self.counters.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w24_the_newest_counts_in_whatever_order_they_come() {
        let mut delivered = Delivered::default();
        assert!(!delivered.is_beyond(1, 0));
        delivered.note(1, 5);
        delivered.note(1, 3);
        assert!(delivered.is_beyond(1, 4) && !delivered.is_beyond(1, 5));
        delivered.forget(1);
        assert!(!delivered.is_beyond(1, 4));
    }

    #[test]
    fn memory_is_bounded_and_the_newest_senders_are_kept() {
        let mut delivered = Delivered::default();
        let senders = MAX_SENDERS as u32 + 10;
        (0..senders).for_each(|sender| delivered.note(sender, 7));
        assert_eq!(delivered.counters.len(), MAX_SENDERS);
        assert!(delivered.is_beyond(senders - 1, 6) && !delivered.is_beyond(9, 6));
    }
}
