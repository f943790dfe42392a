//! How long `choose` takes, for a few situations.
use std::time::{Duration, Instant};

use groupwire_afec::choice::{Situation, choose};
use groupwire_afec::loss::{LAGS, LossModel};

fn main() {
    for (name, rate, stay) in [("none", 0.0, 0.0), ("random 20 %", 0.2, 0.0), ("bursts", 0.2, 0.8)]
    {
        let mut again = [rate; LAGS];
        let mut same = 1.0;
        for again in &mut again {
            same *= stay;
            *again += (1.0 - rate) * same;
        }
        let loss = LossModel { rate, again, weight: 1e3 };
        for (round_trip, deadline) in [(50, 250), (100, 250), (250, 250), (50, 100), (100, 100)] {
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
            };
            let mut best = f64::INFINITY;
            for _ in 0..300 {
                let start = Instant::now();
                std::hint::black_box(choose(std::hint::black_box(&situation)));
                best = best.min(start.elapsed().as_secs_f64() * 1e6);
            }
            println!("{name:12} {round_trip:3}/{deadline} ms: {best:.1} us");
        }
    }
}
