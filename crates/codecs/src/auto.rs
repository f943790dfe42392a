//! The choice of a codec for each message: what the paper LMC leaves to future work.
//!
//! A message's time is what packing takes, its packed octets on the link, and what unpacking takes; what a packet costs
//! besides is the same whatever is chosen. [`Auto`] reckons it for every candidate and takes the least. It knows
//!
//! - what packing and unpacking take from [`Costs`], by size;
//! - what an octet takes on the [`Link`];
//! - how small messages become from those that were packed, by candidate and size class (powers of two).
//!
//! A candidate that was never tried is hoped to shrink a message to a quarter. So whatever could be best is tried at
//! once, the cheapest first, and what could not be best on this link never is. Later the losers are packed too now and
//! then ([`Pick::also`]), at growing intervals, since content changes; that takes at most 0.5 % of the time that
//! messages take. If content changes all at once, as from text to pictures, two messages show it, and what was known of
//! their size class is forgotten.

mod cost;
mod estimate;
mod fit;
mod link;
mod measure;
mod reference;

use alloc::vec::Vec;

use self::estimate::Estimate;
use crate::Choice;

pub use cost::{Cost, Costs, Line};
pub use link::Link;

/// What an octet takes where nothing is known of the link: 50 Mbit/s.
const NANOS_PER_OCTET: f32 = 160.0;
/// The share of messages' time that may be spent to learn.
const SHARE: f32 = 0.005;
/// Messages between two trials of a candidate, at first and at most.
const INTERVALS: core::ops::RangeInclusive<u16> = 8..=256;
/// Size classes: below 128 octets, below 256, and so on; the last has no end.
const CLASSES: usize = 10;
/// While the link's rate is not known, one message of so many goes by another choice, so that there are two sizes...
const OTHERWISE: u64 = 2;
/// ... for so many messages; then one of so many.
const OTHERWISE_FIRST: u64 = 128;
const OTHERWISE_LATER: u64 = 16;

/// Chooses for the messages of one stream over one link.
///
/// ```
/// use groupwire_codecs::{ALL, Auto, Costs, Link, Packer};
/// let (mut auto, link) = (Auto::new(&Auto::candidates(|codec| codec < 3), &Costs::reference()), Link::of_rate(1e7));
/// let mut packer = Packer::new(ALL);
/// let message = b"again and again and again and again and again and again and again";
/// let pick = auto.choose(message.len(), &link);
/// let mut packed = Vec::new();
/// packer.pack(pick.choice, message, &mut packed)?;
/// auto.learn(pick.choice, message.len(), packed.len());
/// if let Some(also) = pick.also {
///     let mut other = Vec::new();
///     packer.pack(also, message, &mut other)?;
///     auto.learn(also, message.len(), other.len());
/// }
/// assert!(packed.len() < message.len());
/// # Ok::<(), groupwire_codecs::OptionsError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Auto {
    candidates: Vec<Candidate>,
    /// Chosen for so far.
    messages: u64,
    /// Time that may be spent to learn, ns.
    credit: f32,
}

/// What is chosen for a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pick {
    /// What the message is to be packed by, and to be learned from.
    pub choice: Choice,
    /// What it is to be packed by too, only to be learned from.
    pub also: Option<Choice>,
}

#[derive(Debug, Clone)]
struct Candidate {
    choice: Choice,
    cost: Cost,
    classes: [Class; CLASSES],
}

/// A candidate in a size class.
#[derive(Debug, Clone, Copy, Default)]
struct Class {
    estimate: Estimate,
    /// The message with which the next trial is due, and the interval after it.
    due: u64,
    interval: u16,
}

impl Auto {
    /// Chooses among these. No compression is always among them.
    pub fn new(candidates: &[Choice], costs: &Costs) -> Self {
        let mut all: Vec<Candidate> = Vec::with_capacity(candidates.len() + 1);
        for &choice in [Choice::NONE].iter().chain(candidates) {
            if all.iter().all(|known| known.choice != choice) {
                all.push(Candidate::new(choice, costs.of(choice)));
            }
        }
        Auto { candidates: all, messages: 0, credit: 0.0 }
    }

    /// The candidates that are worth while for messages, of the codecs that both ends have.
    pub fn candidates(has: impl Fn(u8) -> bool) -> Vec<Choice> {
        reference::CANDIDATES.iter().copied().filter(|choice| has(choice.codec)).collect()
    }

