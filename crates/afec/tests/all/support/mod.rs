//! Two endpoints and a path between them in simulated time.

use std::collections::BTreeMap;
use std::time::Duration;

use groupwire_afec::{Config, Endpoint, Order, Qos, Submission};
use groupwire_sim::{Link, LinkConfig, Loss, random};

/// A path that loses a share of the packets at random. It takes 25 ms, and up to 1 ms longer.
pub(crate) fn losing(share: f64) -> LinkConfig {
    LinkConfig {
        delay: Duration::from_millis(25),
        jitter: Duration::from_millis(1),
        loss: Loss::Random { percent: 100.0 * share },
        ..LinkConfig::default()
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
    pub(crate) delivered: Vec<Delivered>,
    /// The packets and bytes (with 28 bytes of headers each) that each end sent.
    pub(crate) sent: [(u64, u64); 2],
    /// The links from each end.
    links: [Link; 2],
    travelling: BTreeMap<(Duration, u64), (usize, Vec<u8>)>,
    count: u64,
    packet: Vec<u8>,
}

impl World {
    /// Two ends and a path that is the same in both directions.
    pub(crate) fn new(config: Config, path: &LinkConfig, seed: u64) -> Self {
        World {
            ends: [Endpoint::new(config), Endpoint::new(config)],
            now: Duration::ZERO,
            delivered: Vec::new(),
            sent: [(0, 0); 2],
            links: [0, 1].map(|end| Link::new(path.clone(), random::derive(seed, end))),
            travelling: BTreeMap::new(),
            count: 0,
            packet: Vec::new(),
        }
    }

    /// Changes the path for packets that are sent from now on.
    pub(crate) fn change_path(&mut self, path: &LinkConfig) {
        self.links.iter_mut().for_each(|link| link.change(path.clone()));
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
            self.carry(end, &packet);
        }
        self.packet = packet;
    }

    fn carry(&mut self, from: usize, packet: &[u8]) {
        let link = &mut self.links[from];
        let arrivals = link.send(self.now, packet.len());
        for at in [arrivals.first, arrivals.second].into_iter().flatten() {
            let mut packet = packet.to_vec();
            if arrivals.corrupt {
                link.damage(&mut packet);
            }
            self.count += 1;
            self.travelling.insert((at, self.count), (1 - from, packet));
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
        channel: message.channel.0,
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
