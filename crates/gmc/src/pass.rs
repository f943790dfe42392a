//! One pass of the model over a packet or a message: its coder, and how the model learns the
//! decisions. The model is all that both ends have learned; messages are coded as yes-or-no
//! decisions with probabilities.
//!
//! To "code" a decision is to write it in the encoder and to read it in the decoder. A context is a
//! hash of what is known before a decision; it selects a row of fifteen probabilities, of which
//! `node` is the index.

#[cfg(feature = "fast")]
use core::mem::replace;

#[cfg(feature = "fast")]
use crate::contexts::Rows;
use crate::contexts::{ContextTable, Pair};
use crate::packet_number::PacketNumber;
use crate::range_coder::{Coder, bit_and};
#[cfg(feature = "fast")]
use crate::trace::Contexts;
use crate::trace::{PREDICTORS, Trace};

/// What the modelling code needs besides the model. Encoder and decoder run the same code with
/// different coders.
pub(crate) struct Pass<'a, C: ?Sized> {
    pub(crate) coder: &'a mut C,
    contexts: &'a mut ContextTable,
    learning: Learning<'a>,
    /// Whether the pass leaves the model unchanged. True only in the last part of a packet that is
    /// learned later: no part after it needs what it would teach, and the change would be undone
    /// anyway.
    read_only: bool,
    /// The number of the packet that is coded or learned; 0 on an ordered link.
    packet: PacketNumber,
}

