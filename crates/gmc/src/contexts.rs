//! The context table: the probabilities of yes-or-no decisions, found by the context in which they
//! are taken. Messages are coded as such decisions. A context is a hash of what is known before a
//! decision.
//!
//! To "code" is to write in the encoder and to read in the decoder.

use core::mem::size_of;

use crate::hash::hash;
use crate::probability::{Probability, code_pair, mix};
use crate::range_coder::Coder;
use crate::table::{Table, Versioned};
use crate::trace::{Contexts, Trace};

mod snapshot;

/// Cells of a row: a tag, and the probabilities of the fifteen decisions of one context, such as a
/// binary tree for four bits.
const ROW: usize = 16;
/// The bits of a tag that count the uses of the row. The other bits identify the context.
const USES: u16 = 31;
/// The rows of a set: a context can be in any row of one set.
const WAYS: usize = 4;
/// The index of a row that is not in the table. The indices of its cells are not in the table
/// either.
const NOWHERE: u32 = u32::MAX - ROW as u32;

/// The rows of two contexts of the same decisions: a general context, which learns fast, and a
/// special one, which predicts better once it has learned.
#[derive(Clone, Copy)]
pub(crate) struct Pair {
    /// The index of the row of each context.
    general: u32,
    special: u32,
    pub(crate) contexts: Contexts,
}

impl Pair {
    /// A pair whose rows are not looked up. It serves passes that take decisions from a recording
    /// and code none.
    #[inline]
    pub(crate) fn unused(general: u32, special: u32) -> Self {
        Self { general: 0, special: 0, contexts: [general, special] }
    }

    /// The indices of the cells of decision `node`.
    #[inline]
    fn cells(self, node: usize) -> [usize; 2] {
        debug_assert!(node + 1 < ROW, "a row has fifteen decisions");
        [self.general, self.special].map(|row| row as usize + 1 + node)
    }
}

/// A copy of the rows of a pair: for decisions that follow each other in the same contexts, so that
/// their rows are not looked for in the table at each decision.
#[cfg(feature = "fast")]
pub(crate) struct Rows {
    general: [Probability; ROW],
    special: [Probability; ROW],
    /// Whether both contexts have the same row. Then only `general` is used.
    is_single: bool,
}

#[cfg(feature = "fast")]
impl Rows {
    /// The index of decision `node` in a row.
    #[inline(always)]
    fn cell(node: usize) -> usize {
        debug_assert!(node + 1 < ROW, "a row has fifteen decisions");
        (node + 1) % ROW
    }

    /// The probability that decision `node` is `true`, in 1/65536.
    #[inline(always)]
    pub(crate) fn probability(&self, node: usize) -> u32 {
        let cell = Self::cell(node);
        match self.is_single {
            true => self.general[cell].for_coder(),
            false => mix(self.general[cell], self.special[cell]),
        }
    }
}

