//! A choice that may be taken, and what was learned of it.

use core::ops::RangeInclusive;

use super::cost::Cost;
use super::estimate::Estimate;
use super::pace::Pace;
use crate::Choice;

/// Messages between two trials of a candidate, at first and at most.
const INTERVALS: RangeInclusive<u64> = 8..=256;
/// Size classes: below 128 bytes, below 256, and so on; the last has no end.
pub(super) const CLASSES: usize = 10;

/// A message that is chosen for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Message {
    pub(super) size: usize,
    pub(super) class: usize,
    /// What it takes on the link as it is, ns.
    pub(super) plain: f32,
}

impl Message {
    pub(super) fn new(size: usize, nanos_per_byte: f32) -> Self {
        let class = (usize::BITS - (size >> 7).leading_zeros()) as usize;
        Message { size, class: class.min(CLASSES - 1), plain: size as f32 * nanos_per_byte }
    }
}

/// What a message told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum News {
    /// What was expected.
    None,
    /// Something that may change the choice.
    Some,
    /// The content has become another one.
    OtherContent,
}

/// One of those that are chosen among.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) choice: Choice,
    cost: Cost,
    classes: [Class; CLASSES],
    /// Of messages of any size.
    usual: Paces,
}

/// A candidate in a size class.
#[derive(Debug, Clone, Copy, Default)]
struct Class {
    estimate: Estimate,
    /// The message with which the next trial is due, and how long it was put off.
    due: u64,
    interval: u64,
    paces: Paces,
}

/// How much longer packing and unpacking take than was reckoned.
#[derive(Debug, Clone, Copy, Default)]
struct Paces {
    pack: Pace,
    unpack: Pace,
}

impl Candidate {
    pub(super) fn new(choice: Choice, cost: Cost) -> Self {
        Candidate { choice, cost, classes: [Class::default(); CLASSES], usual: Paces::default() }
    }

    /// The ratio to reckon with.
    pub(super) fn ratio(&self, message: Message) -> f32 {
        match self.choice {
            Choice::NONE => 1.0,
            _ => self.classes[message.class].estimate.ratio(),
        }
    }

    /// The time of a message, ns.
    pub(super) fn expected(&self, message: Message) -> f32 {
        self.work(message) + self.ratio(message) * message.plain
    }

    /// Its time if the content suits the candidate as well as may be, and what it took longer was bad luck.
    pub(super) fn at_best(&self, message: Message) -> f32 {
        let work = self.work(message).min(self.cost.at(message.size));
        work + self.classes[message.class].estimate.best() * message.plain
    }

    /// The time to pack and unpack a message, ns.
    pub(super) fn work(&self, message: Message) -> f32 {
        self.packing(message) + self.unpacking(message)
    }

    /// The time to unpack it.
    pub(super) fn unpacking(&self, message: Message) -> f32 {
        let here = self.classes[message.class].paces.unpack.factor();
        let factor = here.or(self.usual.unpack.factor());
        factor.unwrap_or(self.pack_factor(message)) * self.cost.decompress.at(message.size)
    }

    /// The time to pack it.
    pub(super) fn packing(&self, message: Message) -> f32 {
        self.pack_factor(message) * self.cost.compress.at(message.size)
    }

    fn pack_factor(&self, message: Message) -> f32 {
        let here = self.classes[message.class].paces.pack.factor();
        here.or(self.usual.pack.factor()).unwrap_or(1.0)
    }

    /// Learns what packing a message took, ns; `is_trial`: beside another one.
    pub(super) fn took(&mut self, message: Message, time: f32, is_trial: bool) {
        let cost = self.cost.compress.at(message.size);
        for pace in [&mut self.usual.pack, &mut self.classes[message.class].paces.pack] {
            match is_trial {
                true => pace.learn_cold(time, cost),
                false => pace.learn(time, cost),
            }
        }
    }

    /// Learns what unpacking one took, ns.
    pub(super) fn unpacked(&mut self, message: Message, time: f32) {
        let cost = self.cost.decompress.at(message.size);
        self.usual.unpack.learn(time, cost);
        self.classes[message.class].paces.unpack.learn(time, cost);
    }

    /// Whether it should be tried again, at the message of this number. What was never tried is chosen once it could
    /// win, and needs no trial.
    pub(super) fn is_due(&self, message: Message, number: u64) -> bool {
        let class = &self.classes[message.class];
        class.estimate.is_tried() && class.due <= number
    }

    /// Tried: the next time is twice as far away.
    pub(super) fn put_off(&mut self, message: Message, number: u64) {
        let class = &mut self.classes[message.class];
        class.wait(number, class.interval * 2);
    }

    /// Learns what a message became: the ratio.
    pub(super) fn learn(&mut self, message: Message, ratio: f32, number: u64) -> News {
        let class = &mut self.classes[message.class];
        let (first, changed) = (class.interval == 0, class.estimate.learn(ratio));
        let surprised = class.estimate.is_surprised();
        if first || surprised {
            class.wait(number, 0);
        }
        match (changed, first || surprised) {
            (true, _) => News::OtherContent,
            (false, true) => News::Some,
            (false, false) => News::None,
        }
    }

    /// Forgets what became of messages of this size.
    pub(super) fn forget(&mut self, message: Message) {
        let class = &mut self.classes[message.class];
        *class = Class { paces: class.paces, ..Class::default() };
    }
}

impl Class {
    fn wait(&mut self, number: u64, interval: u64) {
        self.interval = interval.clamp(*INTERVALS.start(), *INTERVALS.end());
        self.due = number + self.interval;
    }
}
