//! One of the choices that [`Auto`](super::Auto) chooses among, and what was learned about it.

use core::ops::RangeInclusive;

use super::cost::Cost;
use super::estimate::Estimate;
use super::slowdown::Slowdown;
use crate::Choice;

/// The number of messages between two trials of a candidate, at first and at most. A trial packs a
/// message with a candidate that is not the best one, to see whether that has changed. With an
/// interval of 256, incompressible messages cost hardly any trials, and compressible ones that
/// follow are noticed within some hundred messages.
const INTERVALS: RangeInclusive<u64> = 8..=256;
/// Size classes: below 128 bytes, below 256, and so on; the last has no upper end.
pub(super) const CLASSES: usize = 10;

/// The message that a choice is made for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Message {
    /// The size in bytes.
    pub(super) size: usize,
    /// The size class.
    pub(super) class: usize,
    /// The message's time on the link without compression, ns.
    pub(super) plain: f32,
}

impl Message {
    pub(super) fn new(size: usize, nanos_per_byte: f32) -> Self {
        let class = (usize::BITS - (size >> 7).leading_zeros()) as usize;
        Message { size, class: class.min(CLASSES - 1), plain: size as f32 * nanos_per_byte }
    }
}

/// How far a message's ratio differed from the expected one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Surprise {
    /// The ratio was about as expected.
    None,
    /// The ratio differed so much that the choice may change, or it is the first ratio.
    Deviation,
    /// The ratio differed for several messages in a row: the content has changed.
    NewContent,
}

/// A choice with its costs and what was learned.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) choice: Choice,
    cost: Cost,
    classes: [Class; CLASSES],
    /// The slowdowns over messages of all sizes; used in size classes without a measured time.
    usual: Slowdowns,
}

/// What was learned in one size class.
#[derive(Debug, Clone, Copy, Default)]
struct Class {
    estimate: Estimate,
    /// The number of the message with which the next trial is due.
    due: u64,
    /// Messages between the last trial and the next.
    interval: u64,
    slowdowns: Slowdowns,
}

/// How much longer packing and unpacking take than the costs say.
#[derive(Debug, Clone, Copy, Default)]
struct Slowdowns {
    pack: Slowdown,
    unpack: Slowdown,
}

impl Candidate {
    pub(super) fn new(choice: Choice, cost: Cost) -> Self {
        Candidate {
            choice,
            cost,
            classes: [Class::default(); CLASSES],
            usual: Slowdowns::default(),
        }
    }

    /// The expected ratio of packed to original bytes.
    pub(super) fn ratio(&self, message: Message) -> f32 {
        match self.choice {
            Choice::NONE => 1.0,
            _ => self.classes[message.class].estimate.ratio(),
        }
    }

    /// The expected time of a message: packing, link and unpacking. Nanoseconds.
    pub(super) fn expected(&self, message: Message) -> f32 {
        self.work(message) + self.ratio(message) * message.plain
    }

    /// The expected time under the best assumptions: the content suits the candidate, and slow
    /// measurements were chance.
    pub(super) fn at_best(&self, message: Message) -> f32 {
        let work = self.work(message).min(self.cost.at(message.size));
        work + self.classes[message.class].estimate.best() * message.plain
    }

    /// The time to pack and unpack a message, ns.
    pub(super) fn work(&self, message: Message) -> f32 {
        self.packing(message) + self.unpacking(message)
    }

    /// The time to unpack a message, ns. Without a measured time packing's slowdown is assumed.
    pub(super) fn unpacking(&self, message: Message) -> f32 {
        let here = self.classes[message.class].slowdowns.unpack.factor();
        let factor = here.or(self.usual.unpack.factor());
        factor.unwrap_or(self.pack_factor(message)) * self.cost.decompress.at(message.size)
    }

    /// The time to pack a message, ns.
    pub(super) fn packing(&self, message: Message) -> f32 {
        self.pack_factor(message) * self.cost.compress.at(message.size)
    }

    fn pack_factor(&self, message: Message) -> f32 {
        let here = self.classes[message.class].slowdowns.pack.factor();
        here.or(self.usual.pack.factor()).unwrap_or(1.0)
    }

    /// Learns the time to pack a message, ns. In a trial the codec's memory is not in the
    /// processor's cache.
    pub(super) fn took(&mut self, message: Message, time: f32, is_trial: bool) {
        let cost = self.cost.compress.at(message.size);
        for slowdown in [&mut self.usual.pack, &mut self.classes[message.class].slowdowns.pack] {
            match is_trial {
                true => slowdown.learn_cold(time, cost),
                false => slowdown.learn(time, cost),
            }
        }
    }

    /// Learns the time to unpack a message, ns.
    pub(super) fn unpacked(&mut self, message: Message, time: f32) {
        let cost = self.cost.decompress.at(message.size);
        self.usual.unpack.learn(time, cost);
        self.classes[message.class].slowdowns.unpack.learn(time, cost);
    }

    /// Whether the next trial is due at message `number`. A candidate that was never used needs no
    /// trial: it is chosen as soon as it could win.
    pub(super) fn is_due(&self, message: Message, number: u64) -> bool {
        let class = &self.classes[message.class];
        class.estimate.is_tried() && class.due <= number
    }

    /// After a trial: doubles the interval until the next one.
    pub(super) fn put_off(&mut self, message: Message, number: u64) {
        let class = &mut self.classes[message.class];
        class.wait(number, class.interval * 2);
    }

    /// Learns a message's ratio.
    pub(super) fn learn(&mut self, message: Message, ratio: f32, number: u64) -> Surprise {
        let class = &mut self.classes[message.class];
        let (first, changed) = (class.interval == 0, class.estimate.learn(ratio));
        let surprised = class.estimate.is_surprised();
        if first || surprised {
            class.wait(number, 0);
        }
        match (changed, first || surprised) {
            (true, _) => Surprise::NewContent,
            (false, true) => Surprise::Deviation,
            (false, false) => Surprise::None,
        }
    }

    /// Forgets the ratios of this message's size class.
    pub(super) fn forget(&mut self, message: Message) {
        let class = &mut self.classes[message.class];
        *class = Class { slowdowns: class.slowdowns, ..Class::default() };
    }
}

impl Class {
    fn wait(&mut self, number: u64, interval: u64) {
        self.interval = interval.clamp(*INTERVALS.start(), *INTERVALS.end());
        self.due = number + self.interval;
    }
}
