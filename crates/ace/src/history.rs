//! The history of one direction of a stream: its last bytes, which some codecs use as their
//! dictionary.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::spare::{Spare, append, reserve_up_to};

/// The last bytes of one direction.
///
/// Blocks are kept in their buffers and joined only when a codec needs them, so that a stream
/// without compression copies nothing. The joined bytes are at most twice the history, and the
/// buffers at most twice the history and a block.
#[derive(Debug)]
pub(crate) struct History {
    /// The length of the history in bytes.
    most: usize,
    /// The older part of the history in one piece, at most twice `most` bytes.
    joined: Vec<u8>,
    /// The newer part of the history, block by block.
    blocks: VecDeque<Block>,
    /// The number of bytes in `blocks`.
    apart: usize,
}

#[derive(Debug)]
struct Block {
    buffer: Arc<Vec<u8>>,
    /// The number of bytes of the buffer that precede the block and do not belong to it.
    skip: usize,
}

impl Block {
    fn bytes(&self) -> &[u8] {
        &self.buffer[self.skip..]
    }
}

/// A buffer is kept only if at least one in this many of its bytes is used. Otherwise it would
/// waste too much memory.
const FILLED: usize = 2;

impl History {
    /// An empty history of at most `most` bytes.
    pub(crate) fn new(most: usize) -> Self {
        History { most, joined: Vec::new(), blocks: VecDeque::new(), apart: 0 }
    }

    /// Limits the history to `most` bytes, if that is less than before.
    pub(crate) fn shorten(&mut self, most: usize, spare: &mut Spare) {
        if most < self.most {
            self.most = most;
            self.drop_old(spare);
            self.joined.drain(..self.joined.len().saturating_sub(most));
            self.joined.shrink_to_fit();
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.joined.is_empty() && self.blocks.is_empty()
    }

    /// Adds a block: all bytes of a buffer except the first `skip`.
    pub(crate) fn push(&mut self, buffer: Arc<Vec<u8>>, skip: usize, spare: &mut Spare) {
        if self.most == 0 {
            return spare.give_shared(buffer);
        }
        debug_assert!(skip <= buffer.len(), "a block is the end of its buffer");
        let filled = buffer.len() >= buffer.capacity() / FILLED;
        self.apart += buffer.len() - skip;
        self.blocks.push_back(Block { buffer, skip });
        self.drop_old(spare);
        if !filled {
            self.join(spare);
        }
    }

    /// The bytes of the history, in one piece.
    pub(crate) fn bytes(&mut self, spare: &mut Spare) -> &[u8] {
        self.join(spare);
        &self.joined[self.joined.len().saturating_sub(self.most)..]
    }

    /// Empties the history and releases its memory.
    pub(crate) fn forget(&mut self) {
        *self = History::new(self.most);
    }

    /// The memory of the history in bytes.
    pub(crate) fn memory(&self) -> usize {
        let apart: usize = self.blocks.iter().map(|block| block.buffer.capacity()).sum();
        self.joined.capacity() + apart
    }

    /// Drops blocks and joined bytes that are too old to belong to the history.
    fn drop_old(&mut self, spare: &mut Spare) {
        while let Some(block) = self.blocks.front()
            && self.apart - block.bytes().len() >= self.most
        {
            self.apart -= block.bytes().len();
            if let Some(block) = self.blocks.pop_front() {
                spare.give_shared(block.buffer);
            }
        }
        if self.apart >= self.most {
            self.joined = Vec::new();
        }
    }

    fn join(&mut self, spare: &mut Spare) {
        while let Some(block) = self.blocks.pop_front() {
            let bytes = block.bytes();
            let bytes = &bytes[bytes.len().saturating_sub(self.most)..];
            let length = self.joined.len() + bytes.len();
            if length > 2 * self.most {
                self.joined.drain(..length - self.most);
            }
            reserve_up_to(&mut self.joined, bytes.len(), 2 * self.most);
            append(&mut self.joined, bytes);
            spare.give_shared(block.buffer);
        }
        self.apart = 0;
        debug_assert!(self.joined.len() <= 2 * self.most, "older bytes were dropped");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_history_is_the_last_bytes(
            most in 1usize..300,
            shorter in 1usize..300,
            blocks in proptest::collection::vec((0usize..200, 1usize..800, any::<bool>()), 1..40),
        ) {
            let (mut history, mut spare) = (History::new(most), Spare::default());
            let mut all: Vec<u8> = Vec::new();
            for (nth, &(length, capacity, ask)) in blocks.iter().enumerate() {
                let mut buffer = Vec::with_capacity(capacity);
                buffer.extend_from_slice(&[0; 4]);
                buffer.extend((0..length).map(|at| (nth * 7 + at) as u8));
                all.extend_from_slice(&buffer[4..]);
                history.push(Arc::new(buffer), 4, &mut spare);
                if ask {
                    let last = &all[all.len().saturating_sub(most)..];
                    prop_assert_eq!(history.bytes(&mut spare), last);
                }
                prop_assert!(history.memory() <= 4 * most + 2 * 200, "{}", history.memory());
            }
            history.shorten(shorter, &mut spare);
            let last = &all[all.len().saturating_sub(most.min(shorter))..];
            prop_assert_eq!(history.bytes(&mut spare), last);
            history.forget();
            prop_assert!(history.is_empty() && history.memory() == 0);
        }
    }
}
