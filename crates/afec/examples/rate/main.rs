//! Measures rate control on narrow links in simulated time.
//!
//! `cargo run --release --example rate [TRACE...]`; a trace is a file with the times, in ms, at
//! which a link delivers 1500 bytes (mahimahi's format), unpacked.

mod link;

use std::hint::black_box;
use std::time::{Duration, Instant};

use groupwire_afec::rate::{Budget, RateEstimator};
use link::{Capacity, Path, Seen};

fn main() {
    println!(
        "{:44} {:>6} {:>6} {:>8} {:>6} {:>6} {:>8} {:>8} {:>6} {:>6}",
        "queueing delay in ms",
        "p50",
        "p99",
        "p99 >5s",
        "worst",
        "util",
        "back off",
        "reports",
        "drop %",
        "capped"
    );
    for kbit in [28.8, 56.0] {
        for over in [1.3, 2.0, 3.0] {
            for delay in [25.0, 50.0] {
                for (loss, first) in [(0.0, true), (0.2, true), (0.2, false)] {
                    let path = Path { loss, loss_first: first, delay, ..Path::narrow(kbit, over) };
                    let place = ["after", "before"][usize::from(first)];
                    row(&format!("{kbit} kbit/s, x{over}, {delay} ms, {loss} lost {place}"), &path);
                }
            }
        }
    }
    steps();
    free();
    shallow();
    speed();
    for trace in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&trace).expect("the trace can be read");
        let times: Vec<f64> = text.lines().filter_map(|line| line.trim().parse().ok()).collect();
        cellular(&trace, &times);
    }
}

/// The seeds of a row, which shows the mean over them and, for the 99th percentile after 5 s, also
/// the worst.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=8;

fn row(name: &str, path: &Path) -> Vec<Seen> {
    let runs: Vec<Seen> = SEEDS.map(|seed| Path { seed, ..path.clone() }.run()).collect();
    let mean =
        |value: &dyn Fn(&Seen) -> f64| runs.iter().map(value).sum::<f64>() / runs.len() as f64;
    let worst = runs.iter().map(|seen| seen.queueing(0.99, 5000.0)).fold(0.0, f64::max);
    let capacity = path.capacity_between(3000.0, path.length);
    println!(
        "{name:44} {:6.1} {:6.1} {:8.1} {worst:6.1} {:6.2} {:8.0} {:8.1} {:6.1} {:6.2}",
        mean(&|seen| seen.queueing(0.5, 0.0)),
        mean(&|seen| seen.queueing(0.99, 0.0)),
        mean(&|seen| seen.queueing(0.99, 5000.0)),
        mean(&|seen| seen.delivered_between(3000.0, path.length) / capacity),
        mean(&|seen| seen.queue_below(60.0, 0.0)),
        mean(&|seen| seen.reports as f64 / path.length * 1000.0),
        mean(&|seen| 100.0 * seen.dropped as f64 / seen.sent as f64),
        mean(&|seen| seen.capped()),
    );
    runs
}

fn steps() {
    println!("\ncapacity x0.5 at 20 s, x4 at 40 s");
    for kbit in [28.8, 56.0] {
        for loss in [0.0, 0.2] {
            let rate = kbit * 125.0;
            let steps = vec![(0.0, rate), (20_000.0, rate / 2.0), (40_000.0, rate * 2.0)];
            let path = Path {
                capacity: Capacity::Steps(steps),
                loss,
                loss_first: false,
                ..Path::narrow(kbit, 3.0)
            };
            let seen = row(&format!("{kbit} kbit/s, x3, {} % loss", loss * 100.0), &path);
            let down: Vec<f64> =
                seen.iter().map(|seen| seen.queue_below(60.0, 20_000.0).round()).collect();
            let up: Vec<f64> =
                seen.iter().map(|seen| seen.rate_reached(rate * 1.6, 40_000.0)).collect();
            println!(
                "    x0.5: queue under 60 ms after {down:?} ms\n    x4: 80 % of the new rate after {up:?} ms"
            );
        }
    }
}

