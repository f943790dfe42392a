//! What the simulated network costs for each packet. A pair that sends 30 packets per second both
//! ways has 16.7 ms of simulated time for each.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use groupwire_sim::{Capacity, LinkConfig, Network, Node, Queue};

const EVERY: Duration = Duration::from_nanos(33_333_333);
const PACKETS: u32 = 30_000;

/// Sends a packet at a pace.
struct Pacer {
    to: usize,
    next: Duration,
    seen: u64,
}

impl Node for Pacer {
    fn receive(&mut self, _: Duration, _: usize, packet: &[u8]) {
        self.seen += packet.len() as u64;
    }

    fn poll(&mut self, now: Duration, send: &mut dyn FnMut(usize, &[u8])) -> Option<Duration> {
        while self.next <= now {
            send(self.to, &[7; 60]);
            self.next += EVERY;
        }
        Some(self.next)
    }
}

fn pair(config: &LinkConfig) -> u64 {
    let mut network = Network::new();
    network.add(Pacer { to: 1, next: Duration::ZERO, seen: 0 });
    network.add(Pacer { to: 0, next: EVERY / 2, seen: 0 });
    network.join_both(0, 1, config.clone(), 1);
    network.run_until(EVERY * PACKETS / 2);
    network.node(0).seen + network.node(1).seen
}

fn network(criterion: &mut Criterion) {
    let delay = Duration::from_millis(50);
    let plain = LinkConfig { delay, ..LinkConfig::default() };
    let lossy = LinkConfig {
        loss: "ge10b3".parse().expect("a channel of the table"),
        jitter: Duration::from_millis(5),
        ..plain.clone()
    };
    let narrow =
        LinkConfig { capacity: Capacity::kbit(56.0), queue: Queue::Bytes(8000), ..lossy.clone() };
    let mut group = criterion.benchmark_group("packet");
    group.throughput(Throughput::Elements(PACKETS.into()));
    for (name, config) in [("plain", plain), ("lossy", lossy), ("narrow", narrow)] {
        group.bench_function(name, |bencher| bencher.iter(|| black_box(pair(&config))));
    }
    group.finish();
}

criterion_group!(benches, network);
criterion_main!(benches);
