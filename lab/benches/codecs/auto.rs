//! The time of the adaptive choice. It runs for every message, and packing a message takes a few
//! microseconds.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use groupwire_codecs::{Auto, Choice, Costs, Link};

fn bench(criterion: &mut Criterion) {
    for mbit in [10.0, 1000.0] {
        let mut auto = Auto::new(&Auto::candidates(|_| true), &Costs::reference());
        let link = Link::of_rate(mbit * 1e6);
        criterion.bench_function(&format!("choose and learn/{mbit}"), |bencher| {
            bencher.iter(|| {
                let pick = auto.choose(black_box(1000), &link);
                auto.learn(pick.choice, 1000, 500);
                pick
            });
        });
    }
    let mut auto = Auto::new(&[], &Costs::reference());
    criterion.bench_function("choose/none", |bencher| {
        bencher.iter(|| auto.choose(black_box(1000), &Link::of_rate(1e9)).choice == Choice::NONE);
    });
    let (mut link, mut nth) = (Link::new(), 0);
    criterion.bench_function("heard", |bencher| {
        bencher.iter(|| {
            nth += 1;
            let bytes = 400 + nth * 377 % 2400;
            link.heard(bytes, Duration::from_nanos(60_000 + 8 * bytes as u64 + nth as u64 % 999));
            link.nanos_per_byte()
        });
    });
}

criterion_group!(benches, bench);
criterion_main!(benches);
