//! A choice that may be taken, and what was learned of it.

use core::ops::RangeInclusive;

use super::cost::Cost;
use super::estimate::Estimate;
use crate::Choice;

/// Messages between two trials of a candidate, at first and at most.
const INTERVALS: RangeInclusive<u64> = 8..=256;
/// Size classes: below 128 octets, below 256, and so on; the last has no end.
const CLASSES: usize = 10;

/// A message that is chosen for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Message {
    pub(super) size: usize,
    class: usize,
    /// What it takes on the link as it is, ns.
    pub(super) plain: f32,
}

impl Message {
    pub(super) fn new(size: usize, nanos_per_octet: f32) -> Self {
        let class = (usize::BITS - (size >> 7).leading_zeros()) as usize;
        Message { size, class: class.min(CLASSES - 1), plain: size as f32 * nanos_per_octet }
    }
}

/// One of those that are chosen among.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) choice: Choice,
    pub(super) cost: Cost,
    classes: [Class; CLASSES],
}

/// A candidate in a size class.
#[derive(Debug, Clone, Copy, Default)]
struct Class {
    estimate: Estimate,
    /// The message with which the next trial is due, and how long it was put off.
    due: u64,
    interval: u64,
}

impl Candidate {
    pub(super) fn new(choice: Choice, cost: Cost) -> Self {
        Candidate { choice, cost, classes: [Class::default(); CLASSES] }
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
        self.time(message, self.ratio(message))
    }

    /// Its time if the content suits the candidate as well as may be.
    pub(super) fn at_best(&self, message: Message) -> f32 {
        self.time(message, self.classes[message.class].estimate.best())
    }

    fn time(&self, message: Message, ratio: f32) -> f32 {
        self.cost.at(message.size) + ratio * message.plain
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

    /// Learns what a message became: the ratio. Returns whether the content has become another one.
    pub(super) fn learn(&mut self, message: Message, ratio: f32, number: u64) -> bool {
        let class = &mut self.classes[message.class];
        let changed = class.estimate.learn(ratio);
        if class.interval == 0 || class.estimate.is_surprised() {
            class.wait(number, 0);
        }
        changed
    }

    /// Forgets what was learned of messages of this size.
    pub(super) fn forget(&mut self, message: Message) {
        self.classes[message.class] = Class::default();
    }
}

impl Class {
    fn wait(&mut self, number: u64, interval: u64) {
        self.interval = interval.clamp(*INTERVALS.start(), *INTERVALS.end());
        self.due = number + self.interval;
    }
}
