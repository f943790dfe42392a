//! The context table: the probabilities of yes-or-no decisions, found by the context in which they are taken. Messages
//! are coded as such decisions. A context is a hash of what is known before a decision.
//!
//! To "code" is to write in the encoder and to read in the decoder.

use core::mem::size_of;

use crate::hash::hash;
use crate::probability::{Probability, code_pair, mix};
use crate::range_coder::Coder;
use crate::table::{Table, Versioned};
use crate::trace::{Contexts, Trace};

mod snapshot;

/// Cells of a row: a tag, and the probabilities of the fifteen decisions of one context, such as a binary tree for four
/// bits.
const ROW: usize = 16;
/// The bits of a tag that count the uses of the row. The other bits identify the context.
const USES: u16 = 31;
/// The rows of a set: a context can be in any row of one set.
const WAYS: usize = 4;
/// The index of a row that is not in the table. The indices of its cells are not in the table either.
const NOWHERE: usize = usize::MAX - ROW;

/// The rows of two contexts of the same decisions: a general context, which learns fast, and a special one, which
/// predicts better once it has learned.
#[derive(Clone, Copy)]
pub(crate) struct Pair {
    general: usize,
    special: usize,
    pub(crate) contexts: Contexts,
}

impl Pair {
    /// A pair whose rows are not looked up. It serves passes that take decisions from a recording and code none.
    #[inline]
    pub(crate) fn unused(general: u32, special: u32) -> Self {
        Self { general: 0, special: 0, contexts: [general, special] }
    }
}

/// Rows of probabilities, found by the hash of a context. When all four rows of a set are taken, a new context replaces
/// the row that is used least.
#[derive(Clone)]
pub(crate) struct ContextTable {
    /// [`ROW`] cells for each row; the first is the tag.
    cells: Table<Probability>,
    sets: u64,
}

impl ContextTable {
    /// A table of at most `memory` bytes, but at least one set of rows.
    pub(crate) fn new(memory: usize) -> Self {
        let sets = (memory / size_of::<Probability>() / ROW / WAYS).max(1);
        Self { cells: Table::new(Probability(0), sets * WAYS * ROW), sets: sets as u64 }
    }

    /// The memory of the table, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.cells.memory()
    }

    /// Passes each table to `visit`, so that the caller can undo the changes of that table (see [`Versioned`]).
    pub(crate) fn visit(&mut self, visit: &mut dyn FnMut(&mut dyn Versioned)) {
        visit(&mut self.cells);
    }

    /// Looks up two contexts. `read_only` leaves the table as it is; otherwise a context that is missing gets a row.
    #[inline]
    pub(crate) fn pair(&mut self, general: u32, special: u32, read_only: bool) -> Pair {
        let find = if read_only { Self::peek } else { Self::find };
        let index = find(self, general);
        Pair {
            general: index,
            special: if general == special { index } else { find(self, special) },
            contexts: [general, special],
        }
    }

    /// The probability that decision `node` is `true`, in 1/65536, also for contexts that have no row.
    pub(crate) fn probability(&self, pair: Pair, node: usize) -> u32 {
        debug_assert!(node + 1 < ROW, "a row has fifteen decisions");
        let cell = |row: usize| self.cells.get(row + 1 + node).copied().unwrap_or_default();
        let general = cell(pair.general);
        if pair.general == pair.special {
            general.for_coder()
        } else {
            mix(general, cell(pair.special))
        }
    }

    /// Codes decision `node` of contexts that have rows, and adapts its probabilities to the outcome.
    #[cfg_attr(feature = "fast", inline(always))]
    pub(crate) fn code<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        pair: Pair,
        node: usize,
        bit: bool,
    ) -> bool {
        debug_assert!(node + 1 < ROW, "a row has fifteen decisions");
        let general = pair.general + 1 + node;
        if pair.general == pair.special {
            return self.cells.change(general).code(coder, bit);
        }
        let special = pair.special + 1 + node;
        let cells = self.cells.change_two(general, special);
        let (bit, a, b) = code_pair(coder, cells[general], cells[special], bit);
        cells[general] = a;
        cells[special] = b;
        bit
    }

    /// Adapts the probabilities to the decisions of a training trace: a recording of the decisions of one packet.
    pub(crate) fn learn(&mut self, trace: &Trace) {
        let mut pair = Pair::unused(0, 0);
        for (contexts, is_next, node, bit) in trace.decisions() {
            if is_next {
                pair = self.pair(contexts[0], contexts[1], false);
            }
            let (general, special) = (pair.general + 1 + node, pair.special + 1 + node);
            if general == special {
                self.cells.change(general).adapt(bit);
                continue;
            }
            let cells = self.cells.change_two(general, special);
            cells[general].adapt(bit);
            cells[special].adapt(bit);
        }
    }

    /// The first row of the set in which a context can be, and the context's tag with a use count of zero.
    #[inline]
    fn set(&self, context: u32) -> (usize, u16) {
        let context = hash(context, 0);
        let first = ((u64::from(context) * self.sets) >> 32) as usize * WAYS * ROW;
        (first, context as u16 & !USES)
    }

    /// The row of a set that has the tag `check`, and the whole tag with its use count.
    #[cfg_attr(feature = "fast", inline)]
    fn row(&self, first: usize, check: u16) -> Option<(usize, u16)> {
        let cells = self.cells.slice(first..first + WAYS * ROW);
        let tags = [cells[0].0, cells[ROW].0, cells[2 * ROW].0, cells[3 * ROW].0];
        let way = tags.iter().position(|tag| (tag ^ check) & !USES == 0)?;
        Some((first + way * ROW, tags[way]))
    }

    /// The row of a context, or [`NOWHERE`] if it has none.
    #[cfg_attr(feature = "fast", inline)]
    fn peek(&mut self, context: u32) -> usize {
        let (first, check) = self.set(context);
        self.row(first, check).map_or(NOWHERE, |(row, _)| row)
    }

    /// The row of a context. If it has none, it gets the least used row of its set.
    #[cfg_attr(feature = "fast", inline)]
    fn find(&mut self, context: u32) -> usize {
        let (first, check) = self.set(context);
        let Some((row, tag)) = self.row(first, check) else { return self.add(first, check) };
        if tag & USES < USES {
            *self.cells.change(row) = Probability(tag + 1);
        }
        row
    }

    /// Gives the least used row of a set to the context with the tag `check`.
    #[inline(never)]
    fn add(&mut self, first: usize, check: u16) -> usize {
        let rows = (first..first + WAYS * ROW).step_by(ROW);
        let uses = |row: &usize| self.cells[*row].0 & USES;
        let least = rows.clone().min_by_key(uses).unwrap_or(first);
        // All use counts of the set decrease, so that a row that was used much is replaced once it is no longer used.
        for row in rows {
            let tag = self.cells[row].0;
            if tag & USES > 0 {
                *self.cells.change(row) = Probability(tag - 1);
            }
        }
        *self.cells.change(least) = Probability(check);
        for cell in least + 1..least + ROW {
            *self.cells.change(cell) = Probability::EVEN;
        }
        least
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_table_keeps_its_size() {
        let mut contexts = ContextTable::new(1024);
        let memory = contexts.memory();
        for context in 0..10_000 {
            contexts.pair(context, context, false);
        }
        assert_eq!(contexts.memory(), memory);
        assert!(memory <= 1024);
    }
}
