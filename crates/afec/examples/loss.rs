//! Measures the loss estimator: `cargo run --release -p groupwire-afec --example loss`.
//!
//! For each loss process: how near the model is to the truth, how fast it follows a step, and how
//! steady it is otherwise.

use std::time::{Duration, Instant};

use groupwire_afec::loss::{LAGS, LossEstimator, LossModel};
use groupwire_sim::{Loss, LossProcess};

/// The losses, by name.
const CHANNELS: [&str; 14] = [
    "rand0", "rand1", "rand5", "rand10", "rand20", "ge5b3", "ge10b3", "ge20b5", "pb5@4", "pb5@8",
    "pb10@2", "pb10@4", "out80", "out200",
];
/// The time between packets.
const INTERVAL: Duration = Duration::from_micros(33_333);

/// Packets that a path loses or not.
struct Source {
    process: LossProcess,
    packets: u32,
}

impl Source {
    fn new(channel: &str, seed: u64) -> Self {
        let loss: Loss = channel.parse().expect("it names a loss");
        Source { process: LossProcess::new(&loss, seed), packets: 0 }
    }

    fn lost(&mut self) -> bool {
        self.packets += 1;
        self.process.lost(INTERVAL * self.packets)
    }
}

/// The true loss model of a process, measured over many packets.
fn truth(channel: &str) -> LossModel {
    let mut source = Source::new(channel, 4711);
    let mut recent = 0_u16;
    let (mut lost, mut pairs) = (0.0, [0.0; LAGS]);
    let packets = 4_000_000;
    for _ in 0..packets {
        let now = source.lost();
        if now {
            lost += 1.0;
            for (lag, pairs) in pairs.iter_mut().enumerate() {
                *pairs += f64::from(recent >> lag & 1);
            }
        }
        recent = recent << 1 | u16::from(now);
    }
    let rate = lost / f64::from(packets);
    LossModel { rate, again: pairs.map(|pairs| pairs / f64::max(lost, 1.0)), weight: 0.0 }
}

/// The mean and the standard deviation.
fn spread(samples: &[f64]) -> (f64, f64) {
    let mean = samples.iter().sum::<f64>() / samples.len() as f64;
    let square = samples.iter().map(|sample| (sample - mean).powi(2)).sum::<f64>();
    (mean, (square / samples.len() as f64).sqrt())
}

const SHOWN: [usize; 6] = [1, 2, 3, 4, 6, 10];

fn stationary() {
    println!(
        "after N packets of a new path: rate and again[] at lags {SHOWN:?}: truth, mean (sd over 200 paths)"
    );
    for channel in CHANNELS {
        let truth = truth(channel);
        print!("{channel:7}  truth {:.4} |", truth.rate);
        SHOWN.iter().for_each(|lag| print!(" {:.3}       ", truth.again[lag - 1]));
        println!();
        for packets in [100, 300, 1000, 4000, 12000] {
            let models: Vec<LossModel> = (0..200)
                .map(|seed| {
                    let mut source = Source::new(channel, seed);
                    let mut estimator = LossEstimator::new();
                    (0..packets).for_each(|_| estimator.push(source.lost()));
                    estimator.model()
                })
                .collect();
            let over = |pick: &dyn Fn(&LossModel) -> f64| {
                spread(&models.iter().map(pick).collect::<Vec<_>>())
            };
            let (mean, sd) = over(&|model| model.rate);
            let believed = over(&|model| model.rate_error()).0;
            print!("{packets:7}  {mean:.4} sd {sd:.4} (believed {believed:.4}) |");
            for lag in SHOWN {
                let (mean, sd) = over(&|model| model.again[lag - 1]);
                print!(" {mean:.3} ({sd:.3})");
            }
            let errors = models.iter().flat_map(|model| {
                (1..LAGS).map(|at| (model.again[at] - truth.again[at]).powi(2)).collect::<Vec<_>>()
            });
            let told = models.iter().flat_map(|model| {
                let told = LossModel::read(model.write());
                (0..LAGS).map(|at| (told.again[at] - model.again[at]).powi(2)).collect::<Vec<_>>()
            });
            let rms = |squares: f64, lags: usize| (squares / (200 * lags) as f64).sqrt();
            println!(
                " rms {:.4}, by telling it {:.4}",
                rms(errors.sum(), LAGS - 1),
                rms(told.sum(), LAGS)
            );
        }
    }
}

fn steady() {
    println!(
        "steady, over 100,000 packets after 2,000: resets (weight under 100 after over 400), mean excess, reports per 1000"
    );
    for channel in CHANNELS {
        let truth = truth(channel).rate;
        let mut source = Source::new(channel, 99);
        let mut estimator = LossEstimator::new();
        let mut reported = estimator.model();
        let (mut resets, mut reports, mut settled) = (0, 0, true);
        let (mut excess, mut lack) = (0.0, 0.0);
        for packet in 0..102_000 {
            estimator.push(source.lost());
            let model = estimator.model();
            let differs = model.differs(&reported);
            if differs {
                reported = model;
            }
            if packet < 2_000 {
                continue;
            }
            reports += u32::from(differs);
            resets += u32::from(settled && model.weight < 100.0);
            settled = model.weight > 400.0 || settled && model.weight >= 100.0;
            excess += (model.rate - truth).max(0.0) / 100_000.0;
            lack += (truth - model.rate).max(0.0) / 100_000.0;
        }
        let relative = |x: f64| if truth > 0.0 { x / truth } else { x };
        println!(
            "{channel:7}  resets {resets:3}  excess {:.3}  lack {:.3}  reports {:.2}",
            relative(excess),
            relative(lack),
            f64::from(reports) / 100.0
        );
    }
}

