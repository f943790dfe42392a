//! Whether a channel's QoS is kept, as its receiver sees it (wire.md W76).

mod course;
mod judge;
mod rare;

use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

pub use groupwire_afec::stats::Histogram;

use crate::Qos;
use crate::ids::ChannelNo;
use crate::trace::AGES;

pub(crate) use course::Course;
pub(crate) use judge::{Judge, Judged};

/// How a channel's contract stands at a receiver, see [`Client::contract`](crate::Client::contract).
#[derive(Debug, Clone, PartialEq)]
pub struct ContractReport {
    /// What holds, and is judged by.
    pub qos: Qos,
    /// Whether it is kept.
    pub state: ContractState,
    /// The last ten seconds.
    pub recent: Tally,
    /// Since the channel was opened.
    pub total: Tally,
    /// Values that came while their sender sent at least at the minimum rate, in 1/1000 per second, over the last ten
    /// seconds. `None` if there is no minimum rate, or nobody sent so much.
    pub rate: Option<u32>,
    /// How old the messages were that came: from application to application.
    pub latency: Histogram,
    /// Of the messages that others sent, the share in 1/1000 that the server lacked or had too late: they were lost on
    /// their senders' way. Part of [`ContractReport::recent`], as the server last told.
    pub upstream: u16,
    /// What is being done.
    pub measures: Vec<Measure>,
}

/// What became of messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Messages for this receiver of which it is known whether they came in time. Values that it asked to be left out
    /// ([`Client::limit_rate`](crate::Client::limit_rate)) are not among them.
    pub judged: u64,
    /// Of them, those that never came, or too late. A value of a conflated channel is met by a newer one.
    pub missed: u64,
    /// Of the missed, those that came too late.
    pub late: u64,
}

/// How a channel stood at a receiver over the last ten to twenty seconds, as it tells who looks on at the room (wire.md
/// W84).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The channel's number in the room.
    pub channel: ChannelNo,
    /// What became of messages for it, over the last ten seconds.
    pub tally: Tally,
    /// Messages that came in time only because they were repeated, on this transport.
    pub saved: u64,
    /// As [`ContractReport::rate`].
    pub rate: Option<u32>,
    /// How old half of the messages were at most that came, from application to application, in whole milliseconds.
    pub median: Duration,
    /// The same of 99 in 100.
    pub p99: Duration,
    /// How many of them were up to each of [`AGES`] old.
    pub latencies: [u32; AGES.len() + 1],
}

/// Whether a contract is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContractState {
    /// As far as there were messages.
    Met,
    /// Not by what came in the last ten seconds, or by the last 64 transactions if those are more.
    Missed(Breach),
    /// It cannot be, as things are.
    CannotMeet(Breach),
}

/// The part of a contract that is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Breach {
    /// Too many messages never came, or later than the deadline.
    Loss {
        /// The share that may, in 1/1000.
        target: u16,
        /// The share that did, or will at best, in 1/1000.
        missed: u16,
        /// The deadline at which what came would have met the target; `None` if too little came at all.
        deadline: Option<Duration>,
    },
    /// Fewer values came than are of use, though more were sent. In 1/1000 per second.
    Rate {
        /// The least that is of use.
        target: u32,
        /// What came.
        rate: u32,
    },
}

/// What Groupwire does about a contract. Printed as a sentence.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Messages go as datagrams.
    Datagrams,
    /// Messages go over a stream.
    Stream,
    /// Messages are repeated in later datagrams, as many as the target needs.
    Repeated {
        /// Messages that came in time because of it, on this transport.
        saved: u64,
    },
    /// Messages that did not come are asked for, where there is time.
    Asked {
        /// How many were, on this transport.
        messages: u64,
    },
    /// The sender conflates above the maximum rate, in 1/1000 per second.
    Paced {
        /// The maximum.
        rate: u32,
    },
    /// The server leaves values out, as this receiver asked.
    Thinned {
        /// The most it wants of each key, in 1/1000 per second.
        rate: u32,
    },
    /// Values that a newer one took the place of on their way, since the channel was opened.
    Conflated {
        /// How many.
        values: u64,
    },
}

/// A contract began to be missed, or is kept again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContractNews {
    /// Which channel's.
    pub channel: crate::client::ChannelId,
    /// How it stands from now on.
    pub state: ContractState,
    /// What is being done about it.
    pub measures: Vec<Measure>,
}

impl Tally {
    pub(crate) fn add(&mut self, more: Tally) {
        self.judged = self.judged.saturating_add(more.judged);
        self.missed = self.missed.saturating_add(more.missed);
        self.late = self.late.saturating_add(more.late);
    }

    /// Lets what was counted so far count for three quarters of what it did.
    pub(crate) fn age(&mut self) {
        for count in [&mut self.judged, &mut self.missed, &mut self.late] {
            *count = *count / 4 * 3 + *count % 4 * 3 / 4;
        }
    }

    /// The message error rate in 1/1000: the share of messages that missed.
    pub fn missed_per_mille(&self) -> u16 {
        let missed = u128::from(self.missed.min(self.judged));
        (missed * 1000 / u128::from(self.judged.max(1))) as u16
    }
}

impl ContractState {
    /// Which part is broken.
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
                let (target, rate) = (Tenths(target / 100), Tenths(rate / 100));
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
            Measure::Asked { messages } => {
                write!(f, "{messages} messages that did not come were asked for")
            }
            Measure::Paced { rate } => {
                let rate = Tenths(rate / 100);
                write!(f, "senders send at most {rate} values per second, the newest")
            }
            Measure::Thinned { rate } => {
                let rate = Tenths(rate / 100);
                write!(f, "as asked, at most {rate} values of a key come per second, the newest")
            }
            Measure::Conflated { values } => {
                write!(f, "{values} values gave way to newer ones")
            }
        }
    }
}

/// A number in tenths, without floating point.
struct Tenths(u32);

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
    fn states_and_measures_are_told_in_plain_words() {
        let deadline = Some(Duration::from_millis(180));
        let late = ContractState::Missed(Breach::Loss { target: 50, missed: 123, deadline });
        assert_eq!(
            late.to_string(),
            "missed: 12.3 % lost or late where 5 % may be; a deadline of 180 ms would hold"
        );
        let slow = ContractState::CannotMeet(Breach::Rate { target: 10_000, rate: 2_500 });
        assert_eq!(
            slow.to_string(),
            "cannot be met: 2.5 values per second came where 10 are needed"
        );
        let thinned = Measure::Thinned { rate: 5_000 }.to_string();
        assert_eq!(thinned, "as asked, at most 5 values of a key come per second, the newest");
    }
}
