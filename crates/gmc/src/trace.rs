//! Training traces: records of the decisions that coding a packet took, from which the model learns
//! later. (The model is all that was learned from messages. Packets are coded as yes-or-no
//! decisions; the context of a decision is a hash of what is known before it.) A label is a number
//! that names a hole, which is a place of messages where values differ.
//!
//! On links that lose packets, a packet is coded under a model that is some packets old, and may be
//! learned only when it is acknowledged. The statistics must be those of coding under an old model:
//! differences from values of some packets ago are larger than differences from values of the last
//! packet. So the decisions are recorded when the packet is coded, and the model learns from the
//! record when the packet is acknowledged.

use alloc::vec::Vec;
use core::mem::size_of;

mod snapshot;

/// The decisions of a packet with their contexts.
#[derive(Debug, Default, Clone)]
pub(crate) struct Trace {
    contexts: Vec<Contexts>,
    /// For each decision: its index among the fifteen decisions of its context, times two, plus one
    /// if it is `true`. [`NEXT`] is added to the first one of each context.
    decisions: Vec<u8>,
    errors: Vec<Errors>,
    /// How many of the recorded errors [`Trace::errors`] has returned.
    read: usize,
}

/// The general and the special context of a decision.
pub(crate) type Contexts = [u32; 2];

/// How many bits the predictors of a hole (a place of messages where values differ) were wrong by.
#[derive(Debug, Clone, Copy)]
struct Errors {
    label: u32,
    bits: [u8; PREDICTORS],
}

/// The number of predictors that each value has.
pub(crate) const PREDICTORS: usize = 5;

const NEXT: u8 = 0x80;

impl Trace {
    pub(crate) fn clear(&mut self) {
        self.contexts.clear();
        self.decisions.clear();
        self.errors.clear();
        self.read = 0;
    }

    pub(crate) fn clone_from(&mut self, other: &Self) {
        self.contexts.clone_from(&other.contexts);
        self.decisions.clone_from(&other.decisions);
        self.errors.clone_from(&other.errors);
        self.read = 0;
    }

    pub(crate) fn memory(&self) -> usize {
        self.contexts.len() * size_of::<Contexts>()
            + self.decisions.len()
            + self.errors.len() * size_of::<Errors>()
    }

    /// Records a decision: its contexts, its index `node` among their decisions, and its outcome.
    #[inline]
    pub(crate) fn note(&mut self, contexts: Contexts, node: usize, bit: bool) {
        let mut decision = Self::decision(node, bit);
        if self.contexts.last() != Some(&contexts) {
            self.contexts.push(contexts);
            decision |= NEXT;
        }
        self.decisions.push(decision);
    }

    /// Records another decision in the contexts of the last one.
    #[cfg(feature = "fast")]
    #[inline]
    pub(crate) fn note_more(&mut self, node: usize, bit: bool) {
        debug_assert!(!self.contexts.is_empty(), "another decision came before in these contexts");
        self.decisions.push(Self::decision(node, bit));
    }

    /// A decision in the contexts of the one before.
    #[inline]
    fn decision(node: usize, bit: bool) -> u8 {
        debug_assert!(node < 15, "a row has fifteen decisions");
        (node as u8) << 1 | u8::from(bit)
    }

    /// Records how many bits the predictors of the hole with this label were wrong by.
    pub(crate) fn note_errors(&mut self, label: u32, bits: [u8; PREDICTORS]) {
        self.errors.push(Errors { label, bits });
    }

    /// The next recorded errors, if they belong to the hole with this label.
    pub(crate) fn errors(&mut self, label: u32) -> Option<[u8; PREDICTORS]> {
        let errors = self.errors.get(self.read).filter(|errors| errors.label == label)?;
        self.read += 1;
        Some(errors.bits)
    }

    /// Passes the decisions to `each`: for each its two contexts, if it is the first with these,
    /// its index among their fifteen decisions, and its outcome.
    #[inline]
    pub(crate) fn decisions(&self, mut each: impl FnMut(Option<Contexts>, usize, bool)) {
        let mut contexts = self.contexts.iter();
        for &decision in &self.decisions {
            let is_next = decision & NEXT != 0;
            let next = if is_next { contexts.next().copied() } else { None };
            each(next, usize::from((decision & !NEXT) >> 1), decision & 1 == 1);
        }
    }
}
