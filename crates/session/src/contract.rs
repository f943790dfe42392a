//! The contract of a channel is its QoS. In this module, a receiver of the channel judges whether
//! the contract is kept (wire W76).

mod judge;
mod last_messages;
mod sender_progress;

use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

pub use groupwire_afec::stats::Histogram;

use crate::ids::ChannelNo;
use crate::trace::AGES;
use crate::{Qos, Rate};

pub(crate) use judge::{Judge, ReceivedMessage};
pub(crate) use sender_progress::SenderProgress;

/// The state of a channel's contract at a receiver, see
/// [`Client::contract`](crate::Client::contract).
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq)]
pub struct ContractReport {
    /// The channel's present QoS, which messages are judged by.
    pub qos: Qos,
    /// Whether the contract is kept.
    pub state: ContractState,
    /// Messages of the last ten seconds.
    pub recent: Tally,
    /// Messages since the channel was opened.
    pub total: Tally,
    /// The rate of received values in the last ten seconds. It is measured only while their sender
    /// sends at least at the minimum rate. `None` if there is no minimum rate, or if senders
    /// reached it for less than two seconds.
    pub rate: Option<Rate>,
    /// The ages of received messages, from application to application.
    pub latency: Histogram,
    /// Of the messages that other participants sent, the share, in 1/1000, that did not reach the
    /// server or reached it too late. These messages are also counted in
    /// [`ContractReport::recent`]. The server reports it once a second if it changed (wire W80).
    pub upstream: u16,
    /// What Groupwire does to keep the contract.
    pub measures: Vec<Measure>,
}

/// A count of judged messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Messages for this receiver that were received, or are known to be missing. Values that its
    /// rate limit ([`Client::limit_rate`](crate::Client::limit_rate)) left out are not counted.
    pub judged: u64,
    /// Judged messages that were not received, or were received too late. On a conflated channel, a
    /// newer value that is received in time makes up for a lost one.
    pub missed: u64,
    /// Missed messages that were received, but too late.
    pub late: u64,
}

/// The quality of a channel at a receiver over the last ten to twenty seconds. The receiver reports
/// it while the room's inspector is in use (wire W84).
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelQuality {
    /// The channel's number in the room.
    pub channel: ChannelNo,
    /// Messages of the last ten seconds.
    pub tally: Tally,
    /// Messages that were received in time only because they were repeated, on this transport.
    pub saved: u64,
    /// The rate of values, see [`ContractReport::rate`].
    pub rate: Option<Rate>,
    /// The median age of received messages, from application to application, in whole milliseconds.
    pub median: Duration,
    /// The 99th percentile of the age, in whole milliseconds.
    pub p99: Duration,
    /// Received messages by age: how many up to each bound in [`AGES`], and how many above.
    pub latencies: [u32; AGES.len() + 1],
}

/// Whether a contract is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContractState {
    /// The contract is kept, or there were too few messages to tell.
    Met,
    /// The contract was broken in the last ten seconds. Of transactions, the last 64 are judged
    /// instead if these are more.
    Missed(Breach),
    /// The contract cannot be kept on the present path.
    CannotMeet(Breach),
}

/// The part of a contract that is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Breach {
    /// Too many messages were not received, or were received after the deadline.
    Loss {
        /// The share of messages that may be lost or late, in 1/1000.
        target: u16,
        /// The share that was lost or late, or that is expected to be so at best, in 1/1000.
        missed: u16,
        /// The shortest deadline that would have met the target. `None` if too few messages were
        /// received.
        deadline: Option<Duration>,
    },
    /// Values were received at less than the minimum rate, though they were sent at that rate.
    Rate {
        /// The minimum rate.
        target: Rate,
        /// The rate of received values.
        rate: Rate,
    },
}

/// What Groupwire does to keep a contract. Its `Display` is a sentence.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Messages are sent as datagrams.
    Datagrams,
    /// Messages are sent over a stream.
    Stream,
    /// Messages are repeated in later datagrams, as often as the loss target needs.
    Repeated {
        /// Messages that were received in time only because they were repeated, on this transport.
        saved: u64,
    },
    /// Lost messages are requested from the sender if there is time.
    Requested {
        /// Requested messages, on this transport.
        messages: u64,
    },
    /// The sender replaces values by newer ones so that it keeps the maximum rate.
    RateLimited {
        /// The maximum rate.
        rate: Rate,
    },
    /// The server leaves values out, because this receiver set a rate limit.
    Downsampled {
        /// The rate limit for each key.
        rate: Rate,
    },
    /// Newer values replaced older ones before these were received.
    Conflated {
        /// Replaced values since the channel was opened.
        values: u64,
    },
}

