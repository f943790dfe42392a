//! The time of a choice with all calls of a policy for its block, on a steady link of 71 Mbit/s.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use groupwire_ace::{Adaptive, Delivered, Packed, Policy, Situation};
use groupwire_codecs::Costs;

const BLOCK: usize = 32 << 10;

fn choose(criterion: &mut Criterion) {
    let text: Vec<u8> = (0..BLOCK).map(|nth| b"to be or not to be "[nth * nth % 19]).collect();
    let mut policy = Adaptive::new(&[], &Costs::reference(), BLOCK);
    policy.peer_has(u16::MAX, true);
    let mut now = Duration::ZERO;
    criterion.bench_function("choose", |bencher| {
        bencher.iter(|| one(black_box(&mut policy), &mut now, &text));
    });
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