fn free() {
    for jitter in [30.0, 50.0] {
        println!("\n3 Mbit/s, {jitter} ms jitter");
        for demand in [600.0, 1800.0, 20_000.0] {
            let demands = vec![(0.0, demand)];
            let path =
                Path { jitter, demand: demands, length: 60_000.0, ..Path::narrow(3000.0, 1.0) };
            row(&format!("{demand} bytes/s"), &path);
        }
    }
    println!("\n3 Mbit/s, 5 ms jitter");
    let open = || Path { jitter: 5.0, length: 300_000.0, ..Path::narrow(3000.0, 1.0) };
    for loss in [0.0, 0.2] {
        for demand in [600.0, 1800.0, 20_000.0, 200_000.0] {
            let path = Path { loss, demand: vec![(0.0, demand)], length: 60_000.0, ..open() };
            row(&format!("{demand} bytes/s, {loss} lost"), &path);
        }
    }
    // The clusters of a pointer, whose rate varies by a half.
    let cluster = |i: u32| {
        let start = f64::from(i) * 3000.0;
        [(start, 1200.0 * f64::from(1 + i % 2)), (start + 1100.0, 0.0)]
    };
    let clusters: Vec<(f64, f64)> = (0..100).flat_map(cluster).collect();
    for (loss, burst) in [(0.2, 1.0), (0.1, 3.0), (0.2, 5.0)] {
        let path = Path { loss, burst, demand: clusters.clone(), ..open() };
        row(&format!("clusters, {loss} lost in bursts of {burst}"), &path);
    }
    // Redundancy grows with losses, and the rate with it.
    let path = Path {
        loss: 0.2,
        loss_from: 60_000.0,
        demand: vec![(0.0, 1800.0), (61_000.0, 3600.0)],
        ..open()
    };
    row("0.2 lost from 60 s on, twice the rate 1 s later", &path);
}

fn shallow() {
    println!("\nqueue of 2 packets, no delay to see; the demand doubles at 20 s");
    for (kbit, packet) in [(28.8, 60.0), (1000.0, 200.0)] {
        for loss in [0.0, 0.2] {
            let rate = kbit * 125.0;
            let path = Path {
                queue: packet * 2.0,
                packet,
                loss,
                demand: vec![(0.0, rate * 0.7), (20_000.0, rate * 1.5)],
                ..Path::narrow(kbit, 1.0)
            };
            let seen = row(&format!("{kbit} kbit/s, {} % loss", loss * 100.0), &path);
            let lost = |seen: &Seen| {
                1.0 - seen.delivered_between(40_000.0, 60_000.0)
                    / seen.offered_between(40_000.0, 60_000.0)
            };
            println!(
                "    lost in the last 20 s: {:.2?}",
                seen.iter().map(lost).collect::<Vec<f64>>()
            );
        }
    }
}

fn speed() {
    for (packets, spacing) in [("60 a second", 16_667), ("6000 a second", 167)] {
        let mut estimator = RateEstimator::new();
        let mut budget = Budget::new(Some(1_000_000));
        let count = 5_000_000;
        let began = Instant::now();
        for i in 0..count {
            let now = Duration::from_micros(i * spacing + i % 7 * 300);
            estimator.arrived(now, (i * spacing / 1000) as u16, 60);
            black_box(estimator.cap(now));
        }
        let estimating = began.elapsed().as_nanos() as f64 / count as f64;
        let began = Instant::now();
        for i in 0..count {
            let now = Duration::from_micros(i * spacing);
            black_box(budget.allows(now, 60));
            budget.spend(now, 60);
            budget.on_report();
        }
        let budgeting = began.elapsed().as_nanos() as f64 / count as f64;
        println!(
            "\n{packets}: {estimating:.0} ns per packet received, {budgeting:.0} ns per packet sent"
        );
    }
    println!("{} and {} bytes of state", size_of::<RateEstimator>(), size_of::<Budget>());
}

fn cellular(name: &str, times: &[f64]) {
    let length = times.last().map_or(0.0, |last| last.min(120_000.0));
    let mean = times.iter().filter(|at| **at < length).count() as f64 * 1500.0 / length * 1000.0;
    println!("\n{name}: {mean:.0} bytes/s");
    for (over, packet) in [(0.1, 60.0), (1.3, 400.0)] {
        let path = Path {
            capacity: Capacity::Opportunities(times.to_vec()),
            queue: mean * 0.3,
            packet,
            demand: vec![(0.0, mean * over)],
            length,
            ..Path::narrow(0.0, 1.0)
        };
        row(&format!("x{over}, packets of {packet}"), &path);
    }
}
