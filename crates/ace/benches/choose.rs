//! The time of a choice with all calls of a policy for its block, on a steady link of 71 Mbit/s.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use groupwire_ace::{Ace2005, Adaptive, Delivered, Packed, Policy, Situation, Training};
use groupwire_codecs::Costs;

const BLOCK: usize = 32 << 10;

fn choose(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("choose");
    let text: Vec<u8> = (0..BLOCK).map(|nth| b"to be or not to be "[nth * nth % 19]).collect();
    let policies: [(&str, Box<dyn Policy>); 2] = [
        ("ace-2005", Box::new(Ace2005::new(Training::reference(), BLOCK))),
        ("adaptive", Box::new(Adaptive::new(&[], &Costs::reference(), BLOCK))),
    ];
    for (name, mut policy) in policies {
        policy.peer_has(u16::MAX, true);
        let mut now = Duration::ZERO;
        group.bench_function(name, |bencher| {
            bencher.iter(|| one(black_box(&mut *policy), &mut now, &text));
        });
    }
    group.finish();
}

criterion_group!(benches, choose);
criterion_main!(benches);

/// The calls for one block, from its choice to its acknowledgement.
fn one(policy: &mut dyn Policy, now: &mut Duration, block: &[u8]) {
    let situation = Situation { more: BLOCK, in_flight: 4 * BLOCK, ..Situation::default() };
    let candidate = policy.choose(*now, block, &situation).candidate;
    let wire = if candidate.choice.codec == 0 { BLOCK } else { BLOCK / 2 };
    let packed = Packed { candidate, plain: BLOCK, wire, took: Duration::from_micros(200) };
    *now += Duration::from_secs_f64(wire as f64 / 8.9e6);
    policy.packed(*now, &packed);
    let span = Duration::from_secs_f64(wire as f64 / 8.9e6);
    let delivered = Delivered {
        blocks: 1,
        wire: wire + 4,
        unpacking: Duration::from_micros(50),
        span,
        waited: span / 2,
        round_trip: 4 * span,
        backlogged: true,
    };
    policy.delivered(*now, &delivered);
}
