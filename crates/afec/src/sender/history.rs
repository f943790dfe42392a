//! The history: the newest messages of a channel, kept so that they can be sent again.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use crate::ids::{Key, MessageIndex, PacketNumber};

/// The most messages that are kept: as many as the farthest piggyback needs, which is a repeat in a
/// later packet ([`LAST_PIGGYBACK`](crate::code::LAST_PIGGYBACK)).
const MESSAGES: usize = 32;
/// The most bytes of messages that are kept, except that the newest message always stays: half of
/// the 16 KB that [`Endpoint`](crate::Endpoint) promises for a channel and direction.
pub(super) const BYTES: usize = 8 * 1024;
/// The largest emptied buffer that is kept for reuse, in bytes. Larger ones would fill the history
/// with unused capacity.
const SPARE_BYTES: usize = 256;

/// A message that was sent at least once.
#[derive(Debug, Default)]
pub(super) struct Sent {
    pub(super) index: MessageIndex,
    /// When the application at the message's first sender had it.
    pub(super) origin: Duration,
    /// On a conflated channel (newer values of a key replace older ones): the key, and how many
    /// messages earlier it was last used (0: never).
    pub(super) key: Option<(Key, u32)>,
    pub(super) payload: Vec<u8>,
    /// The number of the newest packet with this message.
    pub(super) packet: PacketNumber,
    /// True if the message was sent more than once.
    pub(super) repeated: bool,
    /// The number of answers to requests for this message.
    pub(super) answers: u8,
    /// When the newest of these answers was scheduled.
    pub(super) answered: Option<Duration>,
}

/// The newest messages of a channel, with consecutive indices.
#[derive(Debug, Default)]
pub(super) struct History {
    messages: VecDeque<Sent>,
    /// The capacity of all payload buffers, in bytes.
    bytes: usize,
    /// Emptied buffers for reuse.
    spare: Vec<Vec<u8>>,
}

impl History {
    /// An empty buffer for a payload.
    pub(super) fn buffer(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    /// Takes back a buffer for reuse.
    pub(super) fn recycle(&mut self, mut buffer: Vec<u8>) {
        if self.spare.len() < 4 && buffer.capacity() <= SPARE_BYTES {
            buffer.clear();
            self.spare.push(buffer);
        }
    }

    /// Adds the next message. Drops the oldest messages beyond the limits.
    pub(super) fn push(&mut self, sent: Sent) {
        debug_assert!(
            self.messages.back().is_none_or(|last| sent.index == last.index.plus(1)),
            "indices are consecutive"
        );
        self.bytes += sent.payload.capacity();
        self.messages.push_back(sent);
        while self.messages.len() > MESSAGES || (self.bytes > BYTES && self.messages.len() > 1) {
            let oldest = self.messages.pop_front().expect("there is more than one message");
            self.bytes -= oldest.payload.capacity();
            self.recycle(oldest.payload);
        }
    }

    /// Whether one more message, with a buffer of this capacity, would make the history drop a
    /// message of packet `number`, which is being filled: what is dropped before the packet is
    /// complete is not sent.
    pub(super) fn would_drop(&self, number: PacketNumber, capacity: usize) -> bool {
        let (mut len, mut bytes) = (self.messages.len() + 1, self.bytes + capacity);
        let dropped = self.messages.iter().take_while(|oldest| {
            let is_dropped = len > MESSAGES || bytes > BYTES;
            len -= 1;
            bytes -= oldest.payload.capacity();
            is_dropped
        });
        dropped.last().is_some_and(|last| last.packet == number)
    }

    /// Drops all messages.
    pub(super) fn clear(&mut self) {
        self.messages.clear();
        self.bytes = 0;
    }

    pub(super) fn get(&self, index: MessageIndex) -> Option<&Sent> {
        self.messages.get(self.place(index)?)
    }

    pub(super) fn get_mut(&mut self, index: MessageIndex) -> Option<&mut Sent> {
        let place = self.place(index)?;
        self.messages.get_mut(place)
    }

    fn place(&self, index: MessageIndex) -> Option<usize> {
        let first = self.messages.front()?.index;
        let place = index.since(first) as usize;
        (place < self.messages.len()).then_some(place)
    }

    /// Memory in use, in bytes.
    pub(super) fn memory(&self) -> usize {
        let payloads: usize = self.messages.iter().map(|sent| sent.payload.capacity()).sum();
        let spare: usize = self.spare.iter().map(Vec::capacity).sum();
        self.messages.capacity() * size_of::<Sent>() + payloads + spare
    }
}