/// An event: the state of a channel's contract changed.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContractEvent {
    /// The channel.
    pub channel: crate::client::ChannelId,
    /// The new state.
    pub state: ContractState,
    /// What Groupwire does to keep the contract.
    pub measures: Vec<Measure>,
}

impl Tally {
    /// Adds the counts of `more`.
    pub(crate) fn add(&mut self, more: Tally) {
        self.judged = self.judged.saturating_add(more.judged);
        self.missed = self.missed.saturating_add(more.missed);
        self.late = self.late.saturating_add(more.late);
    }

    /// Reduces the counts to three quarters, so that older messages count less.
    pub(crate) fn age(&mut self) {
        for count in [&mut self.judged, &mut self.missed, &mut self.late] {
            *count = *count / 4 * 3 + *count % 4 * 3 / 4;
        }
    }

    /// The message error rate in 1/1000: the share of judged messages that were lost or late.
    pub fn missed_per_mille(&self) -> u16 {
        let missed = u128::from(self.missed.min(self.judged));
        (missed * 1000 / u128::from(self.judged.max(1))) as u16
    }
}

impl ContractState {
    /// The broken part of the contract. `None` if the contract is kept.
    pub fn breach(&self) -> Option<Breach> {
        match self {
            ContractState::Met => None,
            ContractState::Missed(breach) | ContractState::CannotMeet(breach) => Some(*breach),
        }
    }
}

impl fmt::Display for ContractState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ContractState::Met => f.write_str("met"),
            ContractState::Missed(breach) => write!(f, "missed: {breach}"),
            ContractState::CannotMeet(breach) => write!(f, "cannot be met: {breach}"),
        }
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Breach::Loss { target, missed, deadline } => {
                let (target, missed) = (Tenths(target.into()), Tenths(missed.into()));
                write!(f, "{missed} % lost or late where {target} % may be")?;
                match deadline {
                    Some(deadline) => {
                        write!(f, "; a deadline of {} ms would hold", deadline.as_millis() as u64)
                    }
                    None => Ok(()),
                }
            }
            Breach::Rate { target, rate } => {
                let (target, rate) = (Tenths::of(target), Tenths::of(rate));
                write!(f, "{rate} values per second came where {target} are needed")
            }
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Measure::Datagrams => {
                f.write_str("messages go as datagrams, so that a lost one delays no other")
            }
            Measure::Stream => {
                f.write_str("messages go over a stream: none is lost, but one that is sent again delays the others")
            }
            Measure::Repeated { saved } => {
                write!(f, "{saved} messages came in time because they were repeated")
            }
            Measure::Requested { messages } => {
                write!(f, "{messages} messages that did not come were asked for")
            }
            Measure::RateLimited { rate } => {
                let rate = Tenths::of(rate);
                write!(f, "senders send at most {rate} values per second, the newest")
            }
            Measure::Downsampled { rate } => {
                let rate = Tenths::of(rate);
                write!(f, "as asked, at most {rate} values of a key come per second, the newest")
            }
            Measure::Conflated { values } => {
                write!(f, "{values} values gave way to newer ones")
            }
        }
    }
}

/// Prints a number of tenths as a decimal number, without floating point.
struct Tenths(u32);

impl Tenths {
    /// A rate in messages per second.
    fn of(rate: Rate) -> Self {
        Tenths(rate.millihertz() / 100)
    }
}

impl fmt::Display for Tenths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tenths(tenths) = *self;
        match tenths % 10 {
            0 => write!(f, "{}", tenths / 10),
            tenth => write!(f, "{}.{tenth}", tenths / 10),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn states_and_measures_are_printed_as_sentences() {
        let deadline = Some(Duration::from_millis(180));
        let late = ContractState::Missed(Breach::Loss { target: 50, missed: 123, deadline });
        assert_eq!(
            late.to_string(),
            "missed: 12.3 % lost or late where 5 % may be; a deadline of 180 ms would hold"
        );
        let slow = ContractState::CannotMeet(Breach::Rate {
            target: Rate::per_second(10),
            rate: Rate::from_millihertz(2_500),
        });
        assert_eq!(
            slow.to_string(),
            "cannot be met: 2.5 values per second came where 10 are needed"
        );
        let downsampled = Measure::Downsampled { rate: Rate::per_second(5) }.to_string();
        assert_eq!(downsampled, "as asked, at most 5 values of a key come per second, the newest");
    }
}
