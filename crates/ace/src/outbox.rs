//! Frames (headers with their payloads) that the transport has not accepted yet. The history is the
//! last blocks of the direction, which codecs may use as their dictionary.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use crate::frame::Acknowledgement;
use crate::ledger::{Ledger, Sent};
use crate::spare::Spare;

/// Frames for the transport, in order. Small urgent frames are inserted between blocks of the
/// stream.
#[derive(Debug)]
pub(crate) struct Outbox {
    /// Urgent frames: the hello (which opens the stream), an acknowledgement, and a frame that
    /// makes the other end empty its history.
    urgent: Vec<u8>,
    /// The number of urgent bytes that the transport has accepted.
    urgent_taken: usize,
    has_acknowledgement: bool,
    blocks: VecDeque<(Arc<Vec<u8>>, Sent)>,
    /// The number of bytes of the first block that the transport has already accepted.
    taken: usize,
    /// The bytes of all blocks, including those of the first block that are already accepted.
    wire: usize,
}

impl Outbox {
    pub(crate) fn new(hello: &[u8]) -> Self {
        Outbox {
            urgent: hello.into(),
            urgent_taken: 0,
            has_acknowledgement: false,
            blocks: VecDeque::new(),
            taken: 0,
            wire: 0,
        }
    }

    /// Adds a block with its header.
    pub(crate) fn push(&mut self, block: Arc<Vec<u8>>, sent: Sent) {
        self.wire += block.len();
        self.blocks.push_back((block, sent));
    }

    /// Whether an acknowledgement can be added: none waits yet. At most one waits, because a later
    /// one covers more blocks.
    pub(crate) fn can_take_acknowledgement(&self) -> bool {
        !self.has_acknowledgement
    }

    pub(crate) fn acknowledge(&mut self, acknowledgement: &Acknowledgement) {
        self.has_acknowledgement = true;
        acknowledgement.write(&mut self.urgent);
    }

    /// Adds an urgent frame, which is sent before the waiting blocks.
    pub(crate) fn push_urgent(&mut self, frame: &[u8]) {
        self.urgent.extend_from_slice(frame);
    }

    /// The next bytes for the transport.
    pub(crate) fn output(&self) -> &[u8] {
        match self.blocks.front() {
            Some((block, _)) if self.taken > 0 || self.urgent.is_empty() => &block[self.taken..],
            _ => &self.urgent[self.urgent_taken..],
        }
    }

    /// Removes the first `bytes` bytes of [`output`](Self::output), which the transport has
    /// accepted.
    pub(crate) fn sent(
        &mut self,
        now: Duration,
        bytes: usize,
        ledger: &mut Ledger,
        spare: &mut Spare,
    ) {
        let bytes = bytes.min(self.output().len());
        if self.taken == 0 && !self.urgent.is_empty() {
            self.urgent_taken += bytes;
            if self.urgent_taken == self.urgent.len() {
                self.urgent.clear();
                self.urgent_taken = 0;
                self.has_acknowledgement = false;
            }
            return;
        }
        self.taken += bytes;
        if let Some((block, _)) = self.blocks.front()
            && self.taken == block.len()
            && let Some((block, sent)) = self.blocks.pop_front()
        {
            self.taken = 0;
            self.wire -= block.len();
            ledger.push(now, sent);
            spare.give_shared(block);
        }
    }

    /// The number of blocks, including a partly accepted one.
    pub(crate) fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// The bytes of the blocks, including those of the first block that are already accepted.
    pub(crate) fn wire(&self) -> usize {
        self.wire
    }

    /// The bytes of the blocks that the transport has not accepted.
    pub(crate) fn unsent(&self) -> usize {
        self.wire - self.taken
    }

    /// Releases unused memory.
    pub(crate) fn rest(&mut self) {
        if self.urgent.is_empty() {
            self.urgent = Vec::new();
        }
        if self.blocks.is_empty() {
            self.blocks = VecDeque::new();
        }
    }

    /// The memory of the outbox in bytes, without buffers that the history shares.
    pub(crate) fn memory(&self) -> usize {
        let own = self.blocks.iter().filter(|(block, _)| Arc::strong_count(block) == 1);
        self.urgent.capacity() + own.map(|(block, _)| block.capacity()).sum::<usize>()
    }
}
