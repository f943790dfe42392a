//! The networks that people talk over.

use std::time::Duration;

use crate::sim::{Capacity, Lane, LinkConfig, Loss, Network, Node, Queue};

/// The one-way delay of each hop: 50 ms from application to application and back, as in `contract`.
const HOP: Duration = Duration::from_micros(12_500);
/// Nothing is lost while people join.
const JOINED: Duration = Duration::from_secs(2);
/// The longest wait in the queue before a modem.
const QUEUE: Duration = Duration::from_millis(300);

/// A network: the same links towards the server and back.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Conditions {
    pub(super) name: &'static str,
    pub(super) loss: Loss,
    /// The rate of each link; 0 for no limit.
    pub(super) link_kbit: f64,
    /// The largest additional delay of both hops together.
    pub(super) jitter: Duration,
}

/// The names of all networks.
pub(super) const NAMES: [&str; 7] =
    ["rand0", "rand5", "rand10", "rand20", "pb10@4", "modem40", "jitter50"];

impl Conditions {
    /// The network of one of [`NAMES`].
    pub(super) fn named(name: &'static str) -> Self {
        let quiet = Conditions { name, loss: Loss::NONE, link_kbit: 0.0, jitter: Duration::ZERO };
        match name {
            "modem40" => Conditions { link_kbit: 40.0, ..quiet },
            "jitter50" => Conditions { jitter: Duration::from_millis(50), ..quiet },
            _ => Conditions { loss: name.parse().expect("the name of a loss"), ..quiet },
        }
    }

    pub(super) fn round_trip(&self) -> Duration {
        HOP * 4
    }

    fn link(&self, lane: Lane) -> LinkConfig {
        let after = Box::new(self.loss.clone());
        let (capacity, queue) = match self.link_kbit {
            0.0 => (Capacity::Unlimited, Queue::Unlimited),
            kbit => (Capacity::kbit(kbit), Queue::Time(QUEUE)),
        };
        LinkConfig {
            delay: HOP,
            jitter: self.jitter / 2,
            loss: Loss::Step { at: JOINED, before: Box::new(Loss::NONE), after },
            capacity,
            queue,
            header: lane.header(),
            ..LinkConfig::default()
        }
    }

    /// Links the nodes of `people`, which count from 1, to the server's node 0.
    pub(super) fn join<N: Node>(
        &self,
        network: &mut Network<N>,
        people: usize,
        lane: Lane,
        seed: u64,
    ) {
        for node in 1..=people {
            network.join_both(node, 0, self.link(lane), seed + node as u64);
        }
    }
}
