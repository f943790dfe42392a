//! What a transfer goes over: a link and two processors, which may change meanwhile.

use std::time::Duration;

/// Conditions that hold for a while.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::streams) struct Conditions {
    /// What the link carries, Mbit/s.
    pub(in crate::streams) mbit: f64,
    /// The way there, and the way back, without any queue.
    pub(in crate::streams) delay: Duration,
    /// The share of the sender's processor that is left.
    pub(in crate::streams) server: f64,
    /// The same of the receiver.
    pub(in crate::streams) client: f64,
}

/// How long conditions hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::streams) enum Until {
    /// A time from the start, seconds.
    Seconds(f64),
    /// For blocks below this index, whenever they come.
    Block(usize),
    /// For good.
    Ever,
}

/// Conditions one after the other.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::streams) struct Course {
    /// The last one holds for ever.
    pub(in crate::streams) phases: Vec<(Until, Conditions)>,
}

impl Conditions {
    /// Octets per second.
    pub(in crate::streams) fn rate(&self) -> f64 {
        self.mbit * 1e6 / 8.0
    }
}

impl From<Conditions> for Course {
    fn from(conditions: Conditions) -> Self {
        Course { phases: vec![(Until::Ever, conditions)] }
    }
}

impl Course {
    /// What holds for a block at a time, and until when at most.
    pub(super) fn at(&self, seconds: f64, block: usize) -> (Conditions, f64) {
        let holds = |(until, _): &&(Until, Conditions)| match until {
            Until::Seconds(end) => seconds < *end,
            Until::Block(end) => block < *end,
            Until::Ever => true,
        };
        let found = self.phases.iter().find(holds).or(self.phases.last());
        match found.expect("a course has a phase") {
            (Until::Seconds(end), conditions) if seconds < *end => (*conditions, *end),
            (_, conditions) => (*conditions, f64::INFINITY),
        }
    }

    /// When the link has carried so many octets from `start` on.
    pub(super) fn carried(&self, start: f64, octets: f64, block: usize) -> f64 {
        let (mut now, mut left) = (start, octets);
        loop {
            let (conditions, end) = self.at(now, block);
            let done = now + left / conditions.rate();
            if done <= end {
                return done;
            }
            left -= (end - now) * conditions.rate();
            now = end;
        }
    }
}
