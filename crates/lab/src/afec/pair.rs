//! Endpoints of `groupwire-afec` as nodes of a simulated network.

use std::sync::Arc;
use std::time::Duration;

use groupwire_afec::{Config, Endpoint, Notice, Scheme, Submission};

use super::cell::{CHANNEL, Cell};
use super::run::Log;
use crate::sim::input::{Update, number_of, write_payload};
use crate::sim::{LinkConfig, Network, Node};

/// IP and UDP.
const HEADERS: usize = 28;

/// What a run is made with, besides its cell.
#[derive(Debug, Clone)]
pub(super) struct Setup<'a> {
    pub(super) scheme: Scheme,
    /// What a repeat costs, if not its length.
    pub(super) price: Option<f64>,
    pub(super) input: &'a Arc<[Update]>,
    pub(super) seed: u64,
    /// Whether to note the bytes by time.
    pub(super) timed: bool,
}

/// Sends the input from one end to the other.
pub(super) fn run(cell: &Cell, setup: &Setup<'_>) -> Log {
    let mut network = Network::new();
    let hops = if cell.relayed { 2 } else { 1 };
    for place in 0..=hops {
        network.add(Station::new(cell, setup, place, hops));
    }
    for place in 0..hops {
        let link = |seed: u64| -> (LinkConfig, u64) {
            (cell.link(), setup.seed.wrapping_mul(64).wrapping_add(seed))
        };
        let (there, seed) = link(2 * place as u64);
        network.join(place, place + 1, there, seed);
        let (back, seed) = link(2 * place as u64 + 1);
        network.join(place + 1, place, back, seed);
    }
    network.run_until(
        setup.input.last().map_or(Duration::ZERO, |last| last.at)
            + cell.deadline * 2
            + Duration::from_secs(2),
    );
    let mut log = Log::new(setup.input, cell);
    for place in 0..=hops {
        network.node(place).settle(&mut log);
    }
    log
}

/// The sender, a relay or the receiver: an endpoint towards each neighbour.
struct Station {
    place: usize,
    /// Towards the sender and towards the receiver.
    before: Option<Endpoint>,
    after: Option<Endpoint>,
    input: Option<Arc<[Update]>>,
    next: usize,
    price: Option<f64>,
    packet: Vec<u8>,
    /// Message numbers and when they came.
    came: Vec<(u32, Duration)>,
    /// What a relay is to send on: age and payload.
    onward: Vec<(Duration, Vec<u8>)>,
    counted: Counted,
    timed: bool,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Counted {
    /// Bytes on the wire, headers included, repeats at their price.
    pub(super) bytes: f64,
    pub(super) packets: u64,
    pub(super) repeats: u64,
    pub(super) notices: Vec<(Duration, Notice)>,
    pub(super) by_time: Vec<(Duration, f64)>,
}

impl Station {
    fn new(cell: &Cell, setup: &Setup<'_>, place: usize, last: usize) -> Self {
        let endpoint = || {
            let config =
                Config { scheme: setup.scheme, repeat_price: setup.price, ..Config::default() };
            let mut endpoint = Endpoint::new(config);
            endpoint.open(CHANNEL, cell.qos()).expect("the contract makes sense");
            endpoint
        };
        Station {
            place,
            before: (place > 0).then(endpoint),
            after: (place < last).then(endpoint),
            input: (place == 0).then(|| Arc::clone(setup.input)),
            next: 0,
            price: setup.price,
            packet: Vec::new(),
            came: Vec::new(),
            onward: Vec::new(),
            counted: Counted::default(),
            timed: setup.timed,
        }
    }

    fn settle(&self, log: &mut Log) {
        if self.after.is_none() {
            log.arrivals(&self.came);
        }
        if let Some(a) = &self.after { log.code = super::short(&a.sent(CHANNEL).expect("x").1).replace(' ', ""); }
        log.count(&self.counted, self.place == 0);
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
        let received = endpoint.receive(now, packet, |message| {
            if relays {
                onward.push((message.age, message.payload.to_vec()));
            } else {
                came.extend(number_of(message.payload).map(|number| (number, now)));
            }
        });
        // A repeated packet is no fault of anyone here.
        debug_assert!(
            !matches!(received, Err(error) if error != groupwire_afec::PacketError::Duplicate)
        );
    }

    fn poll(&mut self, now: Duration, send: &mut dyn FnMut(usize, &[u8])) -> Option<Duration> {
        if let (Some(input), Some(after)) = (&self.input, &mut self.after) {
            while let Some(update) = input.get(self.next).filter(|update| update.at <= now) {
                self.packet.clear();
                write_payload(self.next as u32, update.len, &mut self.packet);
                let age = now.saturating_sub(update.at);
                let message = Submission { age, ..Submission::new(&self.packet) };
                after.send(now, CHANNEL, message).expect("messages are small");
                self.next += 1;
            }
        }
        if let Some(after) = &mut self.after {
            for (age, payload) in self.onward.drain(..) {
                let message = Submission { age, ..Submission::new(&payload) };
                after.send(now, CHANNEL, message).expect("messages are small");
            }
        }
        let input = self.input.as_ref().and_then(|input| input.get(self.next));
        let mut timeout = input.map(|update| update.at);
        for (to, endpoint) in
            [(self.place.wrapping_sub(1), &mut self.before), (self.place + 1, &mut self.after)]
        {
            let Some(endpoint) = endpoint else {
                continue;
            };
            let mut guard = 0;
            while let Some(made) = endpoint.transmit(now, &mut self.packet) {
                guard += 1;
                assert!(guard < 100, "{now:?} {made:?} {:?}", endpoint.sent(CHANNEL));
                let mut bytes = (self.packet.len() + HEADERS) as f64;
                if let Some(price) = self.price {
                    bytes += price * f64::from(made.repeated) - f64::from(made.repeated_bytes);
                }
                let counted = &mut self.counted;
                counted.bytes += bytes;
                counted.packets += 1;
                counted.repeats += u64::from(made.repeated);
                if self.timed {
                    counted.by_time.push((now, bytes));
                }
                send(to, &self.packet);
            }
            // What is handed over here was held back; nothing is on a channel without order.
            endpoint.expire(now, |_| {});
            while let Some(notice) = endpoint.notice() {
                self.counted.notices.push((now, notice));
            }
            timeout = [timeout, endpoint.timeout(now)].into_iter().flatten().min();
        }
        timeout
    }
}
