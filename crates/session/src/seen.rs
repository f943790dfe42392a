//! Recognises awareness messages that were received before. The same message can come in several
//! datagrams, on the stream, and again after a resume; and an older message can come after a newer
//! one (wire W41, W42).

use core::mem::take;

use crate::ids::{Index, ParticipantId};
use crate::map::Map;

/// The last `KEYS` keys of each sender are always remembered, and up to twice as many may be. If a
/// sender uses more, only its own older keys are forgotten.
const KEYS: usize = 4096;

/// The most keys and windows of all senders together. Beyond that, the sender with the smallest
/// number is forgotten: it joined first. If one of its messages is repeated, it then counts as new.
const MAX_KEYS: usize = 1 << 16;

/// For each sender, the newest index of each key of channels that conflate, and a window of indices
/// for each channel that aggregates. `C` names a channel.
#[derive(Debug, Default)]
pub(crate) struct Seen<C: Ord> {
    senders: Map<ParticipantId, Sender<C>>,
    /// The number of keys and windows of all senders.
    len: usize,
}

#[derive(Debug, Default)]
struct Sender<C: Ord> {
    /// The newest index by channel and hash of the key.
    keys: Map<(C, u64), Index>,
    /// Older keys, of which no message came since `keys` was last emptied.
    older: Map<(C, u64), Index>,
    windows: Map<C, Window>,
}

impl<C: Copy + Ord + Default> Seen<C> {
    /// Returns true if the message is neither a repeat nor overtaken by a newer one of its key, and
    /// remembers it. `key` is `None` on channels that aggregate.
    pub(crate) fn is_news(
        &mut self,
        sender: ParticipantId,
        channel: C,
        key: Option<&[u8]>,
        index: Index,
    ) -> bool {
        let one = self.senders.or_insert(sender, Sender::default());
        let before = one.len();
        let is_news = match key {
            Some(key) => one.is_newest((channel, hash(key)), index),
            None => one.windows.or_insert(channel, Window::at(index)).is_news(index),
        };
        self.len = self.len - before + one.len();
        if self.len > MAX_KEYS {
            let first = self
                .senders
                .from(ParticipantId(0))
                .map(|(&other, _)| other)
                .find(|&one| one != sender);
            self.forget(first.unwrap_or(sender));
        }
        debug_assert!(self.len <= MAX_KEYS, "a message adds one key, a sender has at least one");
        is_news
    }

    /// Forgets a participant that has left.
    pub(crate) fn forget(&mut self, sender: ParticipantId) {
        self.len -= self.senders.remove(&sender).map_or(0, |one| one.len());
    }

    /// Forgets the newest values of a channel that was closed, so that they count as new once it is
    /// opened again. The windows of channels that aggregate stay, because opening such a channel
    /// brings no older messages.
    pub(crate) fn forget_values(&mut self, channel: C) {
        self.len = 0;
        for sender in self.senders.values_mut() {
            for keys in [&mut sender.keys, &mut sender.older] {
                keys.retain(|(one, _), _| *one != channel);
            }
            self.len += sender.len();
        }
    }
}

impl<C: Copy + Ord> Sender<C> {
    fn is_newest(&mut self, key: (C, u64), index: Index) -> bool {
        if let Some(newest) = self.keys.get_mut(&key) {
            let is_newest = is_newer(index, *newest);
            if is_newest {
                *newest = index;
            }
            return is_newest;
        }
        let newest = self.older.remove(&key).filter(|&newest| !is_newer(index, newest));
        if self.keys.len() >= KEYS {
            self.older = take(&mut self.keys);
        }
        self.keys.insert(key, newest.unwrap_or(index));
        newest.is_none()
    }

    fn len(&self) -> usize {
        self.keys.len() + self.older.len() + self.windows.len()
    }
}

/// The newest index and a bit set: bit `k` of `came` says that the message with the index `k`
/// before the newest came.
#[derive(Debug, Clone, Copy)]
struct Window {
    newest: Index,
    came: u64,
}

impl Window {
    /// An empty window, for a first message with this index.
    fn at(index: Index) -> Self {
        Window { newest: index, came: 0 }
    }

    fn is_news(&mut self, index: Index) -> bool {
        if is_newer(index, self.newest) {
            let ahead = index.get().wrapping_sub(self.newest.get());
            self.came = self.came.checked_shl(ahead).unwrap_or(0);
            self.newest = index;
        }
        let bit = 1u64.checked_shl(self.newest.get().wrapping_sub(index.get())).unwrap_or(0);
        let is_new = bit != 0 && self.came & bit == 0;
        self.came |= bit;
        is_new
    }
}

