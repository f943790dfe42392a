//! The contexts of the literal coder: the probability of each bit of a byte after the bytes before it.

use core::mem::size_of;

use crate::hash::hash;
use crate::probability::{Probability, code_pair};
use crate::range_coder::Coder;
use crate::table::{Table, Versioned};

mod snapshot;

/// Single decisions found by hash, without tags: these contexts are so many and so rarely used that the rows of a
/// [`ContextTable`](crate::contexts::ContextTable) would stay mostly empty.
#[derive(Clone)]
pub(crate) struct ByteContexts {
    bits: Table<Probability>,
}

impl ByteContexts {
    /// A table of about `memory` bytes, at least of 256 decisions: those of one byte in one context.
    pub(crate) fn new(memory: usize) -> Self {
        let count = (memory / size_of::<Probability>()).max(256);
        Self { bits: Table::new(Probability::EVEN, count) }
    }

    /// Bytes of state.
    pub(crate) fn memory(&self) -> usize {
        self.bits.memory()
    }

    /// Calls `visit` with each table whose changes can be taken back.
    pub(crate) fn visit(&mut self, visit: &mut dyn FnMut(&mut dyn Versioned)) {
        visit(&mut self.bits);
    }

    /// Codes a byte in a general and a special context, as a tree of eight decisions, the highest bit first.
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
            let (bit, general, special) = code_pair(coder, self.bits[a], self.bits[b], given);
            *self.bits.change(a) = general;
            *self.bits.change(b) = special;
            node = node << 1 | u32::from(bit);
        }
        node as u8
    }

    fn slot(&self, context: u32) -> usize {
        ((u64::from(context) * self.bits.len() as u64) >> 32) as usize
    }
}
