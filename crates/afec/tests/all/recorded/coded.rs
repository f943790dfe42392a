//! Two endpoints whose caller codes the messages, as a session does.

use std::collections::BTreeMap;
use std::time::Duration;

use groupwire_afec::{Arrival, Config, Endpoint, Planned, Qos, Submission};

use super::digest::Digest;
use super::path::{Direction, Process};
use super::{MS, channels, sends};

const TICK: Duration = Duration::from_millis(11);
const TICKS: u32 = 5000;

/// A header, and the messages of the packet, which the simulated path carries as they are.
struct Packet {
    header: Vec<u8>,
    messages: Vec<Arrival>,
}

struct Pair {
    ends: [Endpoint; 2],
    directions: [Direction; 2],
    travelling: BTreeMap<(Duration, u64), (usize, Packet)>,
    count: u64,
    now: Duration,
    digest: Digest,
}

/// Simulates two endpoints. Returns a digest of all their outputs.
pub(crate) fn run(process: Process) -> Digest {
    let config = Config { repeat_price: Some(4.0), mtu: 400, ..Config::default() };
    let mut ends = [Endpoint::new(config), Endpoint::new(config)];
    for end in &mut ends {
        for (id, qos, _) in channels() {
            end.open(id, qos).expect("the QoS makes sense");
        }
    }
    let mut pair = Pair {
        ends,
        directions: [1, 2].map(|direction| Direction::new(process, MS * 20, direction)),
        travelling: BTreeMap::new(),
        count: 0,
        now: Duration::ZERO,
        digest: Digest::new(),
    };
    pair.run();
    pair.digest
}

impl Pair {
    fn run(&mut self) {
        let ids = channels().map(|(id, ..)| id);
        for tick in 0..TICKS {
            for (place, size) in sends(tick) {
                let (id, _, keys) = channels()[place];
                let payload = vec![tick as u8; size as usize];
                let message =
                    Submission { key: tick / 2 % keys, age: MS * (tick % 3), payload: &payload };
                let submitted = self.ends[0].submit(self.now, id, message).expect("it is open");
                self.digest.submitted(submitted);
            }
            if tick == TICKS / 2 {
                let (id, qos, _) = channels()[2];
                let qos = Qos { target: 0.01, rate_min: 0.0, ..qos };
                self.ends[0].set_qos(id, qos, qos, true);
                self.ends[1].set_qos(id, qos, qos, false);
            }
            if tick > TICKS / 4 && tick % 10 == 0 {
                self.ends[1].report_misses(ids[3], if tick % 40 == 0 { 0.5 } else { -0.1 });
            }
            for end in [0, 1] {
                self.transmit(end, tick % 40 == 0);
            }
            self.until(TICK * (tick + 1));
            if tick % 50 == 0 {
                for end in &self.ends {
                    self.digest.endpoint(self.now, end, &ids);
                }
            }
        }
    }

    fn until(&mut self, until: Duration) {
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
                self.transmit(end, false);
            }
        }
        self.now = until;
    }

    fn arrive(&mut self, end: usize, packet: &Packet) {
        let (now, digest) = (self.now, &mut self.digest);
        let end = &mut self.ends[end];
        let result = end.receive_header(now, &packet.header).map(|front| {
            digest.number(front.bits.into());
            digest.number(front.rest.len() as u64);
            digest.maybe_time(front.way);
            digest.time(front.queued);
            front.way.unwrap_or_default() + front.queued
        });
        let result = result.and_then(|more| {
            packet.messages.iter().try_for_each(|came| {
                end.on_message(now, &Arrival { age: came.age + more, ..*came })
            })
        });
        digest.result(&result);
        while let Some(notice) = end.notice() {
            digest.notice(notice);
        }
    }

    fn transmit(&mut self, end: usize, mut forced: bool) {
        loop {
            let (mut header, mut messages) = (Vec::new(), Vec::new());
            let digest = &mut self.digest;
            let plan = |planned: Planned<'_>| {
                let Planned { channel, index, back, age, repeated, payload } = planned;
                for number in [channel.0, index.into(), back, age, repeated.into()] {
                    digest.number(number.into());
                }
                digest.bytes(payload);
                let key = (back > 0 || channel.0 == 2).then_some((channel.0 % 5, back));
                messages.push(Arrival { channel, index, key, age: MS * age, repeated });
            };
            let made = self.ends[end].transmit_with(self.now, forced, &mut header, plan);
            let Some(made) = made else { return };
            forced = false;
            let half = messages.split_off(messages.len() / 2);
            let coded = 6 * (messages.len() + half.len());
            self.send(end, Packet { header, messages });
            if half.len() > 3 {
                // As if the coded messages had not fitted into one packet.
                let mut header = Vec::new();
                let number = self.ends[end].next_header(self.now, &mut header);
                self.digest.number(number.into());
                self.send(end, Packet { header, messages: half });
            }
            self.ends[end].on_coded(made.bytes as usize, coded);
            self.digest.made(made);
        }
    }

    fn send(&mut self, end: usize, packet: Packet) {
        self.digest.number(end as u64);
        self.digest.time(self.now);
        self.digest.bytes(&packet.header);
        let bytes = packet.header.len() + 6 * packet.messages.len();
        self.ends[end].on_sent(self.now, bytes);
        let mut whole = packet.header.clone();
        whole.resize(bytes, 0);
        for (at, copy) in self.directions[end].carry(self.now, &whole) {
            let header = copy[..packet.header.len()].to_vec();
            self.count += 1;
            let packet = Packet { header, messages: packet.messages.clone() };
            self.travelling.insert((at, self.count), (1 - end, packet));
        }
    }
}
