//! The probabilities of the bits of a byte, given the bytes before it. The literal coder uses them:
//! it codes the strings that nothing else predicts, where to "code" is to write in the encoder and
//! to read in the decoder.
//!
//! A context is a hash of what is known before the byte: the bytes before it, or the kind of
//! string.

use core::mem::size_of;

use crate::hash::hash;
use crate::probability::{Probability, code_pair};
use crate::range_coder::Coder;
use crate::table::{Table, Versioned};

mod snapshot;

/// A table of probabilities, one for each bit in each context, found by hash and without a check
/// for collisions. There are many contexts and most are used rarely: a
/// [`ContextTable`](crate::contexts::ContextTable) with a row for each would stay mostly empty.
#[derive(Clone)]
pub(crate) struct ByteContexts {
    bits: Table<Probability>,
}

impl ByteContexts {
    /// A table of about `memory` bytes, but of at least 256 probabilities, as one byte in one
    /// context needs.
    pub(crate) fn new(memory: usize) -> Self {
        let count = (memory / size_of::<Probability>()).max(256);
        Self { bits: Table::new(Probability::EVEN, count) }
    }

    /// The memory of the table, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.bits.memory()
    }

    /// Passes each table to `visit`, so that the caller can undo the changes of that table (see
    /// [`Versioned`]).
    pub(crate) fn visit(&mut self, visit: &mut dyn FnMut(&mut dyn Versioned)) {
        visit(&mut self.bits);
    }

    /// Codes a byte in a general and a special context, as a binary tree of eight decisions, the
    /// highest bit first.
    pub(crate) fn byte<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        general: u32,
        special: u32,
        byte: u8,
    ) -> u8 {
        let mut node = 1u32;
        for shift in (0..8).rev() {
            let (a, b) = (self.slot(hash(general, node)), self.slot(hash(special, node)));
            let given = byte >> shift & 1 == 1;
            let bit = code_pair(coder, self.bits.change_two(a, b), [a, b], given);
            node = node << 1 | u32::from(bit);
        }
        node as u8
    }

    fn slot(&self, context: u32) -> usize {
        ((u64::from(context) * self.bits.len() as u64) >> 32) as usize
    }
}