/// Rows of probabilities, found by the hash of a context. When all four rows of a set are taken, a
/// new context replaces the row that is used least.
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

    /// Passes each table to `visit`, so that the caller can undo the changes of that table (see
    /// [`Versioned`]).
    pub(crate) fn visit(&mut self, visit: &mut dyn FnMut(&mut dyn Versioned)) {
        visit(&mut self.cells);
    }

    /// Looks up two contexts. `read_only` leaves the table as it is; otherwise a context that is
    /// missing gets a row.
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

    /// The same as [`ContextTable::pair`] for the contexts that were looked up last: counts another
    /// use of their rows.
    pub(crate) fn again(&mut self, pair: Pair) -> Pair {
        let [general, special] = pair.contexts;
        // If the special context took the row of the general one, that gets a row again.
        if pair.general == pair.special && general != special {
            return self.pair(general, special, false);
        }
        self.count(pair.general as usize);
        if general != special {
            self.count(pair.special as usize);
        }
        pair
    }

    /// Counts a use of a row.
    #[inline]
    fn count(&mut self, row: usize) {
        let tag = self.cells[row].0;
        if tag & USES < USES {
            *self.cells.change(row) = Probability(tag + 1);
        }
    }

    /// The probability that decision `node` is `true`, in 1/65536, also for contexts that have no
    /// row.
    pub(crate) fn probability(&self, pair: Pair, node: usize) -> u32 {
        let [general, special] = pair.cells(node);
        let cell = |index: usize| self.cells.get(index).copied().unwrap_or_default();
        if general == special {
            cell(general).for_coder()
        } else {
            mix(cell(general), cell(special))
        }
    }

    /// Copies the rows of a pair. Contexts without row have even probabilities.
    #[cfg(feature = "fast")]
    #[inline(always)]
    pub(crate) fn rows(&self, pair: Pair) -> Rows {
        let row = |index: u32| {
            let cells = self.cells.get_from(index as usize).and_then(|cells| cells.first_chunk());
            cells.copied().unwrap_or([Probability::EVEN; ROW])
        };
        Rows {
            general: row(pair.general),
            special: row(pair.special),
            is_single: pair.general == pair.special,
        }
    }

    /// Codes decision `node` of contexts that have rows, and adapts its probabilities to the
    /// outcome. `logs` says that the table may keep a log.
    #[cfg_attr(feature = "fast", inline(always))]
    pub(crate) fn code<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        pair: Pair,
        node: usize,
        bit: bool,
        logs: bool,
    ) -> bool {
        let [general, special] = pair.cells(node);
        let cells = if logs || cfg!(not(feature = "fast")) {
            self.cells.change_two(general, special)
        } else {
            self.cells.unlogged()
        };
        if general == special {
            return cells[general].code(coder, bit);
        }
        code_pair(coder, cells, [general, special], bit)
    }

    /// Adapts the probabilities to the decisions of a training trace: a recording of the decisions
    /// of one packet.
    pub(crate) fn learn(&mut self, trace: &Trace) {
        let mut pair = Pair::unused(0, 0);
        trace.decisions(|next, node, bit| {
            if let Some([general, special]) = next {
                pair = self.pair(general, special, false);
            }
            let [general, special] = pair.cells(node);
            if general == special {
                return self.cells.change(general).adapt(bit);
            }
            let cells = self.cells.change_two(general, special);
            cells[general].adapt(bit);
            cells[special].adapt(bit);
        });
    }

    /// The first row of the set in which a context can be, and the context's tag with a use count
    /// of zero.
    #[inline]
    fn set(&self, context: u32) -> (usize, u16) {
        let context = hash(context, 0);
        let first = ((u64::from(context) * self.sets) >> 32) as usize * WAYS * ROW;
        (first, context as u16 & !USES)
    }

    /// The row of a set that has the tag `check`.
    #[cfg_attr(feature = "fast", inline)]
    fn row(&self, first: usize, check: u16) -> Option<usize> {
        let cells = self.cells.slice(first..first + WAYS * ROW);
        let tags = [cells[0].0, cells[ROW].0, cells[2 * ROW].0, cells[3 * ROW].0];
        let way = tags.iter().position(|tag| (tag ^ check) & !USES == 0)?;
        Some(first + way * ROW)
    }

    /// The row of a context, or [`NOWHERE`] if it has none.
    #[cfg_attr(feature = "fast", inline)]
    fn peek(&mut self, context: u32) -> u32 {
        let (first, check) = self.set(context);
        self.row(first, check).map_or(NOWHERE, |row| row as u32)
    }

    /// The row of a context. If it has none, it gets the least used row of its set.
    #[cfg_attr(feature = "fast", inline)]
    fn find(&mut self, context: u32) -> u32 {
        let (first, check) = self.set(context);
        let Some(row) = self.row(first, check) else { return self.add(first, check) as u32 };
        self.count(row);
        row as u32
    }

    /// Gives the least used row of a set to the context with the tag `check`.
    #[inline(never)]
    fn add(&mut self, first: usize, check: u16) -> usize {
        let rows = (first..first + WAYS * ROW).step_by(ROW);
        let uses = |row: &usize| self.cells[*row].0 & USES;
        let least = rows.clone().min_by_key(uses).unwrap_or(first);
        // All use counts of the set decrease, so that a row that was used much is replaced once it
        // is no longer used.
        for row in rows {
            let tag = self.cells[row].0;
            if tag & USES > 0 {
                *self.cells.change(row) = Probability(tag - 1);
            }
        }
        *self.cells.change(least) = Probability(check);
        self.cells.fill(least + 1..least + ROW, Probability::EVEN);
        least
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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

    #[cfg(feature = "fast")]
    proptest! {
        /// A copy of rows has the probabilities of the table, also for contexts that have no row.
        #[test]
        fn copied_rows_are_those_of_the_table(
            learned in proptest::collection::vec((0u32..9, 0u32..9, 0usize..15, any::<bool>()), 0..200),
            general in 0u32..12,
            special in 0u32..12,
        ) {
            let mut contexts = ContextTable::new(1024);
            for (general, special, node, bit) in learned {
                let pair = contexts.pair(general, special, false);
                contexts.code(&mut crate::range_coder::Silent, pair, node, bit, false);
            }
            let pair = contexts.pair(general, special, true);
            let rows = contexts.rows(pair);
            for node in 0..15 {
                prop_assert_eq!(rows.probability(node), contexts.probability(pair, node));
            }
        }
    }

    proptest! {
        /// Rows are counted and replaced as if the contexts were looked up again, also where few
        /// rows are shared by many.
        #[test]
        fn contexts_are_used_again_as_if_looked_up(
            pairs in proptest::collection::vec((0u32..40, 0u32..40), 1..200),
            memory in prop_oneof![Just(128usize), Just(1024)],
        ) {
            let mut again = ContextTable::new(memory);
            let mut anew = ContextTable::new(memory);
            for (general, special) in pairs {
                let pair = again.pair(general, special, false);
                let pair = again.again(pair);
                anew.pair(general, special, false);
                let expected = anew.pair(general, special, false);
                prop_assert_eq!(pair.cells(0), expected.cells(0));
                prop_assert!(again.cells.iter().eq(anew.cells.iter()));
            }
        }
    }
}
