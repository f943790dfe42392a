//! Two endpoints that write whole packets, on each of [`PATHS`].

use std::collections::BTreeMap;
use std::time::Duration;

use groupwire_afec::{Config, Endpoint, Scheme, Submission};

use super::digest::Digest;
use super::path::{Direction, Process};
use super::{MS, PATHS, channels, sends};

const TICK: Duration = Duration::from_millis(11);
const TICKS: u32 = 2500;

struct Pair {
    ends: [Endpoint; 2],
    directions: [Direction; 2],
    travelling: BTreeMap<(Duration, u64), (usize, Vec<u8>)>,
    count: u64,
    now: Duration,
    digest: Digest,
    packet: Vec<u8>,
}

/// Simulates two endpoints on each path. Returns a digest of all their outputs.
pub(crate) fn run(scheme: Scheme, process: Process) -> Digest {
    let mut digest = Digest::new();
    for (nth, (mtu, delay)) in PATHS.into_iter().enumerate() {
        let config = Config { scheme, mtu, ..Config::default() };
        let mut pair = Pair::new(config, process, MS * delay as u32, nth as u64);
        pair.run(mtu);
        digest.number(pair.digest.0);
    }
    digest
}

impl Pair {
    fn new(config: Config, process: Process, delay: Duration, seed: u64) -> Self {
        let mut ends = [Endpoint::new(config), Endpoint::new(config)];
        for end in &mut ends {
            for (id, qos, _) in channels() {
                end.open(id, qos).expect("the QoS makes sense");
            }
        }
        Pair {
            ends,
            directions: [1, 2]
                .map(|direction| Direction::new(process, delay, seed * 10 + direction)),
            travelling: BTreeMap::new(),
            count: 0,
            now: Duration::ZERO,
            digest: Digest::new(),
            packet: Vec::new(),
        }
    }

    fn run(&mut self, mtu: usize) {
        let ids = channels().map(|(id, ..)| id);
        for tick in 0..TICKS {
            for (place, size) in sends(tick) {
                // The second end sends a quarter of these messages, too.
                for end in 0..if tick % 4 == 0 { 2 } else { 1 } {
                    self.send(end, tick, place, size.min(mtu as u32 / 2 - 15));
                }
            }
            if tick == TICKS / 3 * 2 {
                self.ends[0].set_transport_rate(Some(20_000));
            }
            for end in [0, 1] {
                self.transmit(end);
            }
            self.until(TICK * (tick + 1));
            if tick % 50 == 0 {
                for end in &self.ends {
                    self.digest.endpoint(self.now, end, &ids);
                }
            }
        }
        self.until(self.now + MS * 3000);
    }

    fn send(&mut self, end: usize, tick: u32, place: usize, size: u32) {
        let (id, _, keys) = channels()[place];
        let payload: Vec<u8> = (0..size).map(|byte| (tick + byte) as u8).collect();
        let age = if place == 3 { MS * (tick % 9) } else { Duration::ZERO };
        let message = Submission { key: tick / 2 % keys, age, payload: &payload };
        let submitted = self.ends[end].send(self.now, id, message).expect("the message is small");
        self.digest.submitted(submitted);
    }

    /// Runs the simulation up to `until`.
    fn until(&mut self, until: Duration) {
        loop {
            let arrival = self.travelling.first_key_value().map(|((at, _), _)| *at);
            let timeouts = [0, 1].map(|end| self.ends[end].timeout(self.now));
            self.digest.maybe_time(timeouts[0]);
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

    fn arrive(&mut self, end: usize, packet: &[u8]) {
        let digest = &mut self.digest;
        digest.time(self.now);
        let result =
            self.ends[end].receive(self.now, packet, |delivery| digest.delivery(end, &delivery));
        digest.result(&result);
        while let Some(notice) = self.ends[end].notice() {
            self.digest.notice(notice);
        }
    }

    fn transmit(&mut self, end: usize) {
        let mut packet = std::mem::take(&mut self.packet);
        while let Some(made) = self.ends[end].transmit(self.now, &mut packet) {
            self.digest.number(end as u64);
            self.digest.time(self.now);
            self.digest.made(made);
            self.digest.bytes(&packet);
            for (at, copy) in self.directions[end].carry(self.now, &packet) {
                self.count += 1;
                self.travelling.insert((at, self.count), (1 - end, copy));
            }
        }
        self.packet = packet;
    }
}
