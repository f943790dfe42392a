//! Adaptive probabilities, and the tables that hold them.

use core::mem::size_of;

use crate::hash::hash;
use crate::range_coder::Coder;
use crate::table::{Table, Versioned};
use crate::trace::{Contexts, PREDICTORS, Trace};

mod snapshot;

/// The probability that a decision is `true`: twelve bits of it, and in the low four bits how often
/// it was adapted, since a young probability should move faster than an old one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bit(u16);

/// 65536 / (n + 1.6) for the n-th adaptation, slowing down to 1/30: fast enough to follow a stream
/// that changes, slow enough for a settled decision to cost about 0.01 bit.
const RATE: [i32; 16] = [
    40960, 25206, 18204, 14247, 11703, 9930, 8623, 7620, 6500, 5650, 4900, 4300, 3700, 3100, 2600,
    2184,
];

/// How much a probability adapted n times counts against another for the same decision.
const TRUST: [u32; 16] = [1, 6, 12, 18, 24, 30, 36, 42, 50, 58, 66, 74, 82, 92, 102, 120];

impl Bit {
    const EVEN: Self = Self(0x8000);
    /// For a decision that is `true` as a rule: 127 times in 128, as if it had been so nine times.
    pub(crate) const LIKELY: Self = Self(((4096 - 4096 / 128) << 4) | 9);

    fn p(self) -> u32 {
        u32::from(self.0 >> 4)
    }

    fn age(self) -> usize {
        usize::from(self.0 & 15)
    }

    #[inline]
    fn adapt(&mut self, bit: bool) {
        let p = i32::from(self.0 >> 4);
        let age = self.age();
        let target = if bit { 4095 } else { 0 };
        let p = p + (target - p) * RATE[age] / 65536;
        self.0 = (p as u16) << 4 | (age as u16 + 1).min(15);
    }
}

impl Bit {
    /// Codes a decision with this probability.
    #[inline]
    pub(crate) fn code<C: Coder + ?Sized>(&mut self, coder: &mut C, bit: bool) -> bool {
        let bit = coder.bit(self.p() << 4 | 8, bit);
        self.adapt(bit);
        bit
    }
}

impl Default for Bit {
    fn default() -> Self {
        Self::EVEN
    }
}

/// The probability of a decision from what two contexts, a general and a special one, know about it.
#[inline]
fn mix(general: Bit, special: Bit) -> u32 {
    let trust_general = TRUST[general.age()];
    // The special context knows better as soon as it knows anything.
    let trust_special = TRUST[special.age()] * 3;
    let p = ((general.p() * trust_general + special.p() * trust_special) << 4)
        / (trust_general + trust_special);
    p | 8
}

/// Codes a decision with what two contexts know about it.
#[inline]
fn code_pair<C: Coder + ?Sized>(
    coder: &mut C,
    general: Bit,
    special: Bit,
    bit: bool,
) -> (bool, Bit, Bit) {
    let (mut general, mut special) = (general, special);
    let bit = coder.bit(mix(general, special), bit);
    general.adapt(bit);
    special.adapt(bit);
    (bit, general, special)
}

/// The cells of a row: a tag, and the fifteen decisions of one context, such as a binary tree of four
/// bits.
const ROW: usize = 16;
/// In a tag: how much the row is used. The other bits are the context's.
const USES: u16 = 31;
/// Rows that a context can be in.
const WAYS: usize = 4;
/// The place of a row that is not there.
const NOWHERE: usize = usize::MAX;

/// A general and a special context for the same decisions.
#[derive(Clone, Copy)]
pub(crate) struct Pair {
    general: usize,
    special: usize,
    contexts: Contexts,
}

/// What becomes of decisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Learning {
    /// They are learned at once.
    Immediate,
    /// They are learned for the rest of the packet, and noted in the trace.
    Deferred,
    /// They are neither coded nor learned: the trace taught them.
    Replay,
}

/// Contexts found by hash. When the table is full, the least used context of four gives way.
#[derive(Clone)]
pub(crate) struct Rows {
    /// [`ROW`] cells for each row; the first is the tag.
    cells: Table<Bit>,
    sets: u64,
    pub(crate) learning: Learning,
    /// Whether nothing is learned within the packet either: there is nothing behind this message.
    pub(crate) read_only: bool,
    pub(crate) trace: Trace,
    /// The number of the packet that is coded or learned; always 0 on an ordered link.
    pub(crate) packet: u32,
}

impl Rows {
    pub(crate) fn new(memory: usize) -> Self {
        let sets = (memory / size_of::<Bit>() / ROW / WAYS).max(1);
        Self {
            cells: Table::new(Bit(0), sets * WAYS * ROW),
            sets: sets as u64,
            learning: Learning::Immediate,
            read_only: false,
            trace: Trace::default(),
            packet: 0,
        }
    }

    pub(crate) fn memory(&self) -> usize {
        self.cells.memory()
    }

    /// Visits all that has versions.
    pub(crate) fn visit(&mut self, visit: &mut dyn FnMut(&mut dyn Versioned)) {
        visit(&mut self.cells);
    }

    /// How many packets ago one was, given the low bits of its number.
    pub(crate) fn age(&self, stamp: u16) -> u16 {
        (self.packet as u16).wrapping_sub(stamp)
    }

    #[inline]
    pub(crate) fn pair(&mut self, general: u32, special: u32) -> Pair {
        let contexts = [general, special];
        if self.learning == Learning::Replay {
            return Pair { general: 0, special: 0, contexts };
        }
        let find = if self.read_only { Self::peek } else { Self::find };
        let index = find(self, general);
        Pair {
            general: index,
            special: if general == special { index } else { find(self, special) },
            contexts,
        }
    }

