//! The time that `choose` takes. It runs at most once per 20 ms, so that 100 µs are half a percent
//! of a core.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use groupwire_afec::choice::{Situation, choose};
use groupwire_afec::loss::{LAGS, LossModel};

fn bench(criterion: &mut Criterion) {
    for (name, rate, stay) in [("none", 0.0, 0.0), ("random", 0.2, 0.0), ("bursts", 0.2, 0.8)] {
        let mut same = 1.0;
        let again: [f64; LAGS] = std::array::from_fn(|_| {
            same *= stay;
            rate + (1.0 - rate) * same
        });
        let loss = LossModel { rate, again, weight: 1e3 };
        for (round_trip, deadline) in [(50, 250), (250, 250), (50, 100)] {
            let situation = Situation {
                loss: &loss,
                loss_back: rate,
                one_way: Duration::from_millis(round_trip / 2),
                round_trip: Duration::from_millis(round_trip),
                jitter: Duration::from_millis(4),
                deadline: Duration::from_millis(deadline),
                interval: Duration::from_millis(33),
                cluster: 45.0,
                target: 0.05,
                repeat_bytes: 24.0,
                packet_bytes: 36.0,
                ask_bytes: 38.0,
                ask_delay: Duration::from_millis(33),
                request_copies: 1,
                requests_all: false,
            };
            criterion.bench_function(
                &format!("choose/{name}/{round_trip}-{deadline}"),
                |bencher| {
                    bencher.iter(|| choose(black_box(&situation)));
                },
            );
        }
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
