//! The link and the two processors of a transfer, which may change meanwhile.

use std::time::Duration;

/// Conditions that hold for a while.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::streams) struct Conditions {
    /// The rate of the link, in Mbit/s.
    pub(in crate::streams) mbit: f64,
    /// The one-way delay of the link, without any queue.
    pub(in crate::streams) delay: Duration,
    /// The share of the sender's processor that is left.
    pub(in crate::streams) server: f64,
    /// The share of the receiver's processor that is left.
    pub(in crate::streams) client: f64,
}

/// The end of conditions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::streams) enum Until {
    /// A time, in seconds from the start.
    Seconds(f64),
    /// A block: the conditions are for blocks below this index, at any time.
    Block(usize),
    /// The conditions have no end.
    Ever,
}

/// Conditions one after the other.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::streams) struct Course {
    /// The phases of the course. The last one has no end.
    pub(in crate::streams) phases: Vec<(Until, Conditions)>,
}

impl Conditions {
    /// The rate of the link in bytes per second.
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
    /// The conditions for a block at a time, and the time of their end.
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

    /// The time at which the link has carried `bytes` bytes from `start` on.
    pub(super) fn carried(&self, start: f64, bytes: f64, block: usize) -> f64 {
        let (mut now, mut left) = (start, bytes);
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