    #[inline]
    pub(crate) fn single(&mut self, context: u32) -> Pair {
        self.pair(context, context)
    }

    /// Codes decision `node` of a pair of contexts.
    #[inline]
    pub(crate) fn bit<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        pair: Pair,
        node: usize,
        bit: bool,
    ) -> bool {
        if self.learning == Learning::Replay {
            return bit;
        }
        let bit = if self.read_only {
            coder.bit(self.probability(pair, node), bit)
        } else {
            self.adapt(coder, pair, node, bit)
        };
        if self.learning == Learning::Deferred {
            self.trace.note(pair.contexts, node, bit);
        }
        bit
    }

    fn probability(&self, pair: Pair, node: usize) -> u32 {
        let cell = |row: usize| if row == NOWHERE { Bit::EVEN } else { self.cells[row + 1 + node] };
        let general = cell(pair.general);
        if pair.general == pair.special {
            general.p() << 4 | 8
        } else {
            mix(general, cell(pair.special))
        }
    }

    #[inline]
    fn adapt<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        pair: Pair,
        node: usize,
        bit: bool,
    ) -> bool {
        let general = pair.general + 1 + node;
        if pair.general == pair.special {
            return self.cells.change(general).code(coder, bit);
        }
        let special = pair.special + 1 + node;
        let (bit, a, b) = code_pair(coder, self.cells[general], self.cells[special], bit);
        *self.cells.change(general) = a;
        *self.cells.change(special) = b;
        bit
    }

    /// How wrong the predictors of a hole were when the message was coded, given how wrong they are
    /// now.
    pub(crate) fn errors(&mut self, label: u32, now: [u8; PREDICTORS]) -> [u8; PREDICTORS] {
        match self.learning {
            Learning::Immediate => now,
            Learning::Deferred => {
                self.trace.note_errors(label, now);
                now
            }
            Learning::Replay => self.trace.errors(label).unwrap_or(now),
        }
    }

    /// Learns the decisions of the trace.
    pub(crate) fn learn(&mut self) {
        let trace = core::mem::take(&mut self.trace);
        let mut pair = Pair { general: 0, special: 0, contexts: [0; 2] };
        for (contexts, next, node, bit) in trace.decisions() {
            if next {
                pair = self.pair(contexts[0], contexts[1]);
            }
            self.cells.change(pair.general + 1 + node).adapt(bit);
            if pair.special != pair.general {
                self.cells.change(pair.special + 1 + node).adapt(bit);
            }
        }
        self.trace = trace;
    }

    /// Where a context can be, and what its tag is there.
    #[inline]
    fn places(&self, context: u32) -> (core::iter::StepBy<core::ops::Range<usize>>, u16) {
        let context = hash(context, 0);
        let first = ((u64::from(context) * self.sets) >> 32) as usize * WAYS * ROW;
        ((first..first + WAYS * ROW).step_by(ROW), context as u16 & !USES)
    }

    /// The row of a context if there is one.
    fn peek(&mut self, context: u32) -> usize {
        let (mut rows, check) = self.places(context);
        rows.find(|&row| (self.cells[row].0 ^ check) & !USES == 0).unwrap_or(NOWHERE)
    }

    /// The row of a context: where its tag is.
    fn find(&mut self, context: u32) -> usize {
        let (rows, check) = self.places(context);
        let first = rows.clone().next().unwrap_or(0);
        let mut least = first;
        for row in rows.clone() {
            let tag = self.cells[row].0;
            if (tag ^ check) & !USES == 0 {
                if tag & USES < USES {
                    *self.cells.change(row) = Bit(tag + 1);
                }
                return row;
            }
            if tag & USES < self.cells[least].0 & USES {
                least = row;
            }
        }
        // What was used much gives way too, if it is used no more.
        for row in rows {
            let tag = self.cells[row].0;
            if tag & USES > 0 {
                *self.cells.change(row) = Bit(tag - 1);
            }
        }
        *self.cells.change(least) = Bit(check);
        for cell in least + 1..least + ROW {
            *self.cells.change(cell) = Bit::EVEN;
        }
        least
    }
}

/// Single decisions found by hash, unchecked: for contexts so many and so sparse that rows would
/// waste most of their room.
#[derive(Clone)]
pub(crate) struct ByteContexts {
    bits: Table<Bit>,
}

impl ByteContexts {
    pub(crate) fn new(memory: usize) -> Self {
        Self { bits: Table::new(Bit::EVEN, (memory / size_of::<Bit>()).max(256)) }
    }

    pub(crate) fn memory(&self) -> usize {
        self.bits.memory()
    }

    /// Visits all that has versions.
    pub(crate) fn visit(&mut self, visit: &mut dyn FnMut(&mut dyn Versioned)) {
        visit(&mut self.bits);
    }

    /// Codes a byte in a general and a special context.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_stay_inside() {
        for bit in [false, true] {
            let mut model = Bit::EVEN;
            for _ in 0..1000 {
                model.adapt(bit);
                let p = model.p() << 4 | 8;
                assert!(p > 0 && p < 65536);
            }
            assert_eq!(model.age(), 15);
            let sure = if bit { 4095 - model.p() } else { model.p() };
            assert!(sure < 40, "a settled decision must be nearly free: {sure}");
        }
    }

    #[test]
    fn a_full_table_keeps_its_size() {
        let mut rows = Rows::new(1024);
        let memory = rows.memory();
        for context in 0..10_000 {
            rows.single(context);
        }
        assert_eq!(rows.memory(), memory);
        assert!(memory <= 1024);
    }
}
