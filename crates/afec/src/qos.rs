//! What a channel needs of the path.

use core::time::Duration;

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
