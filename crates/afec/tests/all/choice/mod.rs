//! What `choose` expects, compared with simulated runs.

mod sim;

use std::time::Duration;

use groupwire_afec::choice::{Situation, choose, expect, family};
use groupwire_afec::code::{Code, Repeat, Repeats};
use groupwire_afec::loss::{LAGS, LossModel};
use groupwire_sim::Loss;

use self::sim::{learn, run};

const CHANNELS: [&str; 7] = ["rand5", "rand10", "rand20", "ge10b3", "ge20b5", "pb5@4", "pb10@4"];
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
        request_copies: 1,
        requests_all: false,
    }
}

/// The model is within 15 % of the simulated misses, or half a percentage point.
#[test]
fn the_model_expects_what_is_simulated() {
    let piggybacks = |lags: &[u8]| Repeats::new(lags.iter().copied().map(Repeat::Piggyback));
    let dedicated =
        |ms| Repeats::new([Repeat::Piggyback(2), Repeat::Dedicated(Duration::from_millis(ms))]);
    let plain = Code::PLAIN;
    let codes = [
        plain,
        Code { repeats: piggybacks(&[1]), ..plain },
        Code { repeats: piggybacks(&[2, 5]), ..plain },
        Code { repeats: piggybacks(&[1, 2, 3]), tail_flush: true, ..plain },
        Code { repeats: dedicated(16), ..plain },
        Code { other: piggybacks(&[4]), share: 0.5, tail_flush: true, ..plain },
        Code { answers: 1, ..plain },
        Code { answers: 2, tail_flush: true, ..plain },
        Code { repeats: piggybacks(&[2]), answers: 1, ..plain },
    ];
    for name in CHANNELS {
        let loss: Loss = name.parse().expect("it names a loss");
        let model = learn(&loss);
        // The target permits no miss, so that the receiver requests every message that it can.
        let situation = situation(&model, (50, 250), 0.0);
        for code in codes {
            let expected = expect(&situation, code);
            let measured = run(&situation, &code, &loss, 30_000, 1);
            let off = (expected.misses - measured.misses).abs();
            assert!(
                off <= 0.005 + 0.15 * measured.misses,
                "{name} {code:?}: {expected:?} {measured:?}"
            );
            let off = (expected.cost - measured.cost).abs();
            assert!(off <= 0.5 + 0.2 * measured.cost, "{name} {code:?}: {expected:?} {measured:?}");
        }
    }
}

/// The chosen code holds the target up to a tenth, and no static code that holds it costs a tenth
/// less.
#[test]
fn the_choice_is_nearly_the_cheapest_code() {
    for name in ["rand20", "ge10b3", "pb5@4"] {
        let loss: Loss = name.parse().expect("it names a loss");
        let model = learn(&loss);
        for (cell, target) in
            CELLS.into_iter().flat_map(|cell| [0.05, 0.1, 0.2].map(|target| (cell, target)))
        {
            let situation = situation(&model, cell, target);
            let choice = choose(&situation);
            let measured = run(&situation, &choice.code, &loss, 30_000, 1);
            assert!(measured.misses <= 1.1 * target, "{name} {cell:?} {choice:?} {measured:?}");
            // Other codes are compared with what this code reached on the same simulated losses.
            let reached = measured.misses.min(target);
            let cheaper = |code: &Code| expect(&situation, *code).cost < choice.cost;
            for code in family(&situation).into_iter().filter(cheaper) {
                // A short run rules out most codes: they are expensive or miss much.
                let better = [(2_000, 1.3), (30_000, 1.0)].into_iter().all(|(messages, slack)| {
                    let other = run(&situation, &code, &loss, messages, 1);
                    other.misses <= slack * reached
                        && other.cost < slack * (0.9 * measured.cost - 0.25)
                });
                assert!(!better, "{name} {cell:?} {target} {choice:?} {measured:?}: {code:?}");
            }
        }
    }
}

#[test]
fn a_path_that_holds_the_target_needs_no_repeats() {
    for rate in [0.0, 0.03] {
        let model = LossModel { rate, again: [rate; LAGS], weight: 1e3 };
        for cell in CELLS {
            let choice = choose(&situation(&model, cell, 0.05));
            assert_eq!((choice.code, choice.cost, choice.misses), (Code::PLAIN, 0.0, rate));
        }
    }
}

#[test]
fn a_target_out_of_reach_has_a_limited_cost() {
    // Outages of 40 packets, 20 % of the time: a repeat within 50 ms rarely helps.
    let again = std::array::from_fn(|lag| 1.0 - (lag + 1) as f64 / 40.0);
    let model = LossModel { rate: 0.2, again, weight: 1e3 };
    let choice = choose(&situation(&model, (100, 100), 0.05));
    assert!(choice.possible > 0.05 && choice.possible <= choice.misses, "{choice:?}");
    let saved = 0.2 - choice.misses;
    assert!(choice.cost <= saved * 20.0 * 60.0, "{choice:?}");
    // The delay of the path is longer than the rest of the deadline.
    let late =
        Situation { one_way: Duration::from_millis(101), ..situation(&model, (100, 100), 0.05) };
    let choice = choose(&late);
    assert_eq!((choice.code, choice.possible), (Code::PLAIN, 1.0));
}

#[test]
fn any_input_gives_a_choice() {
    let mut random = oorandom::Rand64::new(3);
    let numbers = [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e-300, 0.05, 0.5, 1.0, 1e300];
    let times = [Duration::ZERO, Duration::from_nanos(1), Duration::from_millis(40), Duration::MAX];
    let pick = |random: &mut oorandom::Rand64| numbers[random.rand_range(0..9) as usize];
    let time = |random: &mut oorandom::Rand64| times[random.rand_range(0..4) as usize];
    let many = Repeats::repeat_last(32);
    for _ in 0..2_000 {
        let again = std::array::from_fn(|_| pick(&mut random));
        let model = LossModel { rate: pick(&mut random), again, weight: pick(&mut random) };
        let situation = Situation {
            loss: &model,
            loss_back: pick(&mut random),
            one_way: time(&mut random),
            round_trip: time(&mut random),
            jitter: time(&mut random),
            deadline: time(&mut random),
            interval: time(&mut random),
            cluster: pick(&mut random),
            target: pick(&mut random),
            repeat_bytes: pick(&mut random),
            packet_bytes: pick(&mut random),
            ask_bytes: pick(&mut random),
            ask_delay: time(&mut random),
            request_copies: random.rand_range(0..256) as u8,
            requests_all: random.rand_range(0..2) == 0,
        };
        let choice = choose(&situation);
        assert!((0.0..=1.0).contains(&choice.code.share), "{choice:?}");
        expect(&situation, Code { repeats: many, answers: 255, tail_flush: true, ..choice.code });
    }
}
