//! The quality of service (QoS) of a channel: what an application needs of it.

use core::time::Duration;

/// The longest deadline: the receiver's 16-bit clocks in ms repeat after 65 s.
const LONGEST: Duration = Duration::from_secs(60);
/// The share of lost packets from which on requests of dense channels are made twice. On other
/// paths most gaps are packets that others overtook, and a second request costs more than it
/// saves. Chosen by `groupwire-lab voice` (jitter50 and rand5); not tuned.
const LOSES_REQUESTS: f64 = 0.03;

/// The order in which a receiver hands the messages of a channel to the application.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// In the order of arrival: a message that arrived only as a repeat may come after newer
    /// messages.
    #[default]
    AsTheyCome,
    /// Only the newest value of each key matters (a conflated channel): a value that is older than
    /// the newest one passed to the application is dropped.
    Newest,
}

/// What a channel needs, from the sender's application to the receiver's application.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Qos {
    /// The share of messages that may miss, 0 to 1. A message misses if it never arrives or arrives
    /// after its deadline.
    pub target: f64,
    /// The deadline of a message, counted from the moment at which the application at the message's
    /// first sender had it. After the deadline the message is worth nothing.
    pub deadline: Duration,
    /// The part of the deadline that is reserved for further legs (paths) after this one, such as
    /// the leg from a server to a client. Redundancy is chosen so that messages arrive this much
    /// before the deadline. Messages that arrive later, but by the deadline, do not miss.
    pub ahead: Duration,
    /// The order in which the application gets the messages.
    pub order: Order,
    /// The messages per second below which the channel must not be slowed down. 0: no such limit.
    pub rate_min: f64,
    /// The messages per second above which the channel is conflated (with [`Order::Newest`], newer
    /// values replace older ones) or aggregated (several messages share a packet). 0: no limit.
    pub rate_max: f64,
    /// If the rate of the path is too low for all channels, the one with the lowest priority is
    /// slowed down first. 128 by default.
    pub priority: u8,
    /// True if messages are compressed already, such as frames of sound, so that a repeat takes as
    /// many bytes as the message whatever [`Config::repeat_price`](crate::Config::repeat_price) is.
    /// The receiver requests every message that is missing, also those that the target permits to
    /// miss: a decoder of sound needs them for the ones that follow, and requests cost little
    /// (`groupwire-lab voice`). On a path that loses packets it makes each request twice, since a
    /// deadline of sound leaves little time for another one.
    pub dense: bool,
}

impl Qos {
    /// The longest deadline that a channel can have.
    pub const LONGEST_DEADLINE: Duration = LONGEST;

    /// 5 % of messages may miss, the deadline is 250 ms, messages are delivered in the order of
    /// arrival, and there are no rate limits: what a telepointer (the pointer of another user)
    /// needs, as in the AFEC paper (2012).
    pub const fn new() -> Self {
        Qos {
            target: 0.05,
            deadline: Duration::from_millis(250),
            ahead: Duration::ZERO,
            order: Order::AsTheyCome,
            rate_min: 0.0,
            rate_max: 0.0,
            priority: 128,
            dense: false,
        }
    }

    /// The number of packets that make a request for a missing message, on a path that loses the
    /// share `loss` of packets.
    pub(crate) fn request_copies(&self, loss: f64) -> u8 {
        if self.dense && loss >= LOSES_REQUESTS { 2 } else { 1 }
    }

    /// Checks that the values do not contradict each other.
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
