//! Two endpoints and a path between them in simulated time.

use std::collections::BTreeMap;
use std::time::Duration;

use groupwire_afec::{Config, Endpoint, Order, Qos, Submission};
use oorandom::Rand64;

/// How the path treats packets, in both directions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Conditions {
    pub(crate) loss: f64,
    pub(crate) delay: Duration,
    /// The share of packets that take up to 80 ms longer.
    pub(crate) reorder: f64,
    pub(crate) duplicate: f64,
    pub(crate) corrupt: f64,
}

impl Conditions {
    pub(crate) fn losing(loss: f64) -> Self {
        let delay = Duration::from_millis(25);
        Conditions { loss, delay, reorder: 0.0, duplicate: 0.0, corrupt: 0.0 }
    }
}

/// A message that was delivered.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Delivered {
    pub(crate) end: usize,
    pub(crate) channel: u32,
    pub(crate) index: u32,
    /// The age that the endpoint reported.
    pub(crate) age: Duration,
    /// The true age, from the time of sending in the payload.
    pub(crate) true_age: Duration,
    pub(crate) recovered: bool,
}

pub(crate) struct World {
    pub(crate) ends: [Endpoint; 2],
    pub(crate) now: Duration,
    pub(crate) conditions: Conditions,
    pub(crate) delivered: Vec<Delivered>,
    /// The packets and bytes (with 28 bytes of headers each) that each end sent.
    pub(crate) sent: [(u64, u64); 2],
    travelling: BTreeMap<(Duration, u64), (usize, Vec<u8>)>,
    random: Rand64,
    count: u64,
    packet: Vec<u8>,
}

impl World {
    pub(crate) fn new(config: Config, conditions: Conditions, seed: u64) -> Self {
        World {
            ends: [Endpoint::new(config), Endpoint::new(config)],
            now: Duration::ZERO,
            conditions,
            delivered: Vec::new(),
            sent: [(0, 0); 2],
            travelling: BTreeMap::new(),
            random: Rand64::new(seed.into()),
            count: 0,
            packet: Vec::new(),
        }
    }

    pub(crate) fn open(&mut self, channel: u32, qos: Qos) {
        for end in &mut self.ends {
            end.open(channel, qos).expect("the QoS makes sense");
        }
    }

    /// Sends a message whose payload contains the time of sending.
    pub(crate) fn send(&mut self, end: usize, channel: u32, key: u32) {
        let mut payload = (self.now.as_micros() as u64).to_be_bytes().to_vec();
        payload.extend((0..12).map(|place| place * 7));
        let message = Submission { key, ..Submission::new(&payload) };
        self.ends[end].send(self.now, channel, message).expect("the message is small");
        self.transmit(end);
    }

    /// Runs the simulation up to `until`.
    pub(crate) fn run(&mut self, until: Duration) {
        loop {
            let arrival = self.travelling.first_key_value().map(|((at, _), _)| *at);
            let timeouts = [0, 1].map(|end| self.ends[end].timeout(self.now));
            let next = timeouts.into_iter().flatten().chain(arrival).min();
            let Some(next) = next.filter(|next| *next <= until) else {
                break;
            };
            self.now = self.now.max(next);
            if arrival.is_some_and(|at| at <= self.now) {
                let (_, (end, packet)) = self.travelling.pop_first().expect("one arrives");
                self.arrive(end, &packet);
            }
            for end in [0, 1] {
                self.ends[end].expire(self.now);
                self.transmit(end);
            }
        }
        self.now = until;
    }

    fn transmit(&mut self, end: usize) {
        let mut packet = std::mem::take(&mut self.packet);
        let mut packets = 0;
        while self.ends[end].transmit(self.now, &mut packet).is_some() {
            packets += 1;
            assert!(packets < 50, "an endpoint sends without end");
            self.sent[end].0 += 1;
            self.sent[end].1 += packet.len() as u64 + 28;
            self.carry(1 - end, &packet);
        }
        self.packet = packet;
    }

    fn carry(&mut self, to: usize, packet: &[u8]) {
        let conditions = self.conditions;
        let copies = if self.random.rand_float() < conditions.duplicate { 2 } else { 1 };
        for _ in 0..copies {
            if self.random.rand_float() < conditions.loss {
                continue;
            }
            let mut packet = packet.to_vec();
            if self.random.rand_float() < conditions.corrupt {
                let place = self.random.rand_range(0..packet.len() as u64) as usize;
                packet[place] ^= 1 << self.random.rand_range(0..8);
            }
            let longer = if self.random.rand_float() < conditions.reorder { 80_000 } else { 1000 };
            let jitter = Duration::from_micros(self.random.rand_range(0..longer));
            self.count += 1;
            self.travelling
                .insert((self.now + conditions.delay + jitter, self.count), (to, packet));
        }
    }

    fn arrive(&mut self, end: usize, packet: &[u8]) {
        let (now, delivered) = (self.now, &mut self.delivered);
        // Errors do not matter here, only the messages that are delivered all the same.
        let _ = self.ends[end]
            .receive(now, packet, |message| delivered.push(record(now, end, &message)));
    }

    /// Sends `count` messages from end 0, 30 per second in clusters of 40 with pauses of a second.
    pub(crate) fn point(&mut self, channel: u32, count: u32) {
        for nth in 0..count {
            let gap = if nth % 40 == 39 { 1000 } else { 33 };
            self.send(0, channel, 0);
            self.run(self.now + Duration::from_millis(gap));
        }
    }
}

fn record(now: Duration, end: usize, message: &groupwire_afec::Delivery<'_>) -> Delivered {
    let sent = message.payload.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes));
    Delivered {
        end,
        channel: message.channel,
        index: message.index,
        age: message.age,
        true_age: now.saturating_sub(Duration::from_micros(sent)),
        recovered: message.recovered,
    }
}

/// The QoS of most tests: a deadline of 250 ms, 5 % may miss.
pub(crate) fn pointer(order: Order) -> Qos {
    Qos { order, ..Qos::new() }
}
