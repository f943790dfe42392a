//! Divides the share of lost or late messages that a channel permits between the two legs, client
//! to server and server to client (wire W69, W73, W76 and W82). Each leg has a function.

use core::time::Duration;

use groupwire_afec::{self as afec, Order};

use crate::ids::ChannelNo;
use crate::wire::record::Direction;
use crate::{Overflow, Qos};

// The first three constants are shares of the loss that the channel permits (`Qos::loss`). They
// were tuned on AFEC's Table 1, with 20 % random loss and 18.6 % in bursts on both legs, so that
// every contract is met with the fewest bytes (`groupwire-lab contract --setup table1`, seeds 6 to
// 8).

/// The share of the leg to the server, and of the leg to a client until the loss on the leg to the
/// server is known. It is a little more than half: a message that misses on the leg to the server
/// misses at all receivers, but a repeat there serves all of them, too, and most packets to a
/// receiver carry messages of several senders.
const ONE_LEG: f64 = 0.52;

/// The smallest and the largest share of the leg to the client, for any loss on the leg to the
/// server.
const LEAST_OF_BOTH: f64 = 0.25;
const MOST_OF_BOTH: f64 = 0.75;

/// The deadline, in datagrams, of awareness channels without one: after this time a message is not
/// repeated any more.
const NO_DEADLINE: Duration = Duration::from_secs(5);

/// The share of the leg to a fan-out group. It does not depend on the loss on the leg to the
/// server, because a group's packets carry the channels of many senders.
const GROUP_LEG: f64 = 0.5;

/// The smallest loss target of a channel in a fan-out group, in 1/1000: no number of repeats
/// reaches a target of 0.
const LEAST_GROUP_LOSS: u16 = 1;

/// The number of repeats is adapted so that this share of the permitted misses occurs: a little
/// less than all, so that the target itself is met.
const STEERED: f64 = 0.94;

/// The same share for a channel that permits fewer than [`FEW`] misses per second at its maximum
/// rate. Chance makes a larger part of so few: in ten minutes of text that permit 30 misses, 5 more
/// or less are usual, and in bursts of losses more.
const STEERED_FEW: f64 = 0.75;
/// The permitted misses per second, on both legs together, below which [`STEERED_FEW`] counts.
const FEW: f64 = 0.5;

/// The share of transactions that may be received after their deadline, in 1/1000 (wire W76).
pub(crate) const LATE_TRANSACTIONS: u16 = 10;

/// The share of transactions that may be late on one leg: half of [`LATE_TRANSACTIONS`] (wire W82).
pub(super) const LATE_ON_ONE_LEG: f64 = 0.005;

/// The QoS that both legs together must keep for a channel, and the loss on the first leg, client
/// to server.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Needs {
    pub(crate) qos: Qos,
    /// The share of the channel's messages that were lost or late on the leg to the server, in
    /// 1/1000. `None` until it is known.
    pub(crate) upstream: Option<u16>,
}

/// Says that the path cannot meet a channel's target on this leg, or that it can again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Notice {
    /// The channel's number in the room.
    pub(crate) channel: ChannelNo,
    /// The share of its messages that may be lost or late on this leg, from 0 to 1.
    pub(crate) target: f64,
    /// The share that will be lost or late at best. `None` if the target can be met again.
    pub(crate) expected: Option<f64>,
}

impl Notice {
    pub(super) fn new(channel: ChannelNo, qos: &Qos, expected: Option<f64>) -> Self {
        Notice { channel, target: upstream_target(qos), expected }
    }

    /// The share that will miss on both legs at best, in 1/1000, if the other leg meets its target.
    /// 0 if the target can be met.
    pub(crate) fn outlook(&self) -> u16 {
        let Some(expected) = self.expected else { return 0 };
        let both = expected + self.target - expected * self.target;
        (both.min(1.0) * 1000.0) as u16
    }
}