    /// Chooses for a message of `size` octets. Well below a microsecond; allocates nothing.
    pub fn choose(&mut self, size: usize, link: &Link) -> Pick {
        let class = class(size);
        let octets = size as f32 * link.nanos_per_octet().unwrap_or(NANOS_PER_OCTET);
        let best = self.best(class, size, octets, |_| true);
        self.messages += 1;
        let expected = self.candidates[best].expected(class, size, octets);
        self.credit = (self.credit + SHARE * expected).min(octets);
        let chosen = self.otherwise(best, class, size, octets, link).unwrap_or(best);
        let also = self.trial(chosen, expected, class, size, octets);
        let choice = |at: usize| self.candidates[at].choice;
        Pick { choice: choice(chosen), also: also.map(choice) }
    }

    /// Learns that a message of `size` octets became one of `packed` by `choice`: the one that was asked for, even if
    /// the packer left the message as it was.
    pub fn learn(&mut self, choice: Choice, size: usize, packed: usize) {
        let place = class(size);
        let found = self.candidates.iter_mut().find(|candidate| candidate.choice == choice);
        let Some(candidate) = found.filter(|_| choice != Choice::NONE && size > 0) else { return };
        let class = &mut candidate.classes[place];
        let changed = class.estimate.learn(packed as f32 / size as f32);
        if class.estimate.is_surprised() {
            class.wait(self.messages, *INTERVALS.start());
        }
        if changed {
            let others = self.candidates.iter_mut().filter(|other| other.choice != choice);
            others.for_each(|other| other.classes[place] = Class::default());
        }
    }

    /// The candidate of the least expected time.
    fn best(
        &self,
        class: usize,
        size: usize,
        octets: f32,
        may: impl Fn(&Candidate) -> bool,
    ) -> usize {
        let mut best = (0, f32::MAX);
        for (index, candidate) in self.candidates.iter().enumerate() {
            let expected = candidate.expected(class, size, octets);
            if expected < best.1 && may(candidate) {
                best = (index, expected);
            }
        }
        best.0
    }

    /// Another choice than the best, if the link's rate is not to be learned without.
    fn otherwise(
        &mut self,
        best: usize,
        class: usize,
        size: usize,
        octets: f32,
        link: &Link,
    ) -> Option<usize> {
        if !link.wants_sizes() {
            return None;
        }
        let other = match self.candidates[best].choice {
            Choice::NONE => self.best(class, size, octets, |other| other.choice != Choice::NONE),
            _ => 0,
        };
        let expected = |at: usize| self.candidates[at].expected(class, size, octets);
        let loss = expected(other) - expected(best);
        if link.nanos_per_octet().is_none() {
            let every = if self.messages < OTHERWISE_FIRST { OTHERWISE } else { OTHERWISE_LATER };
            return (self.messages.is_multiple_of(every)).then_some(other);
        }
        (loss < self.credit).then(|| {
            self.credit -= loss;
            other
        })
    }

    /// A candidate whose turn it is, that could win if it were lucky, and that there is time for.
    fn trial(
        &mut self,
        chosen: usize,
        expected: f32,
        class: usize,
        size: usize,
        octets: f32,
    ) -> Option<usize> {
        let (messages, credit) = (self.messages, self.credit);
        let at = self.candidates.iter().enumerate().position(|(index, candidate)| {
            let state = &candidate.classes[class];
            index != chosen
                && state.due <= messages
                && state.estimate.is_tried()
                && candidate.cost.compress.at(size) <= credit
                && candidate.cost.at(size) + state.estimate.best() * octets < expected
        })?;
        let candidate = &mut self.candidates[at];
        self.credit -= candidate.cost.compress.at(size);
        let state = &mut candidate.classes[class];
        let interval = state.interval.clamp(*INTERVALS.start(), *INTERVALS.end());
        state.wait(messages, interval.saturating_mul(2));
        Some(at)
    }
}

impl Candidate {
    fn new(choice: Choice, cost: Cost) -> Self {
        Candidate { choice, cost, classes: [Class::default(); CLASSES] }
    }

    /// The time of a message, ns, if it takes `octets` ns on the link as it is.
    fn expected(&self, class: usize, size: usize, octets: f32) -> f32 {
        if self.choice == Choice::NONE {
            return octets;
        }
        self.cost.at(size) + self.classes[class].estimate.ratio() * octets
    }
}

impl Class {
    fn wait(&mut self, messages: u64, interval: u16) {
        self.interval = interval;
        self.due = messages + u64::from(interval);
    }
}

fn class(size: usize) -> usize {
    (usize::BITS - (size >> 7).leading_zeros()).min(CLASSES as u32 - 1) as usize
}
