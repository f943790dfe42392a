//! What the transport has not yet taken.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use crate::frame::Acknowledgement;
use crate::ledger::{Ledger, Sent};
use crate::spare::Spare;

/// Frames for the transport, in their order; what is small and urgent goes between blocks.
#[derive(Debug)]
pub(crate) struct Outbox {
    /// The hello, an acknowledgement, a frame to forget.
    urgent: Vec<u8>,
    /// How much of it was taken.
    urgent_taken: usize,
    has_acknowledgement: bool,
    blocks: VecDeque<(Arc<Vec<u8>>, Sent)>,
    /// How much of the first block was taken.
    taken: usize,
    /// Octets of all blocks, taken or not.
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

    /// Whether an acknowledgement can go: one at a time, as the next can say more when it goes later.
    pub(crate) fn has_room_for_acknowledgement(&self) -> bool {
        !self.has_acknowledgement
    }

    pub(crate) fn acknowledge(&mut self, acknowledgement: &Acknowledgement) {
        self.has_acknowledgement = true;
        acknowledgement.write(&mut self.urgent);
    }

    /// Adds a frame that goes before the blocks.
    pub(crate) fn push_urgent(&mut self, frame: &[u8]) {
        self.urgent.extend_from_slice(frame);
    }

    /// What the transport is to take next.
    pub(crate) fn output(&self) -> &[u8] {
        match self.blocks.front() {
            Some((block, _)) if self.taken > 0 || self.urgent.is_empty() => &block[self.taken..],
            _ => &self.urgent[self.urgent_taken..],
        }
    }

    /// The transport took so many octets of [`output`](Self::output).
    pub(crate) fn sent(
        &mut self,
        now: Duration,
        octets: usize,
        ledger: &mut Ledger,
        spare: &mut Spare,
    ) {
        let octets = octets.min(self.output().len());
        if self.taken == 0 && !self.urgent.is_empty() {
            self.urgent_taken += octets;
            if self.urgent_taken == self.urgent.len() {
                self.urgent.clear();
                self.urgent_taken = 0;
                self.has_acknowledgement = false;
            }
            return;
        }
        self.taken += octets;
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

    /// How many blocks there are, with the one that is being taken.
    pub(crate) fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Octets of the blocks on the wire, with what was taken of the first.
    pub(crate) fn wire(&self) -> usize {
        self.wire
    }

    /// Octets of the blocks that were not taken.
    pub(crate) fn unsent(&self) -> usize {
        self.wire - self.taken
    }

    /// Gives back memory that holds nothing.
    pub(crate) fn rest(&mut self) {
        if self.urgent.is_empty() {
            self.urgent = Vec::new();
        }
        if self.blocks.is_empty() {
            self.blocks = VecDeque::new();
        }
    }

    /// Octets, without those that the history holds as well.
    pub(crate) fn memory(&self) -> usize {
        let own = self.blocks.iter().filter(|(block, _)| Arc::strong_count(block) == 1);
        self.urgent.capacity() + own.map(|(block, _)| block.capacity()).sum::<usize>()
    }
}
