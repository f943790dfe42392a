//! Which awareness messages were taken in: on datagrams, on the stream beside them and after a resume the same one may
//! come twice, and an older one after a newer one (wire.md W41).

use alloc::vec::Vec;

use crate::map::Map;

/// Keys remembered at most: 1,024 of each of 64 senders. Beyond, the oldest senders' are forgotten, and what is
/// repeated of them is taken in twice.
const MAX_KEYS: usize = 1 << 16;

/// The newest index of each conflated key, and a window of indices for channels that aggregate.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// By sender, channel and hash of the key.
    keys: Map<(u32, u32, u64), u32>,
    windows: Map<(u32, u32), Window>,
}

impl Seen {
    /// Whether a message is news; then it is noted. `key` is `None` on channels that aggregate.
    pub(crate) fn is_news(
        &mut self,
        sender: u32,
        channel: u32,
        key: Option<&[u8]>,
        index: u32,
    ) -> bool {
        let Some(key) = key else {
            let is_known = self.windows.contains_key(&(sender, channel));
            if !is_known && self.windows.len() >= MAX_KEYS {
                self.windows.pop_first();
            }
            let window = self.windows.or_insert((sender, channel), Window::at(index));
            return window.is_news(index);
        };
        let key = (sender, channel, hash(key));
        match self.keys.get_mut(&key) {
            Some(newest) if !is_newer(index, *newest) => return false,
            Some(newest) => *newest = index,
            None => {
                if self.keys.len() >= MAX_KEYS {
                    self.keys.pop_first();
                }
                self.keys.insert(key, index);
            }
        }
        true
    }

    /// A participant left for good.
    pub(crate) fn forget(&mut self, sender: u32) {
        let keys = self.keys.from((sender, 0, 0)).map(|(key, _)| *key);
        let keys: Vec<_> = keys.take_while(|&(other, ..)| other == sender).collect();
        keys.iter().for_each(|key| _ = self.keys.remove(key));
        self.windows.retain(|&(other, _), _| other != sender);
    }

    pub(crate) fn clear(&mut self) {
        self.keys.clear();
        self.windows.clear();
    }
}

/// The newest index, and which of it and the 63 before it came: bit `k` stands for the one `k` before.
#[derive(Debug, Clone, Copy)]
struct Window {
    newest: u32,
    came: u64,
}

impl Window {
    /// Nothing came yet, and `index` is about to.
    fn at(index: u32) -> Self {
        Window { newest: index, came: 0 }
    }

    fn is_news(&mut self, index: u32) -> bool {
        if is_newer(index, self.newest) {
            let ahead = index.wrapping_sub(self.newest);
            self.came = self.came.checked_shl(ahead).unwrap_or(0);
            self.newest = index;
        }
        let bit = 1u64.checked_shl(self.newest.wrapping_sub(index)).unwrap_or(0);
        let is_new = bit != 0 && self.came & bit == 0;
        self.came |= bit;
        is_new
    }
}

/// W21: modulo 2^32, so "newer" is a difference in the lower half.
fn is_newer(index: u32, than: u32) -> bool {
    matches!(index.wrapping_sub(than), 1..=0x7fff_ffff)
}

/// FNV-1a with 64 bits: whoever makes two of its own keys collide only loses values of its own.
fn hash(key: &[u8]) -> u64 {
    key.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &octet| {
        (hash ^ u64::from(octet)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    #[test]
    fn an_older_value_of_a_key_is_no_news_but_of_another_key_it_is() {
        let mut seen = Seen::default();
        assert!(seen.is_news(1, 1, Some(b"a"), 6));
        assert!(!seen.is_news(1, 1, Some(b"a"), 5));
        assert!(!seen.is_news(1, 1, Some(b"a"), 6));
        assert!(seen.is_news(1, 1, Some(b"b"), 5));
        assert!(seen.is_news(2, 1, Some(b"a"), 5));
        seen.forget(1);
        assert!(seen.is_news(1, 1, Some(b"a"), 5));
        assert!(!seen.is_news(2, 1, Some(b"a"), 5));
    }

    #[test]
    fn indices_wrap() {
        let mut seen = Seen::default();
        assert!(seen.is_news(1, 1, Some(b""), u32::MAX));
        assert!(seen.is_news(1, 1, Some(b""), 0));
        assert!(!seen.is_news(1, 1, Some(b""), u32::MAX));
    }

    #[test]
    fn memory_is_bounded() {
        let mut seen = Seen::default();
        for sender in 0..MAX_KEYS as u32 + 10 {
            assert!(seen.is_news(sender, 1, Some(b""), 1));
            assert!(seen.is_news(sender, 1, None, 1));
        }
        assert!(seen.keys.len() <= MAX_KEYS && seen.windows.len() <= MAX_KEYS);
    }

    proptest! {
        #[test]
        fn of_aggregated_messages_each_is_news_once(
            start: u32,
            steps in proptest::collection::vec(0u32..60, 1..200),
        ) {
            let mut seen = Seen::default();
            let mut model = BTreeSet::new();
            let mut newest: Option<u32> = None;
            for (at, step) in steps.into_iter().enumerate() {
                let ahead = (at as u32 / 2).wrapping_add(step);
                let is_new = model.insert(ahead);
                // Within the window it is exact; behind it everything is old.
                let is_late = newest.is_some_and(|newest| ahead + 63 < newest);
                let news = seen.is_news(1, 1, None, start.wrapping_add(ahead));
                prop_assert_eq!(news, is_new && !is_late);
                newest = newest.max(Some(ahead));
            }
        }
    }
}
