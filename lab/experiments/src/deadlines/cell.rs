//! One set of conditions: a path and the contract that its messages have.

use std::time::Duration;

use clap::ValueEnum;
use groupwire_afec::Qos;

use crate::options::named;

use crate::sim::{Capacity, LinkConfig, Loss, Queue};

/// The channel that all schemes use.
pub(super) const CHANNEL: u32 = 1;
/// The longest wait in the queue of a narrow link, beyond which it drops packets.
const QUEUE: Duration = Duration::from_millis(300);
/// The largest random delay of packets, beyond the delay of the link.
const JITTER: Duration = Duration::from_millis(2);
/// The deadline of a contract by which a message misses only if it never arrives. A contract must
/// have one; no message of the experiment takes this long, unless a link is overloaded for seconds.
const NO_DEADLINE: Duration = Duration::from_secs(5);

/// By what a scheme judges whether a message missed, and so what its target is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum Judged {
    /// A message misses if it never arrives, as in the AFEC paper. No scheme knows of a deadline.
    Arrival,
    /// A message misses if it has not arrived by the deadline, which all schemes know.
    #[default]
    Deadline,
}

named!(Judged);

/// A path, the same in both directions, and a contract.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cell {
    pub(super) loss: Loss,
    pub(super) round_trip: Duration,
    pub(super) deadline: Duration,
    pub(super) judged: Judged,
    pub(super) target: f64,
    /// The rate of the link in each direction; `None`: unlimited.
    pub(super) link_kbit: Option<f64>,
    /// The messages go to a server and from there to the receiver, each hop with half of the round
    /// trip. Only the second hop is lossy and narrow, as in the AFEC paper: its UDP misses as many
    /// messages as one lossy hop loses.
    pub(super) relayed: bool,
}

impl Cell {
    pub(super) fn hops(&self) -> usize {
        if self.relayed { 2 } else { 1 }
    }

    /// The simulated link of a hop, the same in both directions.
    pub(super) fn link(&self, hop: usize) -> LinkConfig {
        let delay = self.round_trip / 2 / self.hops() as u32;
        if hop + 1 < self.hops() {
            return LinkConfig { delay, ..LinkConfig::default() };
        }
        LinkConfig {
            delay,
            jitter: JITTER,
            loss: self.loss.clone(),
            capacity: self.link_kbit.map_or(Capacity::Unlimited, Capacity::kbit),
            queue: Queue::Time(QUEUE),
            ..LinkConfig::default()
        }
    }

    /// The deadline that schemes know, if they may know it.
    pub(super) fn known_deadline(&self) -> Option<Duration> {
        (self.judged == Judged::Deadline).then_some(self.deadline)
    }

    /// The age after which a message is worthless to all schemes.
    pub(super) fn longest(&self) -> Duration {
        self.known_deadline().unwrap_or(NO_DEADLINE)
    }

    pub(super) fn qos(&self) -> Qos {
        Qos { target: self.target, deadline: self.longest(), ..Qos::new() }
    }
}