impl Needs {
    /// The targets for sent and for received messages, at an end that sends its datagrams in the
    /// direction `sends`.
    pub(super) fn of_leg(&self, sends: Direction) -> [afec::Qos; 2] {
        [sends, sends.opposite()].map(|direction| self.in_direction(direction))
    }

    /// What one leg needs so that both together meet the channel's QoS (wire W69).
    fn in_direction(&self, direction: Direction) -> afec::Qos {
        let deadline = deadline(&self.qos);
        let (target, ahead) = match direction {
            Direction::ToServer => (upstream_target(&self.qos), ahead_of_upstream(deadline)),
            Direction::ToClient => (downstream_target(&self.qos, self.upstream), Duration::ZERO),
        };
        afec::Qos {
            target,
            deadline,
            ahead,
            order: match self.qos.overflow {
                Overflow::Conflate => Order::Newest,
                Overflow::Aggregate => Order::AsTheyCome,
            },
            rate_min: self.qos.rate_min.hertz(),
            // The session has limited the rate before it submits a message.
            rate_max: 0.0,
            priority: self.qos.priority,
            dense: self.qos.has_speakers(),
        }
    }
}

/// The share of messages that may miss on the leg to the server, from 0 to 1.
fn upstream_target(qos: &Qos) -> f64 {
    loss(qos) * ONE_LEG
}

/// The share of messages that may miss on the leg to a client, from 0 to 1: what the channel
/// permits minus `upstream`, the share that missed on the leg to the server, in 1/1000. `None`:
/// `upstream` is not known yet.
fn downstream_target(qos: &Qos, upstream: Option<u16>) -> f64 {
    let Some(upstream) = upstream else { return loss(qos) * ONE_LEG };
    let left = loss(qos) - f64::from(upstream) / 1000.0;
    left.max(loss(qos) * LEAST_OF_BOTH).min(loss(qos) * MOST_OF_BOTH)
}

/// The share of messages that may miss on the leg to a fan-out group, from 0 to 1. `strictest`: the
/// least loss that a channel of the group permits, in 1/1000.
pub(crate) fn group_target(strictest: u16) -> f64 {
    f64::from(strictest.max(LEAST_GROUP_LOSS)) * (GROUP_LEG / 1000.0)
}

/// The number of misses among `judged` messages, on both legs, that the number of repeats is
/// adapted to (wire W69).
pub(crate) fn steered_misses(qos: &Qos, judged: u64) -> f64 {
    let per_second = qos.rate_max.hertz() * loss(qos);
    let share = if per_second > 0.0 && per_second < FEW { STEERED_FEW } else { STEERED };
    share * permitted_misses(qos, judged)
}

/// The number of misses that a channel permits of `judged` messages.
pub(crate) fn permitted_misses(qos: &Qos, judged: u64) -> f64 {
    judged as f64 * f64::from(qos.loss) / 1000.0
}

/// The part of the deadline that the leg to the server leaves for the server's tick and the leg to
/// the receiver: two fifths.
fn ahead_of_upstream(deadline: Duration) -> Duration {
    deadline * 2 / 5
}

/// The part of the deadline that the tick and the leg to the receiver need at least: three tenths.
/// The server counts a message that arrives with less time left as missed, because most receivers
/// get it too late (wire W69). It is zero for messages that a client receives. `takes`: the
/// direction of the messages.
pub(super) fn reserve_behind(qos: &Qos, takes: Direction) -> Duration {
    match takes {
        Direction::ToServer => deadline(qos) * 3 / 10,
        Direction::ToClient => Duration::ZERO,
    }
}

fn deadline(qos: &Qos) -> Duration {
    qos.deadline.unwrap_or(NO_DEADLINE).min(afec::Qos::LONGEST_DEADLINE)
}

/// The share of messages that may be missed on both legs together, from 0 to 1.
fn loss(qos: &Qos) -> f64 {
    f64::from(qos.loss.min(1000)) / 1000.0
}
