//! Rate control over a simulated link: bounds for the measurements of `examples/rate`.

#[allow(dead_code, reason = "the example uses all of it")]
#[path = "../../examples/rate/link.rs"]
mod link;

use link::{Capacity, Path};

/// Means over four seeds: the 99th percentile of the queueing delay after 5 s, in ms, and the
/// utilisation.
fn means(path: &Path) -> (f64, f64) {
    let runs = (21..25).map(|seed| (seed, Path { seed, ..path.clone() }.run()));
    let capacity = path.capacity_between(3000.0, path.length);
    let (mut queueing, mut used) = (0.0, 0.0);
    for (_, seen) in runs {
        queueing += seen.queueing(0.99, 5000.0) / 4.0;
        used += seen.delivered_between(3000.0, path.length) / capacity / 4.0;
    }
    (queueing, used)
}

#[test]
fn a_narrow_link_has_a_short_queue_and_is_used() {
    for kbit in [28.8, 56.0] {
        for over in [1.3, 3.0] {
            for (loss, bound) in [(0.0, 60.0), (0.2, 100.0)] {
                let path = Path { loss, ..Path::narrow(kbit, over) };
                let (queueing, used) = means(&path);
                assert!(
                    queueing < bound && used > 0.8,
                    "{kbit} kbit/s x{over} {loss}: {queueing:.0} ms, {used:.2}"
                );
            }
        }
    }
}

#[test]
fn the_rate_follows_the_capacity() {
    let rate = 3600.0;
    let capacity =
        Capacity::Steps(vec![(0.0, rate), (20_000.0, rate / 2.0), (40_000.0, rate * 2.0)]);
    let path = Path { capacity, ..Path::narrow(28.8, 3.0) };
    let seen = path.run();
    let down = seen.queue_below(60.0, 20_000.0);
    assert!(down < 1500.0, "{down}");
    let up = seen.rate_reached(rate * 1.6, 40_000.0);
    assert!(up < 10_000.0, "{up}");
}

#[test]
fn random_loss_is_no_limit() {
    for demand in [600.0, 1800.0, 20_000.0] {
        let path = Path {
            loss: 0.2,
            jitter: 5.0,
            demand: vec![(0.0, demand)],
            ..Path::narrow(3000.0, 1.0)
        };
        for seed in 1..5 {
            let seen = Path { seed, ..path.clone() }.run();
            assert_eq!((seen.capped(), seen.reports), (0.0, 0), "{demand} bytes/s, seed {seed}");
        }
    }
}

#[test]
fn jitter_is_no_limit() {
    for (jitter, most) in [(30.0, 0.02), (50.0, 0.12)] {
        for demand in [600.0, 1800.0, 20_000.0] {
            let path = Path { jitter, demand: vec![(0.0, demand)], ..Path::narrow(3000.0, 1.0) };
            let capped: f64 = (1..9).map(|seed| Path { seed, ..path.clone() }.run().capped()).sum();
            // The share of the time in which the sender was told a limit.
            assert!(capped / 8.0 < most, "{jitter} ms, {demand} bytes/s: {}", capped / 8.0);
        }
    }
}

#[test]
fn a_link_with_a_very_short_queue_is_limited_by_its_losses() {
    let demand = vec![(0.0, 88_000.0), (20_000.0, 190_000.0)];
    let path = Path { queue: 400.0, packet: 200.0, demand, ..Path::narrow(1000.0, 1.0) };
    let seen = path.run();
    let passed =
        seen.delivered_between(40_000.0, 60_000.0) / seen.offered_between(40_000.0, 60_000.0);
    // Without rate control a third would be lost.
    assert!(passed > 0.9, "{passed}");
}

#[test]
fn the_limit_is_dropped_when_it_is_not_needed() {
    let path =
        Path { demand: vec![(0.0, 10_000.0), (20_000.0, 1000.0)], ..Path::narrow(28.8, 1.0) };
    let seen = path.run();
    assert!(seen.caps.iter().any(|(at, cap)| *at < 20_000.0 && cap.is_some()));
    assert!(seen.caps.iter().all(|(at, cap)| *at < 40_000.0 || cap.is_none()));
}
