//! One pass of the model over a packet or a message: its coder, and how the model learns the decisions.

use crate::contexts::{ContextTable, Pair};
use crate::packet_number::PacketNumber;
use crate::range_coder::Coder;
use crate::trace::{PREDICTORS, Trace};

/// What the modelling code needs besides the model. Encoder and decoder run the same code with different coders.
pub(crate) struct Pass<'a, C: ?Sized> {
    pub(crate) coder: &'a mut C,
    contexts: &'a mut ContextTable,
    learning: Learning<'a>,
    /// Whether the pass leaves the model unchanged, because no later part of the packet needs what this one teaches.
    read_only: bool,
    /// The number of the packet that is coded or learned; 0 on an ordered link.
    packet: PacketNumber,
}

/// When the model learns the decisions of a pass.
pub(crate) enum Learning<'a> {
    /// At once.
    Immediate,
    /// When the packet is acknowledged. Within the packet the model learns at once, so that later messages profit, but
    /// these changes are undone at its end. The decisions are recorded in a training trace.
    Deferred(&'a mut Trace),
    /// The context table has already learned the decisions from a training trace. The pass neither codes nor learns
    /// them.
    Replay(&'a mut Trace),
}

impl<'a, C: Coder + ?Sized> Pass<'a, C> {
    /// A pass over a part of an archive, or of a packet of an ordered link.
    pub(crate) fn immediate(coder: &'a mut C, contexts: &'a mut ContextTable) -> Self {
        Self::new(coder, contexts, Learning::Immediate, PacketNumber::default())
    }

    /// A pass over packet `packet`, 0 on an ordered link.
    pub(crate) fn new(
        coder: &'a mut C,
        contexts: &'a mut ContextTable,
        learning: Learning<'a>,
        packet: PacketNumber,
    ) -> Self {
        Self { coder, contexts, learning, read_only: false, packet }
    }

    /// The same pass over a part of the packet. `is_last` says that no later part profits from what this part teaches:
    /// if learning is deferred, this part is read-only, which saves undoing its changes.
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

    /// Whether the context table has learned the decisions of the pass from a training trace.
    #[inline]
    pub(crate) fn is_replay(&self) -> bool {
        matches!(self.learning, Learning::Replay(_))
    }

    /// Whether values and choices of the pass are not remembered.
    #[inline]
    pub(crate) fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// The low 16 bits of the packet's number. Remembered values keep them, so that their age is known.
    pub(crate) fn stamp(&self) -> u16 {
        self.packet.low(16) as u16
    }

    /// How many packets before this one a value was seen, given its stamp.
    pub(crate) fn age(&self, stamp: u16) -> u16 {
        self.stamp().wrapping_sub(stamp)
    }

    /// Looks up the statistics of one binary decision under two contexts: a general one, which learns fast, and a special
    /// one, which predicts better once it has learned.
    #[inline]
    pub(crate) fn pair(&mut self, general: u32, special: u32) -> Pair {
        if self.is_replay() {
            return Pair::unused(general, special);
        }
        self.contexts.pair(general, special, self.read_only)
    }

    /// Looks up one context.
    #[inline]
    pub(crate) fn single(&mut self, context: u32) -> Pair {
        self.pair(context, context)
    }

    /// Codes decision `node` of a pair of contexts.
    #[inline]
    pub(crate) fn bit(&mut self, pair: Pair, node: usize, bit: bool) -> bool {
        if self.is_replay() {
            return bit;
        }
        let bit = if self.read_only {
            self.coder.bit(self.contexts.probability(pair, node), bit)
        } else {
            self.contexts.code(self.coder, pair, node, bit)
        };
        if let Learning::Deferred(trace) = &mut self.learning {
            trace.note(pair.contexts, node, bit);
        }
        bit
    }

    /// The errors of a hole's predictors when the message was coded, given their errors now, both in bits.
    pub(crate) fn errors(&mut self, label: u32, now: [u8; PREDICTORS]) -> [u8; PREDICTORS] {
        match &mut self.learning {
            Learning::Immediate => now,
            Learning::Deferred(trace) => {
                trace.note_errors(label, now);
                now
            }
            Learning::Replay(trace) => trace.errors(label).unwrap_or(now),
        }
    }
}
