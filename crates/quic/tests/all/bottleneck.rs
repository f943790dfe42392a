//! Connections of quinn in simulated time that share a link with a drop-tail queue: ours, and some
//! with quinn's own congestion control. Unlike the simulation beside the congestion control, this
//! one has its acknowledgements: rare ones (T21), for several packets at once, so that packets
//! leave in bursts.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use groupwire_quic::wtransport::{ClientConfig, Identity, ServerConfig};
use groupwire_quic::{End, MAX_AGE, endpoint_settings, settings};
use groupwire_sim::{Capacity, Link, LinkConfig, Queue};
use quinn_proto::congestion::CubicConfig;
use quinn_proto::{Connection, ConnectionHandle, DatagramEvent, Endpoint, TransportConfig};

const STEP: Duration = Duration::from_micros(500);
const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
/// The bytes of our datagrams, and of the other connections' packets, which are full.
const OURS: usize = 1000;
const OTHERS: usize = 1350;
/// The time in which connections find their rates. Measurements begin after it.
const SETTLED: Duration = Duration::from_secs(8);

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Our congestion control, and the kbit/s that the application offers.
    Ours(f64),
    /// Offers as much as it may, until then.
    Cubic(Duration),
}

struct Peer {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
}

struct Flow {
    kind: Kind,
    /// The client, which sends, and the server.
    peers: [Peer; 2],
    /// When the next datagram of ours is made, and when the one that waits was.
    next: Duration,
    waiting: Option<Duration>,
    /// The bytes that have arrived in each second.
    arrived: Vec<f64>,
}

/// A packet on its way: when it arrives, its number, its flow, at which side, and its bytes.
type Packet = Reverse<(Duration, u64, usize, usize, Vec<u8>)>;

/// The figures of a simulated run.
struct Outcome {
    /// The kbit/s of each flow in each second.
    rates: Vec<Vec<f64>>,
    /// For each packet: when it was sent, and its wait at the link in ms.
    queue: Vec<(Duration, f64)>,
}

fn share(
    kbit: f64,
    round_trip: Duration,
    buffer: Duration,
    kinds: &[Kind],
    time: Duration,
) -> Outcome {
    let config = LinkConfig {
        delay: round_trip / 2,
        capacity: Capacity::kbit(kbit),
        queue: Queue::Time(buffer),
        ..LinkConfig::default()
    };
    let mut links = [Link::new(config.clone(), 1), Link::new(config, 2)];
    // Our congestion control looks at the clock, too, which must be before the simulated time.
    let epoch = Instant::now() + 3600 * SECOND;
    let mut flows: Vec<_> =
        kinds.iter().zip(0..).map(|(kind, seed)| Flow::new(*kind, seed, epoch)).collect();
    let mut packets: BinaryHeap<Packet> = BinaryHeap::new();
    let mut queue = Vec::new();
    let (mut at, mut number, mut buffer) = (Duration::ZERO, 0, Vec::new());
    while at < time {
        at += STEP;
        let now = epoch + at;
        while packets.peek().is_some_and(|packet| packet.0.0 <= at) {
            let Some(Reverse((_, _, flow, side, bytes))) = packets.pop() else { break };
            flows[flow].peers[side].receive(now, address(1 - side), &bytes);
        }
        // The flows take turns at being first.
        let count = flows.len();
        let first = (at.as_micros() / STEP.as_micros()) as usize;
        for index in (first..first + count).map(|place| place % count) {
            let flow = &mut flows[index];
            flow.offer(at);
            for side in [0, 1] {
                flow.peers[side].work(now);
                let Some((_, connection)) = &mut flow.peers[side].connection else { continue };
                while let Some(bytes) = connection.datagrams().recv() {
                    flow.arrived[at.as_secs() as usize] += bytes.len() as f64;
                }
                buffer.clear();
                while let Some(sent) = connection.poll_transmit(now, 10, &mut buffer) {
                    for bytes in buffer[..sent.size].chunks(sent.segment_size.unwrap_or(sent.size))
                    {
                        let Some(due) = links[side].send(at, bytes.len()).first else { continue };
                        if side == 0 {
                            queue.push((at, (due - at - round_trip / 2).as_secs_f64() * 1e3));
                        }
                        number += 1;
                        packets.push(Reverse((due, number, index, 1 - side, bytes.to_vec())));
                    }
                    buffer.clear();
                }
            }
            // There is place in the buffer again.
            flow.offer(at);
        }
    }
    let rates = flows.into_iter().map(|flow| flow.arrived.iter().map(|n| n / 125.0).collect());
    Outcome { rates: rates.collect(), queue }
}

impl Flow {
    fn new(kind: Kind, seed: u8, now: Instant) -> Flow {
        let identity = Identity::self_signed(["localhost"]).unwrap();
        let hash = identity.certificate_chain().as_slice()[0].hash();
        let server = ServerConfig::builder().with_bind_address(address(1)).with_identity(identity);
        let mut server = server.build();
        server.quic_config_mut().transport_config(transport(kind, End::Server));
        let client = ClientConfig::builder().with_bind_address(address(0));
        let mut client = client.with_server_certificate_hashes([hash]).build();
        client.quic_config_mut().transport_config(transport(kind, End::Client));
        let endpoint = |end, server| {
            Endpoint::new(Arc::new(endpoint_settings(end)), server, true, Some([seed; 32]))
        };
        let mut near = endpoint(End::Client, None);
        let far = endpoint(End::Server, Some(Arc::new(server.quic_config().clone())));
        let connection = near.connect(now, client.quic_config().clone(), address(1), "localhost");
        let near = Peer { endpoint: near, connection: Some(connection.unwrap()) };
        let peers = [near, Peer { endpoint: far, connection: None }];
        Flow { kind, peers, next: Duration::ZERO, waiting: None, arrived: vec![0.0; 120] }
    }

