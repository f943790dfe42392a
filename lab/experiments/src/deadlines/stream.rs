//! Simulated TCP as a scheme: a connection for each hop.

use std::sync::Arc;
use std::time::Duration;

use super::cell::Cell;
use super::pair::link_seed;
use super::run::Log;
use crate::sim::input::{Update, write_payload};
use crate::sim::link::IP_HEADER;
use crate::sim::{LinkConfig, Network, Node, TcpConnection};

/// The longest wait after the last message. Behind a long burst TCP's timeouts take minutes;
/// messages that have not arrived by then count as never received.
const PATIENCE: Duration = Duration::from_secs(120);

/// Sends the input from one end to the other.
pub(super) fn run(cell: &Cell, input: &Arc<[Update]>, seed: u64) -> Log {
    let mut network = Network::new();
    let hops = cell.hops();
    for place in 0..=hops {
        network.add(Station::new(place, hops, input));
    }
    for hop in 0..hops {
        let link = LinkConfig { header: IP_HEADER, ..cell.link(hop) };
        network.join(hop, hop + 1, link.clone(), link_seed(seed, hop, false));
        network.join(hop + 1, hop, link, link_seed(seed, hop, true));
    }
    network.run_until(input.last().map_or(Duration::ZERO, |last| last.at) + PATIENCE);
    let mut log = Log::new(input, cell);
    for hop in 0..hops {
        for (from, to) in [(hop, hop + 1), (hop + 1, hop)] {
            let stats = network.link_stats(from, to).unwrap_or_default();
            log.bytes += stats.bytes as f64;
            log.packets += stats.packets;
        }
    }
    for (at, message) in &network.node(hops).came {
        log.arrival(message, *at);
    }
    log
}

/// The sender, a relay or the receiver: a connection towards each neighbour.
struct Station {
    place: usize,
    before: Option<TcpConnection>,
    after: Option<TcpConnection>,
    /// The updates that the sender sends.
    input: Arc<[Update]>,
    next: usize,
    came: Vec<(Duration, Vec<u8>)>,
}

impl Station {
    fn new(place: usize, last: usize, input: &Arc<[Update]>) -> Self {
        let nothing = || Arc::from(Vec::new());
        Station {
            place,
            before: (place > 0).then(|| TcpConnection::new(place as u32)),
            after: (place < last).then(|| TcpConnection::new(place as u32 + 1)),
            input: if place == 0 { Arc::clone(input) } else { nothing() },
            next: 0,
            came: Vec::new(),
        }
    }
}

impl Node for Station {
    fn receive(&mut self, now: Duration, from: usize, packet: &[u8]) {
        let connection = if from < self.place { &mut self.before } else { &mut self.after };
        if let Some(connection) = connection {
            connection.receive(now, packet);
        }
        while let Some(message) = self.before.as_mut().and_then(TcpConnection::read) {
            match &mut self.after {
                Some(after) => after.write(&message),
                None => self.came.push((now, message)),
            }
        }
    }

    fn poll(&mut self, now: Duration, send: &mut dyn FnMut(usize, &[u8])) -> Option<Duration> {
        let (before, after) = (self.place.wrapping_sub(1), self.place + 1);
        while let (Some(update), Some(connection)) = (self.input.get(self.next), &mut self.after)
            && update.at <= now
        {
            let mut message = Vec::new();
            write_payload(self.next as u32, update.len, &mut message);
            connection.write(&message);
            // Each message is a segment of its own, as without Nagle's algorithm.
            connection.poll(now, &mut |packet| send(after, packet));
            self.next += 1;
        }
        let mut timeout = self.input.get(self.next).map(|update| update.at);
        for (to, connection) in [(before, &mut self.before), (after, &mut self.after)] {
            if let Some(connection) = connection {
                let due = connection.poll(now, &mut |packet| send(to, packet));
                timeout = [timeout, due].into_iter().flatten().min();
            }
        }
        timeout
    }
}
