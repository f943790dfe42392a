//! What the room itself has published: the counter of its transactions, the indices of its values,
//! and the keys of requests, by which a repeated request is recognised (wire W101).

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::time::Duration;

use crate::wire::io::{Reader, Write};
use crate::{ChannelNo, Counter, Error, Index, Position};

/// The most request keys that are remembered. Today's server permits 10 requests a second of the
/// administration and 100 of users, so the oldest key is more than half a minute old; clients
/// repeat a request within seconds. All keys take
/// 140 kB of a stored room's facts.
const MAX_REQUESTS: usize = 4096;

/// The keys of requests are remembered for this long.
const KEPT: Duration = Duration::from_secs(24 * 3600);

/// The first index of a channel's values is the time of day in this unit, so that indices go on
/// when a room was loaded from its store, which does not have them. They repeat after 8.7 years.
const INDEX_UNIT_MS: u128 = 64;

/// Names one request to publish a transaction, so that the room recognises it when it comes again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestKey {
    /// A hash of the key that the requesting program has chosen.
    pub key: [u8; 16],
    /// A hash of the published content, so that another request with the same key is recognised.
    pub content: [u8; 8],
}

impl RequestKey {
    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.key);
        bytes.extend_from_slice(&self.content);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        Ok(RequestKey { key: reader.array()?, content: reader.array()? })
    }
}

/// A request that was carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Done {
    request: RequestKey,
    position: Position,
    /// The Unix time in seconds at which it was carried out; if the room does not know the time of
    /// day, the time since it was made.
    at: u64,
}

/// See the [module](self).
#[derive(Debug, Default)]
pub(super) struct Published {
    pub(super) counter: Counter,
    indices: BTreeMap<ChannelNo, Index>,
    /// The oldest first.
    done: VecDeque<Done>,
    /// The greatest position in `done` so far: most transactions carry out no request, and are not
    /// searched for.
    last: Position,
}

impl Published {
    /// The index of the next value on a channel.
    pub(super) fn next_index(&mut self, channel: ChannelNo, day: Duration) -> Index {
        let first = Index((day.as_millis() / INDEX_UNIT_MS) as u32);
        let next = self.indices.get(&channel).map_or(first, |last| Index(last.0.wrapping_add(1)));
        self.indices.insert(channel, next);
        next
    }

    /// The request with this key that was carried out, and the position of its transaction.
    pub(super) fn find(&self, key: &[u8; 16]) -> Option<(RequestKey, Position)> {
        let found = self.done.iter().rev().find(|done| done.request.key == *key)?;
        Some((found.request, found.position))
    }

    /// The request that the transaction at this position carried out.
    pub(super) fn request_at(&self, position: Position) -> Option<RequestKey> {
        if position > self.last {
            return None;
        }
        // Nearly always it is the last one.
        self.done.iter().rev().find(|done| done.position == position).map(|done| done.request)
    }

    /// Remembers a request, and forgets old ones.
    pub(super) fn remember(&mut self, request: RequestKey, position: Position, day: Duration) {
        self.last = self.last.max(position);
        self.done.push_back(Done { request, position, at: day.as_secs() });
        self.forget_before(day.saturating_sub(KEPT).as_secs());
    }

    fn forget_before(&mut self, day: u64) {
        while self.done.len() > MAX_REQUESTS || self.done.front().is_some_and(|one| one.at < day) {
            self.done.pop_front();
        }
    }

    /// Forgets the requests whose transactions the room no longer has, because it was taken back to
    /// an earlier moment.
    pub(super) fn forget_after(&mut self, head: Position) {
        self.done.retain(|done| done.position <= head);
    }

    /// The requests as a store keeps them. Empty if there are none.
    ///
    /// ```text
    /// requests = (key:16 bytes content:8 bytes position:varint at:varint)*
    /// ```
    pub(super) fn requests(&mut self, day: Duration) -> Vec<u8> {
        self.forget_before(day.saturating_sub(KEPT).as_secs());
        let mut bytes = Vec::new();
        for Done { request, position, at } in &self.done {
            request.write(&mut bytes);
            bytes.varint(position.get());
            bytes.varint(*at);
        }
        bytes
    }

    /// Reads what [`Published::requests`] wrote.
    pub(super) fn restore(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut reader = Reader::new(bytes, "stored requests");
        while !reader.is_empty() {
            let request = RequestKey::read(&mut reader)?;
            let (position, at) = (Position(reader.varint()?), reader.varint()?);
            self.last = self.last.max(position);
            self.done.push_back(Done { request, position, at });
        }
        self.forget_before(0);
        Ok(())
    }

    /// Bytes of memory, about.
    pub(super) fn memory(&self) -> usize {
        self.done.len() * size_of::<Done>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(nth: u32) -> RequestKey {
        let mut key = [0; 16];
        key[..4].copy_from_slice(&nth.to_le_bytes());
        RequestKey { key, content: [7; 8] }
    }

    const DAY: Duration = Duration::from_secs(24 * 3600);

    #[test]
    fn requests_are_remembered_for_a_day_and_within_a_limit() {
        let mut published = Published::default();
        published.remember(request(0), Position(1), DAY);
        published.remember(request(1), Position(2), DAY * 2);
        assert_eq!(published.find(&request(0).key), Some((request(0), Position(1))));
        published.remember(request(2), Position(3), DAY * 2 + Duration::from_secs(1));
        assert_eq!(published.find(&request(0).key), None);
        assert_eq!(published.find(&request(1).key), Some((request(1), Position(2))));
        for nth in 3..3 + MAX_REQUESTS as u32 {
            published.remember(request(nth), Position(nth.into()), DAY * 2);
        }
        assert_eq!(published.find(&request(2).key), None);
        assert!(published.find(&request(3).key).is_some());
    }

    #[test]
    fn requests_are_restored_as_they_were_stored_and_those_that_were_taken_back_are_forgotten() {
        let mut before = Published::default();
        (1..=5).for_each(|nth| before.remember(request(nth), Position(nth.into()), DAY));
        let stored = before.requests(DAY);
        let mut after = Published::default();
        after.restore(&stored).unwrap();
        assert_eq!(after.done, before.done);
        after.forget_after(Position(3));
        assert!(after.find(&request(3).key).is_some() && after.find(&request(4).key).is_none());
        for end in (1..stored.len()).filter(|end| end % (stored.len() / 5) != 0) {
            assert!(Published::default().restore(&stored[..end]).is_err());
        }
    }

    #[test]
    fn indices_of_values_go_on_after_a_room_was_loaded() {
        let (mut before, mut after) = (Published::default(), Published::default());
        let first = before.next_index(ChannelNo(1), DAY * 20_000);
        assert_eq!(before.next_index(ChannelNo(1), DAY * 20_001).get(), first.get() + 1);
        let later = after.next_index(ChannelNo(1), DAY * 20_000 + Duration::from_secs(1));
        assert!(later.get().wrapping_sub(first.get()) > 1);
    }
}
