//! What `choose` expects, beside what happens.

mod sim;

use std::time::Duration;

use groupwire_afec::choice::{Situation, choose, family};
use groupwire_afec::loss::LossModel;

use self::sim::{Channel, Loss, run};

const CHANNELS: [(&str, Loss); 7] = [
    ("rand5", Loss::Random(0.05)),
    ("rand10", Loss::Random(0.1)),
    ("rand20", Loss::Random(0.2)),
    ("ge10b3", Loss::Gilbert(0.1, 3.0)),
    ("ge20b5", Loss::Gilbert(0.2, 5.0)),
    ("pb5@4", Loss::Bursts(5, 0.04)),
    ("pb10@4", Loss::Bursts(10, 0.04)),
];
/// Round trip and deadline in ms.
const CELLS: [(u64, u64); 5] = [(50, 250), (100, 250), (250, 250), (50, 100), (100, 100)];

fn situation(loss: &LossModel, (round_trip, deadline): (u64, u64), target: f64) -> Situation<'_> {
    Situation {
        loss,
        loss_back: loss.rate,
        one_way: Duration::from_millis(round_trip / 2),
        round_trip: Duration::from_millis(round_trip),
        jitter: Duration::from_millis(4),
        deadline: Duration::from_millis(deadline),
        interval: Duration::from_millis(33),
        cluster: 45.0,
        target,
        repeat_bytes: 24.0,
        packet_bytes: 36.0,
        ask_bytes: 38.0,
        ask_delay: Duration::from_millis(33),
    }
}

#[test]
#[ignore = "prints a table"]
fn table() {
    for (name, loss) in CHANNELS {
        let model = Channel::learn(loss);
        for cell in CELLS {
            for target in [0.05, 0.1] {
                let situation = situation(&model, cell, target);
                let start = std::time::Instant::now();
                let choice = choose(&situation);
                let took = start.elapsed();
                let family = family(&situation);
                let messages = 20_000;
                let measured = run(&situation, &choice.code, loss, messages, 1);
                let mut tried = 0;
                let best = family.iter().find_map(|code| {
                    tried += 1;
                    let measured = run(&situation, code, loss, messages, 1);
                    (measured.misses <= target).then_some((code, measured))
                });
                let best_cost = best.map_or(f64::NAN, |(_, best)| best.cost);
                println!(
                    "{name:7} {cell:?} {target:.2}: possible {:.3} misses {:.4} sim {:.4} cost {:.2} sim {:.2} best {:.2} ({}/{}) {took:?} ask {} close {} share {:.2} {:?} / {:?} best {:?}",
                    choice.possible,
                    choice.misses,
                    measured.misses,
                    choice.cost,
                    measured.cost,
                    best_cost,
                    tried,
                    family.len(),
                    choice.code.ask,
                    choice.code.close,
                    choice.code.share,
                    choice.code.repeats.iter().collect::<Vec<_>>(),
                    choice.code.other.iter().collect::<Vec<_>>(),
                    best.map(|(code, _)| (
                        code.ask,
                        code.close,
                        code.share,
                        code.repeats.iter().collect::<Vec<_>>(),
                        code.other.iter().collect::<Vec<_>>()
                    )),
                );
            }
        }
    }
}