const AFTER: [usize; 12] = [3, 6, 9, 12, 15, 20, 30, 45, 60, 90, 150, 300];

/// How long an outage of two seconds affects the model of a path that loses 5 %.
fn outage() {
    println!(
        "60 packets lost in a row on 5 % random: mean rate 10, 20, 40, 60, 100, 200 packets later"
    );
    for after in [10, 20, 40, 60, 100, 200] {
        let rates: Vec<f64> = (0..200)
            .map(|seed| {
                let mut source = Source::new("rand5", seed);
                let mut estimator = LossEstimator::new();
                (0..4000).for_each(|_| estimator.push(source.lost()));
                (0..60).for_each(|_| estimator.push(true));
                (0..after).for_each(|_| estimator.push(source.lost()));
                estimator.model().rate
            })
            .collect();
        print!(" {:.3}", spread(&rates).0);
    }
    println!();
}

fn step(name: &str, before: Option<&str>, after: &str) {
    let truth = truth(after);
    let mut rates = vec![Vec::new(); AFTER.len()];
    let mut again = vec![Vec::new(); AFTER.len()];
    let mut gone = Vec::new();
    for seed in 0..400 {
        let mut estimator = LossEstimator::new();
        if let Some(before) = before {
            let mut source = Source::new(before, seed + 1000);
            (0..3000).for_each(|_| estimator.push(source.lost()));
        }
        let mut source = Source::new(after, seed);
        (0..seed).for_each(|_| {
            source.lost();
        });
        let mut when = None;
        for packet in 1..=300 {
            estimator.push(source.lost());
            let model = estimator.model();
            if let Some(at) = AFTER.iter().position(|after| *after == packet) {
                rates[at].push(model.rate);
                again[at].push(model.again[3]);
            }
            if model.rate < 0.01 && when.is_none() {
                when = Some(packet as f64);
            }
        }
        gone.push(when.unwrap_or(f64::INFINITY));
    }
    println!("{name}: truth {:.3}, again[4] {:.3}", truth.rate, truth.again[3]);
    print!("  packets after ");
    AFTER.iter().for_each(|after| print!("{after:8}"));
    print!("\n  mean rate     ");
    rates.iter().for_each(|rates| print!("{:8.4}", spread(rates).0));
    print!("\n  sd            ");
    rates.iter().for_each(|rates| print!("{:8.4}", spread(rates).1));
    print!("\n  mean again[4] ");
    again.iter().for_each(|again| print!("{:8.4}", spread(again).0));
    println!();
    if truth.rate == 0.0 {
        gone.sort_by(f64::total_cmp);
        println!("  under 1 % after {} packets in the median, {} in 95 %", gone[200], gone[380]);
    }
}

/// The shortest time of several runs, so that other work on the machine does not count.
fn least(mut run: impl FnMut()) -> f64 {
    let time = |_| {
        let begun = Instant::now();
        run();
        begun.elapsed().as_nanos() as f64
    };
    (0..20).map(time).fold(f64::INFINITY, f64::min)
}

fn cost() {
    let mut source = Source::new("ge10b3", 1);
    let losses: Vec<bool> = (0..50_000).map(|_| source.lost()).collect();
    let mut estimator = LossEstimator::new();
    let packets = losses.len() as f64;
    let push = least(|| losses.iter().for_each(|lost| estimator.push(*lost))) / packets;
    let mut sum = 0.0;
    let both = least(|| {
        for lost in &losses {
            estimator.push(*lost);
            sum += estimator.model().rate;
        }
    });
    println!(
        "push {push:.0} ns, model {:.0} ns, state {} bytes ({sum:.0})",
        both / packets - push,
        size_of::<LossEstimator>()
    );
}

fn main() {
    cost();
    steps();
    outage();
    steady();
    stationary();
}

fn steps() {
    step("new path, 20 % random", None, "rand20");
    step("new path, pb5@8", None, "pb5@8");
    step("new path, 5 % random", None, "rand5");
    step("0 -> 20 % random", Some("rand0"), "rand20");
    step("1 -> 20 % random", Some("rand1"), "rand20");
    step("5 -> 20 % random", Some("rand5"), "rand20");
    step("0 -> 10 % random", Some("rand0"), "rand10");
    step("0 -> pb5@8", Some("rand0"), "pb5@8");
    step("0 -> ge20b5", Some("rand0"), "ge20b5");
    step("20 % random -> 0", Some("rand20"), "rand0");
    step("pb5@8 -> 0", Some("pb5@8"), "rand0");
    step("ge20b5 -> 0", Some("ge20b5"), "rand0");
    step("20 % random -> pb5@8", Some("rand20"), "pb5@8");
    step("ge20b5 -> 5 % random", Some("ge20b5"), "rand5");
}