/// Indices count modulo 2^32. An index is newer if it is ahead by less than 2^31 (wire W42).
fn is_newer(index: Index, than: Index) -> bool {
    matches!(index.get().wrapping_sub(than.get()), 1..=0x7fff_ffff)
}

/// FNV-1a with 64 bits. It is no cryptographic hash: a sender that makes two of its keys collide
/// only loses values of its own.
fn hash(key: &[u8]) -> u64 {
    key.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    #[test]
    fn an_older_index_is_news_only_for_another_key() {
        let mut seen = Seen::default();
        assert!(seen.is_news(ParticipantId(1), 1, Some(b"a"), Index(6)));
        assert!(!seen.is_news(ParticipantId(1), 1, Some(b"a"), Index(5)));
        assert!(!seen.is_news(ParticipantId(1), 1, Some(b"a"), Index(6)));
        assert!(seen.is_news(ParticipantId(1), 1, Some(b"b"), Index(5)));
        assert!(seen.is_news(ParticipantId(2), 1, Some(b"a"), Index(5)));
        seen.forget(ParticipantId(1));
        assert!(seen.is_news(ParticipantId(1), 1, Some(b"a"), Index(5)));
        assert!(!seen.is_news(ParticipantId(2), 1, Some(b"a"), Index(5)));
    }

    #[test]
    fn indices_wrap() {
        let mut seen = Seen::default();
        assert!(seen.is_news(ParticipantId(1), 1, Some(b""), Index(u32::MAX)));
        assert!(seen.is_news(ParticipantId(1), 1, Some(b""), Index(0)));
        assert!(!seen.is_news(ParticipantId(1), 1, Some(b""), Index(u32::MAX)));
    }

    #[test]
    fn memory_is_bounded() {
        let mut seen = Seen::default();
        for sender in 0..MAX_KEYS as u32 {
            assert!(seen.is_news(ParticipantId(sender), 1, Some(b""), Index(1)));
            assert!(seen.is_news(ParticipantId(sender), 1, None, Index(1)));
        }
        assert!(seen.len <= MAX_KEYS);
        let held: usize = seen.senders.from(ParticipantId(0)).map(|(_, one)| one.len()).sum();
        assert_eq!(held, seen.len);
        (0..MAX_KEYS as u32).for_each(|sender| seen.forget(ParticipantId(sender)));
        assert_eq!((seen.len, seen.senders.len()), (0, 0));
    }

    #[test]
    fn a_sender_with_many_keys_only_loses_its_own() {
        let mut seen = Seen::default();
        assert!(seen.is_news(ParticipantId(1), 1, Some(b"a"), Index(6)));
        for key in 0..4 * MAX_KEYS as u32 {
            assert!(seen.is_news(ParticipantId(2), 1, Some(&key.to_le_bytes()), Index(6)));
            // The last KEYS keys are always remembered.
            let last = key.saturating_sub(KEYS as u32 - 1).to_le_bytes();
            assert!(key % 997 != 0 || !seen.is_news(ParticipantId(2), 1, Some(&last), Index(6)));
        }
        assert!(seen.len <= 2 * KEYS + 1);
        assert!(
            !seen.is_news(ParticipantId(1), 1, Some(b"a"), Index(6)),
            "another sender's key was forgotten"
        );
        assert!(
            seen.is_news(ParticipantId(2), 1, Some(&0u32.to_le_bytes()), Index(6)),
            "the oldest key was not forgotten"
        );
    }

    proptest! {
        #[test]
        fn each_message_is_news_once_on_channels_that_aggregate(
            start: u32,
            steps in proptest::collection::vec(0u32..60, 1..200),
        ) {
            let mut seen = Seen::default();
            let mut model = BTreeSet::new();
            let mut newest: Option<u32> = None;
            for (at, step) in steps.into_iter().enumerate() {
                let ahead = (at as u32 / 2).wrapping_add(step);
                let is_new = model.insert(ahead);
                // Within the window the answer is exact; everything older counts as repeated.
                let is_late = newest.is_some_and(|newest| ahead + 63 < newest);
                let news = seen.is_news(ParticipantId(1), 1, None, Index(start.wrapping_add(ahead)));
                prop_assert_eq!(news, is_new && !is_late);
                newest = newest.max(Some(ahead));
            }
        }
    }
}