/// Decisions that follow each other in the same contexts. No other decision comes between them.
pub(crate) trait Decisions {
    fn begin<C: Coder + ?Sized>(pass: &Pass<'_, C>, pair: Pair) -> Self;

    /// Codes decision `node`.
    fn bit<C: Coder + ?Sized>(&mut self, pass: &mut Pass<'_, C>, node: usize, bit: bool) -> bool;
}

/// Codes the two decisions in any pass.
impl Decisions for Pair {
    #[cfg_attr(feature = "fast", inline(always))]
    fn begin<C: Coder + ?Sized>(_: &Pass<'_, C>, pair: Pair) -> Self {
        pair
    }

    #[cfg_attr(feature = "fast", inline(always))]
    fn bit<C: Coder + ?Sized>(&mut self, pass: &mut Pass<'_, C>, node: usize, bit: bool) -> bool {
        pass.bit_inlined(*self, node, bit)
    }
}

/// In passes that leave the model unchanged: these need not look for the probabilities of each
/// decision in the table.
#[cfg(feature = "fast")]
pub(crate) struct Unlearned {
    rows: Rows,
    contexts: Contexts,
    /// Whether the training trace has one of the decisions.
    is_noted: bool,
}

#[cfg(feature = "fast")]
impl Decisions for Unlearned {
    #[inline(always)]
    fn begin<C: Coder + ?Sized>(pass: &Pass<'_, C>, pair: Pair) -> Self {
        debug_assert!(pass.read_only, "the pass leaves the model unchanged");
        Self { rows: pass.contexts.rows(pair), contexts: pair.contexts, is_noted: false }
    }

    #[inline(always)]
    fn bit<C: Coder + ?Sized>(&mut self, pass: &mut Pass<'_, C>, node: usize, bit: bool) -> bool {
        let Learning::Deferred(trace) = &mut pass.learning else { return bit };
        bit_and(pass.coder, self.rows.probability(node), bit, |bit| {
            match replace(&mut self.is_noted, true) {
                true => trace.note_more(node, bit),
                false => trace.note(self.contexts, node, bit),
            }
        })
    }
}

/// When the model learns the decisions of a pass.
pub(crate) enum Learning<'a> {
    /// The model learns each packet at once.
    Immediate,
    /// When the packet is acknowledged. Within the packet the model learns at once, so that later
    /// messages profit, but these changes are undone at the end of the packet. The decisions are
    /// recorded in a training trace.
    Deferred(&'a mut Trace),
    /// Now, from a training trace: the context table has already learned the decisions that the
    /// trace recorded. The pass learns the rest, such as values, and does not code.
    Replay(&'a mut Trace),
}

impl<'a, C: Coder + ?Sized> Pass<'a, C> {
    /// A pass over a part of a snapshot, or over a packet of an ordered link.
    pub(crate) fn immediate(coder: &'a mut C, contexts: &'a mut ContextTable) -> Self {
        Self::new(coder, contexts, Learning::Immediate, PacketNumber::default())
    }

    /// A pass over the packet with the number `packet`, which is 0 on an ordered link.
    pub(crate) fn new(
        coder: &'a mut C,
        contexts: &'a mut ContextTable,
        learning: Learning<'a>,
        packet: PacketNumber,
    ) -> Self {
        #[cfg(feature = "fast")]
        debug_assert_eq!(
            coder.replays(),
            matches!(learning, Learning::Replay(_)),
            "the coder knows what it serves"
        );
        Self { coder, contexts, learning, read_only: false, packet }
    }

    /// The same pass over a part of the packet. `is_last` says that no later part profits from what
    /// this part teaches: if learning is deferred, this part then leaves the model unchanged, which
    /// saves undoing its changes.
    pub(crate) fn part(&mut self, is_last: bool) -> Pass<'_, C> {
        Pass {
            read_only: is_last && self.is_deferred(),
            learning: match &mut self.learning {
                Learning::Immediate => Learning::Immediate,
                Learning::Deferred(trace) => Learning::Deferred(trace),
                Learning::Replay(trace) => Learning::Replay(trace),
            },
            coder: self.coder,
            contexts: self.contexts,
            packet: self.packet,
        }
    }

    /// Whether the decisions are learned when the packet is acknowledged.
    pub(crate) fn is_deferred(&self) -> bool {
        matches!(self.learning, Learning::Deferred(_))
    }

    /// Whether the pass learns a packet that was coded earlier, from a training trace.
    #[inline]
    pub(crate) fn is_replay(&self) -> bool {
        // The type of the coder tells, so that the compiler leaves out what the pass does not do.
        #[cfg(feature = "fast")]
        return self.coder.replays();
        #[cfg(not(feature = "fast"))]
        matches!(self.learning, Learning::Replay(_))
    }

    /// Whether the pass does not remember values and choices.
    #[inline]
    pub(crate) fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// The stamp of the packet: the low 16 bits of its number. It is stored with each value to tell
    /// the value's age.
    pub(crate) fn stamp(&self) -> u16 {
        self.packet.low(16) as u16
    }

    /// The age of a value in packets, given the stamp of the packet that had it.
    pub(crate) fn age(&self, stamp: u16) -> u16 {
        self.stamp().wrapping_sub(stamp)
    }

    /// Looks up the probabilities for two contexts: a general one, which learns fast, and a special
    /// one, which predicts better once it has learned.
    #[inline]
    pub(crate) fn pair(&mut self, general: u32, special: u32) -> Pair {
        if self.is_replay() {
            return Pair::unused(general, special);
        }
        self.contexts.pair(general, special, self.read_only)
    }

    /// The same as [`Pass::pair`] for contexts that were looked up last.
    pub(crate) fn again(&mut self, pair: Pair) -> Pair {
        match pair.contexts {
            _ if self.read_only => pair,
            _ if cfg!(feature = "fast") => self.contexts.again(pair),
            [general, special] => self.contexts.pair(general, special, false),
        }
    }

    /// Looks up the probabilities for one context.
    #[inline]
    pub(crate) fn single(&mut self, context: u32) -> Pair {
        self.pair(context, context)
    }

    /// Codes decision `node` of a pair of contexts.
    #[cfg_attr(feature = "fast", inline)]
    pub(crate) fn bit(&mut self, pair: Pair, node: usize, bit: bool) -> bool {
        if self.is_replay() { bit } else { self.code_bit(pair, node, bit) }
    }

    /// Codes a number of at most four bits as a binary tree of decisions, which fills the row, the
    /// highest bit first.
    pub(crate) fn tree(&mut self, row: Pair, bits: u32, given: u8) -> u8 {
        let mut node = 1usize;
        for shift in (0..bits).rev() {
            let bit = self.bit(row, node - 1, given >> shift & 1 == 1);
            node = node << 1 | usize::from(bit);
        }
        (node - (1 << bits)) as u8
    }

    /// The same as [`Pass::bit`], compiled into its caller: for loops of many decisions.
    #[cfg_attr(feature = "fast", inline(always))]
    pub(crate) fn bit_inlined(&mut self, pair: Pair, node: usize, bit: bool) -> bool {
        match self.learning {
            _ if self.is_replay() => bit,
            Learning::Immediate => self.contexts.code(self.coder, pair, node, bit, false),
            #[cfg(feature = "fast")]
            Learning::Deferred(ref mut trace) if self.read_only => {
                let p = self.contexts.probability(pair, node);
                bit_and(self.coder, p, bit, |bit| trace.note(pair.contexts, node, bit))
            }
            _ => self.code_deferred(pair, node, bit),
        }
    }

    #[inline(never)]
    fn code_bit(&mut self, pair: Pair, node: usize, bit: bool) -> bool {
        self.bit_inlined(pair, node, bit)
    }

    /// Codes a decision that is learned when the packet is acknowledged.
    #[cfg_attr(feature = "fast", inline(never))]
    fn code_deferred(&mut self, pair: Pair, node: usize, bit: bool) -> bool {
        let Learning::Deferred(trace) = &mut self.learning else { return bit };
        if !self.read_only {
            let bit = self.contexts.code(self.coder, pair, node, bit, true);
            trace.note(pair.contexts, node, bit);
            return bit;
        }
        let p = self.contexts.probability(pair, node);
        bit_and(self.coder, p, bit, |bit| trace.note(pair.contexts, node, bit))
    }

    /// How many bits the predictors of a hole (a place of messages where values differ) were wrong
    /// by when the message was coded. `now` returns how many it is with the present model.
    #[cfg_attr(feature = "fast", inline)]
    pub(crate) fn errors(
        &mut self,
        label: u32,
        now: impl FnOnce() -> [u8; PREDICTORS],
    ) -> [u8; PREDICTORS] {
        if let Learning::Replay(trace) = &mut self.learning
            && let Some(errors) = trace.errors(label)
        {
            return errors;
        }
        let errors = now();
        if let Learning::Deferred(trace) = &mut self.learning {
            trace.note_errors(label, errors);
        }
        errors
    }
}
