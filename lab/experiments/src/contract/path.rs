//! The paths between participants and the server.

use std::time::Duration;

use crate::sim::random::derive;
use crate::sim::{Lane, LinkConfig, Network, Node};

/// A participant's path, each way.
#[derive(Debug, Clone)]
pub(super) struct Path {
    pub(super) lane: Lane,
    pub(super) up: LinkConfig,
    pub(super) down: LinkConfig,
}

impl Path {
    /// A path with the same link in both directions.
    pub(super) fn both(lane: Lane, link: LinkConfig) -> Self {
        let link = LinkConfig { header: lane.header(), ..link };
        Path { lane, up: link.clone(), down: link }
    }

    /// The round trip of a packet that waits in no queue.
    pub(super) fn round_trip(&self) -> Duration {
        self.up.delay + self.down.delay
    }
}

/// The name of the transport that a lane stands for.
pub(super) fn transport(lane: Lane) -> &'static str {
    match lane {
        Lane::WebSocket => "websocket",
        Lane::WebTransport => "webtransport",
    }
}

/// Links the nodes of participants, which count from 1, to the server's node 0.
pub(super) fn join<N: Node>(network: &mut Network<N>, paths: &[Path], seed: u64) {
    for (node, path) in (1..).zip(paths) {
        network.join(node, 0, path.up.clone(), derive(seed, 2 * node as u64));
        network.join(0, node, path.down.clone(), derive(seed, 2 * node as u64 + 1));
    }
}

/// Replaces a participant's path. Packets that are under way still arrive.
pub(super) fn replace<N: Node>(network: &mut Network<N>, who: usize, path: &Path, seed: u64) {
    network.join(who + 1, 0, path.up.clone(), derive(seed, 0));
    network.join(0, who + 1, path.down.clone(), derive(seed, 1));
}

/// Bytes on the wire of each participant's path, both ways, with headers and acknowledgements.
pub(super) fn wire_bytes<N: Node>(network: &Network<N>, paths: &[Path]) -> Vec<u64> {
    let bytes = |from, to| network.link_stats(from, to).map_or(0, |stats| stats.bytes);
    (1..=paths.len()).map(|node| bytes(node, 0) + bytes(0, node)).collect()
}

/// A node of the simulated network: the server's, or a participant's.
pub(super) enum Party<S, P> {
    Server(Box<S>),
    Person(Box<P>),
}

impl<S: Node, P: Node> Node for Party<S, P> {
    fn receive(&mut self, now: Duration, from: usize, packet: &[u8]) {
        match self {
            Party::Server(node) => node.receive(now, from, packet),
            Party::Person(node) => node.receive(now, from, packet),
        }
    }

    fn poll(&mut self, now: Duration, send: &mut dyn FnMut(usize, &[u8])) -> Option<Duration> {
        match self {
            Party::Server(node) => node.poll(now, send),
            Party::Person(node) => node.poll(now, send),
        }
    }
}
