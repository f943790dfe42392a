//! The messages of a channel that may be sent again.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

/// The most messages kept.
pub(super) const MESSAGES: usize = 32;
/// The most bytes of messages kept; what is older goes, except for the newest message.
pub(super) const BYTES: usize = 8 * 1024;
/// The largest emptied buffer that is kept: small messages in large buffers would crowd others out.
const SPARE_BYTES: usize = 256;

/// A message that was sent at least once.
#[derive(Debug, Default)]
pub(super) struct Sent {
    pub(super) index: u32,
    /// When the first application had it.
    pub(super) origin: Duration,
    pub(super) key: Option<(u32, u32)>,
    pub(super) payload: Vec<u8>,
    /// The packet that it last went in.
    pub(super) packet: u32,
    /// Whether it was sent more than once.
    pub(super) repeated: bool,
    /// How often it was sent because the receiver asked, and when last.
    pub(super) answers: u8,
    pub(super) answered: Option<Duration>,
}

/// The newest messages of a channel, without gaps in their indices.
#[derive(Debug, Default)]
pub(super) struct History {
    messages: VecDeque<Sent>,
    /// What their buffers take.
    bytes: usize,
    /// Emptied buffers.
    spare: Vec<Vec<u8>>,
}

impl History {
    /// An empty buffer for a payload.
    pub(super) fn buffer(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    /// Gives a buffer back that is not needed after all.
    pub(super) fn recycle(&mut self, mut buffer: Vec<u8>) {
        if self.spare.len() < 4 && buffer.capacity() <= SPARE_BYTES {
            buffer.clear();
            self.spare.push(buffer);
        }
    }

    /// Adds the next message.
    pub(super) fn push(&mut self, sent: Sent) {
        self.bytes += sent.payload.capacity();
        self.messages.push_back(sent);
        while self.messages.len() > MESSAGES || (self.bytes > BYTES && self.messages.len() > 1) {
            let oldest = self.messages.pop_front().expect("there is more than one");
            self.bytes -= oldest.payload.capacity();
            self.recycle(oldest.payload);
        }
    }

    pub(super) fn get(&self, index: u32) -> Option<&Sent> {
        self.messages.get(self.place(index)?)
    }

    pub(super) fn get_mut(&mut self, index: u32) -> Option<&mut Sent> {
        let place = self.place(index)?;
        self.messages.get_mut(place)
    }

    fn place(&self, index: u32) -> Option<usize> {
        let first = self.messages.front()?.index;
        let place = index.wrapping_sub(first) as usize;
        (place < self.messages.len()).then_some(place)
    }

    /// Memory in use, in bytes.
    pub(super) fn memory(&self) -> usize {
        let payloads: usize = self.messages.iter().map(|sent| sent.payload.capacity()).sum();
        let spare: usize = self.spare.iter().map(Vec::capacity).sum();
        self.messages.capacity() * size_of::<Sent>() + payloads + spare
    }
}
