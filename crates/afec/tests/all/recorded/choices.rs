//! The codes that are chosen in many situations.

use groupwire_afec::choice::{Choice, Situation, choose, expect, family};
use groupwire_afec::code::Code;
use groupwire_afec::loss::{LAGS, LossModel};

use super::MS;
use super::digest::Digest;

fn digest_choice(digest: &mut Digest, choice: &Choice) {
    digest.code(&choice.code);
    digest.float(choice.misses);
    digest.float(choice.cost);
    digest.float(choice.possible);
}

/// A loss model with bursts. `tie` says how much a loss tells about the next packet: 0 is nothing,
/// 1 is everything.
fn losses(rate: f64, tie: f64) -> LossModel {
    let mut power = 1.0;
    let again = [0.0; LAGS].map(|_: f64| {
        power *= tie;
        rate + (1.0 - rate) * power
    });
    LossModel { rate, again, weight: 500.0 }
}

/// A digest for each loss rate: of the codes that are chosen in all other conditions.
pub(crate) fn all() -> Vec<(String, u64)> {
    let rates = [0.0, 0.005, 0.02, 0.06, 0.15, 0.4, 1.0];
    rates.map(|rate| (format!("loss {rate}"), at_rate(rate).0)).into()
}

fn at_rate(rate: f64) -> Digest {
    let mut digest = Digest::new();
    for tie in [0.0, 0.5, 0.8] {
        let loss = losses(rate, tie);
        for (one_way, deadline, interval) in
            [(25, 250, 33), (90, 150, 40), (40, 100, 100), (200, 100, 33)]
        {
            for (target, cluster) in [(0.001, 40.0), (0.01, 3.0), (0.05, 40.0), (0.1, 1.0)] {
                let situation = Situation {
                    loss: &loss,
                    loss_back: rate / 2.0,
                    one_way: MS * one_way,
                    round_trip: MS * one_way * 2,
                    jitter: MS * 5,
                    deadline: MS * deadline,
                    interval: MS * interval,
                    cluster,
                    target,
                    repeat_bytes: if cluster > 3.0 { 4.0 } else { 25.0 },
                    packet_bytes: 33.0,
                    ask_bytes: 43.0,
                    ask_delay: MS * interval,
                    request_copies: 1,
                    requests_all: false,
                };
                let choice = choose(&situation);
                digest_choice(&mut digest, &choice);
                digest_choice(&mut digest, &expect(&situation, choice.code));
                digest_choice(&mut digest, &expect(&situation, Code::PLAIN));
                if tie == 0.5 && cluster == 3.0 {
                    family(&situation).iter().for_each(|code| digest.code(code));
                }
            }
        }
    }
    digest
}
