//! Which messages were delivered to the application.

use super::channel_id::ChannelId;
use crate::ids::{Counter, Index, ParticipantId, Position};
use crate::map::Map;
use crate::seen::Seen;

/// Senders remembered at most, far more than a room has participants: a log also holds transactions
/// of senders that left long ago. Beyond it the oldest sender is forgotten, whose awareness then
/// never counts as stale.
const MAX_SENDERS: usize = 1 << 16;

/// How far the transactions of a session were delivered, and which awareness was.
#[derive(Debug, Default)]
pub(super) struct Delivered {
    /// The position up to which all transactions were delivered, are replaced by a part of the
    /// snapshot, or are not for this client.
    pub(super) position: Position,
    /// The newest delivered transaction of each sender. It shows which awareness messages are
    /// stale, because a later transaction of their sender overtook them (wire W24). Positions, not
    /// these counters, make sure that each transaction is delivered only once.
    counters: Map<ParticipantId, Counter>,
    /// Recognises awareness messages that were delivered before.
    seen: Seen<ChannelId>,
}

impl Delivered {
    /// A transaction was delivered. An old transaction of a channel that was opened late may be
    /// delivered after a newer one.
    pub(super) fn note(&mut self, sender: ParticipantId, counter: Counter) {
        let newest = self.counters.or_insert(sender, counter);
        *newest = counter.max(*newest);
        if self.counters.len() > MAX_SENDERS {
            self.counters.pop_first();
        }
    }

    /// True if a transaction was delivered that is newer than this one of the same sender.
    pub(super) fn is_beyond(&self, sender: ParticipantId, counter: Counter) -> bool {
        self.counters.get(&sender).is_some_and(|&newest| counter < newest)
    }

    /// True if this awareness message is neither a repeat nor overtaken by a newer one of its key,
    /// and remembers it. `key` is `None` on channels that aggregate.
    pub(super) fn is_news(
        &mut self,
        sender: ParticipantId,
        channel: ChannelId,
        key: Option<&[u8]>,
        index: Index,
    ) -> bool {
        self.seen.is_news(sender, channel, key, index)
    }

    /// A participant left for good.
    pub(super) fn forget(&mut self, sender: ParticipantId) {
        self.counters.remove(&sender);
        self.seen.forget(sender);
    }

    /// A channel was closed: its newest awareness comes again when it is opened again, also the
    /// part that was received before (W18).
    pub(super) fn forget_values(&mut self, channel: ChannelId) {
        self.seen.forget_values(channel);
    }

    /// The room begins again with another incarnation.
    pub(super) fn clear(&mut self) {
        *self = Delivered::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w24_the_newest_transaction_counts_in_any_order_of_arrival() {
        let mut delivered = Delivered::default();
        assert!(!delivered.is_beyond(ParticipantId(1), Counter(0)));
        delivered.note(ParticipantId(1), Counter(5));
        delivered.note(ParticipantId(1), Counter(3));
        assert!(
            delivered.is_beyond(ParticipantId(1), Counter(4))
                && !delivered.is_beyond(ParticipantId(1), Counter(5))
        );
        delivered.forget(ParticipantId(1));
        assert!(!delivered.is_beyond(ParticipantId(1), Counter(4)));
    }

    #[test]
    fn memory_is_bounded_and_the_newest_senders_are_kept() {
        let mut delivered = Delivered::default();
        let senders = MAX_SENDERS as u32 + 10;
        (0..senders).for_each(|sender| delivered.note(ParticipantId(sender), Counter(7)));
        assert_eq!(delivered.counters.len(), MAX_SENDERS);
        assert!(
            delivered.is_beyond(ParticipantId(senders - 1), Counter(6))
                && !delivered.is_beyond(ParticipantId(9), Counter(6))
        );
    }
}