    /// Gives QUIC datagrams, as long as it takes some.
    fn offer(&mut self, at: Duration) {
        let Some((_, connection)) = &mut self.peers[0].connection else { return };
        if connection.is_handshaking() {
            return;
        }
        match self.kind {
            Kind::Cubic(end) => {
                while at < end && connection.datagrams().send(vec![0; OTHERS].into(), false).is_ok()
                {
                }
            }
            Kind::Ours(kbit) => {
                let interval = Duration::from_secs_f64(OURS as f64 / (kbit * 125.0));
                self.next = self.next.max(at.saturating_sub(interval));
                loop {
                    if self.waiting.is_none() && self.next <= at {
                        self.waiting = Some(at);
                    }
                    let Some(made) = self.waiting else { return };
                    let is_taken = connection.datagrams().send(vec![0; OURS].into(), false).is_ok();
                    if !is_taken && at < made + MAX_AGE {
                        return;
                    }
                    self.waiting = None;
                    self.next += interval;
                }
            }
        }
    }
}

impl Peer {
    fn work(&mut self, now: Instant) {
        let Some((handle, connection)) = &mut self.connection else { return };
        if connection.poll_timeout().is_some_and(|due| due <= now) {
            connection.handle_timeout(now);
        }
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        while connection.poll().is_some() {}
    }

    fn receive(&mut self, now: Instant, from: SocketAddr, bytes: &[u8]) {
        let mut buffer = Vec::new();
        match self.endpoint.handle(now, from, None, None, bytes.into(), &mut buffer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                self.connection = self.endpoint.accept(incoming, now, &mut buffer, None).ok();
            }
            _ => {}
        }
    }
}

fn address(side: usize) -> SocketAddr {
    ([10, 0, 0, 1 + side as u8], 4433).into()
}

fn transport(kind: Kind, end: End) -> Arc<TransportConfig> {
    let mut config = settings(end, 65_536, 30 * SECOND);
    if let Kind::Cubic(_) = kind {
        config.congestion_controller_factory(Arc::new(CubicConfig::default()));
        config.ack_frequency_config(None).initial_mtu(1452).min_mtu(1452);
        config.datagram_send_buffer_size(1 << 16);
    }
    Arc::new(config)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The wait at the link, in ms, that this share of the packets between these times did not exceed.
fn wait(queue: &[(Duration, f64)], from: Duration, to: Duration, share: f64) -> f64 {
    let between = queue.iter().filter(|(at, _)| (from..to).contains(at));
    let mut waits: Vec<_> = between.map(|(_, wait)| *wait).collect();
    waits.sort_by(f64::total_cmp);
    waits[(waits.len() as f64 * share) as usize]
}

#[test]
fn t24_alone_it_uses_the_link_without_a_long_queue() {
    // With a link of 1 Mbit/s an acknowledgement for five packets permits a burst that takes 42 ms.
    for (kbit, round_trip, longest) in
        [(1000.0, 50, 110.0), (1000.0, 20, 110.0), (5000.0, 50, 50.0), (5000.0, 150, 70.0)]
    {
        let time = 30 * SECOND;
        let out = share(kbit, round_trip * MS, 300 * MS, &[Kind::Ours(50_000.0)], time);
        let used = mean(&out.rates[0][8..30]) / kbit;
        let queue = wait(&out.queue, SETTLED, time, 0.99);
        println!("{kbit} kbit/s, {round_trip} ms: {used:.2} used, queue p99 {queue:.0} ms");
        assert!(used > 0.75 && queue < longest, "{kbit} {round_trip}: {used} {queue}");
    }
}

#[test]
fn t24_beside_cubic_it_gets_about_its_fair_share() {
    // The bounds are wide: the lengths of signatures in handshakes differ by bytes, and with them
    // which packets find the queue full.
    for others in [1, 2, 4] {
        let mut kinds = vec![Kind::Cubic(60 * SECOND); others];
        kinds.push(Kind::Ours(2000.0));
        let out = share(4000.0, 50 * MS, 100 * MS, &kinds, 60 * SECOND);
        let rates: Vec<_> = out.rates.iter().map(|rates| mean(&rates[8..60])).collect();
        let fair = (rates.iter().sum::<f64>() / (others + 1) as f64).min(2000.0);
        let got = rates[others] / fair;
        println!("{others}: {got:.2}");
        assert!((0.4..1.6).contains(&got), "{others}: {got}");
    }
}

#[test]
fn t24_when_others_have_left_it_makes_no_long_queue() {
    for (round_trip, buffer) in [(50, 100), (50, 300), (20, 60)] {
        let kinds = [Kind::Cubic(20 * SECOND), Kind::Cubic(20 * SECOND), Kind::Ours(50_000.0)];
        let out = share(4000.0, round_trip * MS, buffer * MS, &kinds, 35 * SECOND);
        let used = mean(&out.rates[2][25..35]) / 4000.0;
        let queue = wait(&out.queue, 25 * SECOND, 35 * SECOND, 0.9);
        println!("{round_trip} ms, buffer {buffer} ms: {used:.2} used, queue p90 {queue:.0} ms");
        assert!(used > 0.7 && queue < 45.0, "{round_trip} {buffer}: {used} {queue}");
    }
}
