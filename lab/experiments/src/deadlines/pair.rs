//! Ends of a path as nodes of a simulated network.

use std::sync::Arc;
use std::time::{Duration, Instant};

use groupwire_afec::Notice;
use groupwire_afec::code::Code;

use super::cell::Cell;
use super::end::{Endpoint, Scheme};
use super::run::Log;
use crate::sim::input::{Update, write_payload};
use crate::sim::link::UDP_HEADER;
use crate::sim::{Network, Node};

/// The settings of a run, besides its cell.
#[derive(Debug, Clone)]
pub(super) struct Setup<'a> {
    pub(super) scheme: Scheme,
    /// The cost of a repeat in bytes, if it is not the repeat's length.
    pub(super) price: Option<f64>,
    pub(super) input: &'a Arc<[Update]>,
    pub(super) seed: u64,
    /// Whether to record the processor time of each packet.
    pub(super) timed: bool,
}

/// Sends the input from one end to the other.
pub(super) fn run(cell: &Cell, setup: &Setup<'_>) -> Log {
    let mut network = Network::new();
    let hops = cell.hops();
    for place in 0..=hops {
        network.add(Station::new(cell, setup, place, hops));
    }
    for hop in 0..hops {
        network.join(hop, hop + 1, cell.link(hop), link_seed(setup.seed, hop, false));
        network.join(hop + 1, hop, cell.link(hop), link_seed(setup.seed, hop, true));
    }
    network.run_until(
        setup.input.last().map_or(Duration::ZERO, |last| last.at)
            + cell.longest() * 2
            + Duration::from_secs(2),
    );
    let mut log = Log::new(setup.input, cell);
    for place in 0..=hops {
        network.node(place).settle(&mut log);
    }
    log
}

/// The seed of a link in one direction of a hop, the same for every scheme.
pub(super) fn link_seed(seed: u64, hop: usize, back: bool) -> u64 {
    seed.wrapping_mul(64).wrapping_add(2 * hop as u64 + u64::from(back))
}

/// The sender, a relay or the receiver: an endpoint towards each neighbour.
struct Station {
    place: usize,
    /// Towards the sender and towards the receiver.
    before: Option<Endpoint>,
    after: Option<Endpoint>,
    /// The updates that the sender sends.
    input: Arc<[Update]>,
    next: usize,
    packet: Vec<u8>,
    /// The messages that arrived, and when.
    came: Vec<(Duration, Vec<u8>)>,
    /// The messages that a relay is to send on: age and payload.
    onward: Vec<(Duration, Vec<u8>)>,
    counted: Counted,
    timed: bool,
}

#[derive(Debug, Clone, Default)]
struct Counted {
    bytes: u64,
    packets: u64,
    repeats: u64,
    repeated_bytes: u64,
    repeated_at: Vec<(Duration, u32)>,
    notices: Vec<(Duration, Notice)>,
    codes: Vec<(Duration, Code)>,
    work: Vec<Duration>,
    refused: Option<String>,
}

impl Station {
    fn new(cell: &Cell, setup: &Setup<'_>, place: usize, last: usize) -> Self {
        let endpoint = || setup.scheme.end(cell, setup.price);
        Station {
            place,
            before: (place > 0).then(endpoint),
            after: (place < last).then(endpoint),
            input: if place == 0 { Arc::clone(setup.input) } else { Arc::from(Vec::new()) },
            next: 0,
            packet: Vec::new(),
            came: Vec::new(),
            onward: Vec::new(),
            counted: Counted::default(),
            timed: setup.timed,
        }
    }

    fn settle(&self, log: &mut Log) {
        let counted = &self.counted;
        log.bytes += counted.bytes as f64;
        log.packets += counted.packets;
        log.repeats += counted.repeats;
        log.repeated_bytes += counted.repeated_bytes;
        log.work.extend_from_slice(&counted.work);
        if let Some(after) = &self.after {
            log.repeated_at.extend_from_slice(&counted.repeated_at);
            // With two senders, the second one sends over the lossy hop.
            log.codes.clone_from(&counted.codes);
            log.code = after.code();
            log.notices.extend_from_slice(&counted.notices);
        }
        for (at, payload) in self.came.iter().filter(|_| self.after.is_none()) {
            log.arrival(payload, *at);
        }
        for endpoint in [&self.before, &self.after].into_iter().flatten() {
            log.memory = log.memory.max(endpoint.memory());
        }
        if let Some(error) = &counted.refused {
            log.fail(|| format!("a packet was refused: {error}"));
        }
    }

    /// Submits the messages to the endpoint that are to be sent now.
    fn submit(&mut self, now: Duration) {
        let Some(after) = &mut self.after else {
            return;
        };
        while let Some(update) = self.input.get(self.next).filter(|update| update.at <= now) {
            self.packet.clear();
            write_payload(self.next as u32, update.len, &mut self.packet);
            self.next += 1;
            let age = now.saturating_sub(update.at);
            after.send(now, age, &self.packet);
        }
        for (age, payload) in self.onward.drain(..) {
            after.send(now, age, &payload);
        }
        if let Some(code) = after.code()
            && self.counted.codes.last().is_none_or(|(_, last)| *last != code)
        {
            self.counted.codes.push((now, code));
        }
    }
}

impl Node for Station {
    fn receive(&mut self, now: Duration, from: usize, packet: &[u8]) {
        let relays = self.after.is_some();
        let (came, onward) = (&mut self.came, &mut self.onward);
        let endpoint = if from < self.place { &mut self.before } else { &mut self.after };
        let Some(endpoint) = endpoint else {
            return;
        };
        let start = self.timed.then(Instant::now);
        let received = endpoint.receive(now, packet, |age, payload| match relays {
            true => onward.push((age, payload.to_vec())),
            false => came.push((now, payload.to_vec())),
        });
        self.counted.work.extend(start.map(|start| start.elapsed()));
        if let Err(error) = received {
            self.counted.refused.get_or_insert(error);
        }
    }

    fn poll(&mut self, now: Duration, send: &mut dyn FnMut(usize, &[u8])) -> Option<Duration> {
        self.submit(now);
        let mut timeout = self.input.get(self.next).map(|update| update.at);
        let (before, after) = (self.place.wrapping_sub(1), self.place + 1);
        for (to, endpoint) in [(before, &mut self.before), (after, &mut self.after)] {
            let Some(endpoint) = endpoint else {
                continue;
            };
            let counted = &mut self.counted;
            loop {
                let start = self.timed.then(Instant::now);
                let Some((repeated, bytes)) = endpoint.transmit(now, &mut self.packet) else {
                    break;
                };
                counted.work.extend(start.map(|start| start.elapsed()));
                counted.bytes += (self.packet.len() + UDP_HEADER) as u64;
                counted.packets += 1;
                counted.repeats += u64::from(repeated);
                counted.repeated_bytes += u64::from(bytes);
                if repeated > 0 {
                    counted.repeated_at.push((now, repeated));
                }
                send(to, &self.packet);
            }
            endpoint.expire(now);
            while let Some(notice) = endpoint.notice() {
                counted.notices.push((now, notice));
            }
            timeout = [timeout, endpoint.timeout(now)].into_iter().flatten().min();
        }
        timeout
    }
}
