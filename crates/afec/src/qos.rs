//! What a channel needs of the path.

use core::time::Duration;

/// The longest deadline.
const LONGEST: Duration = Duration::from_secs(60);

/// In which order a receiver hands over the messages of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// As they come; a recovered message comes after newer ones, with its age.
    #[default]
    AsTheyCome,
    /// In the order they were sent: newer messages wait for a missing one until it comes or its deadline passes.
    InOrder,
    /// Only the newest value of each key matters: what is older than the newest that was handed over is dropped.
    Newest,
}

/// What a channel needs, from the sender's application to the receiver's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Qos {
    /// The share of messages that may miss: never come, or come after the deadline. 0 to 1.
    pub target: f64,
    /// After it a message is worth nothing. Counted from when the application had it.
    pub deadline: Duration,
    /// What the rest of the way takes of the deadline, where this path is not all of it: redundancy is chosen so that
    /// messages come by so much sooner. They are still worth something until the deadline.
    pub ahead: Duration,
    /// See [`Order`].
    pub order: Order,
    /// Messages per second below which the channel must not be slowed down; 0 for no such bound.
    pub rate_min: f64,
    /// Messages per second above which it is conflated (if [`Order::Newest`]) or aggregated; 0 for unbounded.
    pub rate_max: f64,
    /// Who yields first when the path is too narrow: the least. 128 unless stated.
    pub priority: u8,
    /// If the path cannot meet the target, lower the target to what it can instead of only telling.
    pub may_lower: bool,
}

impl Qos {
    /// The longest deadline there can be.
    pub const LONGEST_DEADLINE: Duration = LONGEST;

    /// 5 % may miss, 250 ms from application to application, as they come, at any rate.
    pub const fn new() -> Self {
        Qos {
            target: 0.05,
            deadline: Duration::from_millis(250),
            ahead: Duration::ZERO,
            order: Order::AsTheyCome,
            rate_min: 0.0,
            rate_max: 0.0,
            priority: 128,
            may_lower: false,
        }
    }

    /// Says what makes no sense, if anything does.
    pub(crate) fn validate(&self) -> Result<(), &'static str> {
        if !(0.0..=1.0).contains(&self.target) {
            return Err("target is a share from 0 to 1");
        }
        if self.deadline.is_zero() || self.deadline > LONGEST {
            return Err("deadline lies between 1 ms and 60 s");
        }
        if !(self.rate_min >= 0.0 && self.rate_max >= 0.0) {
            return Err("rates are numbers of messages per second, 0 for none");
        }
        if self.rate_max > 0.0 && self.rate_min > self.rate_max {
            return Err("minimum rate is above its maximum rate");
        }
        Ok(())
    }
}

impl Default for Qos {
    fn default() -> Self {
        Qos::new()
    }
}
