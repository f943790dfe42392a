//! What was sent in one direction: matches are found in it.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::spare::{Spare, append, make_room};

/// The last octets of one direction.
///
/// Blocks are kept as they come and joined only when a codec asks for them, so that a stream without compression copies
/// nothing. At most twice the history is held joined, and buffers twice as large as the history and a block beside it.
#[derive(Debug)]
pub(crate) struct History {
    /// Octets that are kept.
    most: usize,
    /// In one piece; at most twice `most`.
    joined: Vec<u8>,
    /// What came later.
    blocks: VecDeque<Block>,
    /// Octets in `blocks`.
    apart: usize,
}

#[derive(Debug)]
struct Block {
    buffer: Arc<Vec<u8>>,
    /// Octets before those of the block.
    skip: usize,
}

impl Block {
    fn octets(&self) -> &[u8] {
        &self.buffer[self.skip..]
    }
}

/// A buffer that is filled by less than half is not kept for what it holds.
const FILLED: usize = 2;

impl History {
    /// None yet; of at most so many octets.
    pub(crate) fn new(most: usize) -> Self {
        History { most, joined: Vec::new(), blocks: VecDeque::new(), apart: 0 }
    }

    /// From now on it has at most so many octets.
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

    /// Adds a block: what follows the first `skip` octets of a buffer.
    pub(crate) fn push(&mut self, buffer: Arc<Vec<u8>>, skip: usize, spare: &mut Spare) {
        if self.most == 0 {
            return spare.give_shared(buffer);
        }
        let filled = buffer.len() >= buffer.capacity() / FILLED;
        self.apart += buffer.len() - skip;
        self.blocks.push_back(Block { buffer, skip });
        self.drop_old(spare);
        if !filled {
            self.join(spare);
        }
    }

    /// The last octets, at most so many as are kept.
    pub(crate) fn octets(&mut self, spare: &mut Spare) -> &[u8] {
        self.join(spare);
        &self.joined[self.joined.len().saturating_sub(self.most)..]
    }

    /// Begins anew, and gives the memory back.
    pub(crate) fn forget(&mut self) {
        *self = History::new(self.most);
    }

    /// Octets.
    pub(crate) fn memory(&self) -> usize {
        let apart: usize = self.blocks.iter().map(|block| block.buffer.capacity()).sum();
        self.joined.capacity() + apart
    }

    /// Drops the blocks that are too long ago.
    fn drop_old(&mut self, spare: &mut Spare) {
        while let Some(block) = self.blocks.front()
            && self.apart - block.octets().len() >= self.most
        {
            self.apart -= block.octets().len();
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
            let octets = block.octets();
            let octets = &octets[octets.len().saturating_sub(self.most)..];
            let length = self.joined.len() + octets.len();
            if length > 2 * self.most {
                self.joined.drain(..length - self.most);
            }
            make_room(&mut self.joined, octets.len(), 2 * self.most);
            append(&mut self.joined, octets);
            spare.give_shared(block.buffer);
        }
        self.apart = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_the_last_octets(
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
                    prop_assert_eq!(history.octets(&mut spare), last);
                }
                prop_assert!(history.memory() <= 4 * most + 2 * 200, "{}", history.memory());
            }
            history.shorten(shorter, &mut spare);
            let last = &all[all.len().saturating_sub(most.min(shorter))..];
            prop_assert_eq!(history.octets(&mut spare), last);
            history.forget();
            prop_assert!(history.is_empty() && history.memory() == 0);
        }
    }
}
