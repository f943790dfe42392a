//! Compares XOR parity over messages with repeats: the bytes per message that hold a target, by simulation.
//!
//! Each `every`-th packet carries, as a piggyback, the parity of `window` earlier messages, which are neighbours or evenly
//! spaced. Parity costs as much as a repeat. If packets are compressed, a repeat costs 4 bytes; for parity 8 bytes are tried,
//! too, because a sum of messages resembles no message.

use oorandom::Rand64;

const MESSAGES: usize = 100_000;
const CHANNELS: [(&str, f64, f64); 4] =
    [("rand5", 0.05, 1.0), ("rand10", 0.1, 1.0), ("rand20", 0.2, 1.0), ("ge10b3", 0.1, 3.0)];

fn main() {
    println!("channel  last lag  target  | repeats 24  parity 24 | repeats 4  parity 4  parity 8");
    for (name, rate, burst) in CHANNELS {
        let lost = losses(rate, burst);
        for last in [2, 3, 6] {
            for target in [0.01, 0.02, 0.05, 0.1] {
                if target >= rate {
                    continue;
                }
                let repeats: Vec<(f64, f64)> = (0_u32..1 << last)
                    .filter(|lags| lags.count_ones() <= 4)
                    .map(|lags| (repeated(&lost, lags), f64::from(lags.count_ones())))
                    .collect();
                let shapes = (1..=last)
                    .flat_map(|spacing| (1..=last / spacing).map(move |window| (spacing, window)))
                    .flat_map(|shape| (1..=last).map(move |every| (shape, every)));
                let parity: Vec<(f64, f64)> = shapes
                    .map(|(shape, every)| (recovered(&lost, shape, every), 1.0 / every as f64))
                    .chain([(repeats[0].0, 0.0)])
                    .collect();
                let (repeats, parity) = (cheapest(&repeats, target), cheapest(&parity, target));
                println!(
                    "{name:8} {last:8}  {target:6.2}  | {:10.1} {:10.1} | {:9.1} {:9.1} {:9.1}",
                    repeats * 24.0,
                    parity * 24.0,
                    repeats * 4.0,
                    parity * 4.0,
                    parity * 8.0
                );
            }
        }
    }
}

fn losses(rate: f64, burst: f64) -> Vec<bool> {
    let mut random = Rand64::new(1);
    let mut bad = false;
    // Bursts of mean length 1 are independent losses.
    let next = |bad: bool| match bad {
        _ if burst == 1.0 => rate,
        true => 1.0 - 1.0 / burst,
        false => rate / (burst * (1.0 - rate)),
    };
    (0..MESSAGES)
        .map(|_| {
            bad = random.rand_float() < next(bad);
            bad
        })
        .collect()
}

/// The share of messages that miss with repeats at these lags, one bit each.
fn repeated(lost: &[bool], lags: u32) -> f64 {
    let inner = 32..lost.len() - 32;
    let count = inner.len() as f64;
    let copies =
        |index: usize| (0..32).filter(|bit| lags >> bit & 1 == 1).map(move |bit| index + bit + 1);
    inner.filter(|index| lost[*index] && copies(*index).all(|at| lost[at])).count() as f64 / count
}

/// The share of messages that miss with parity in each `every`-th packet, over `window` messages before it with this spacing.
fn recovered(lost: &[bool], (spacing, window): (usize, usize), every: usize) -> f64 {
    // The messages that arrived or were recovered so far, which help to recover others.
    let mut known: Vec<bool> = lost.iter().map(|lost| !lost).collect();
    for at in (spacing * window..lost.len()).step_by(every).filter(|at| !lost[*at]) {
        let covered = (1..=window).map(|n| at - n * spacing);
        let mut missing = covered.filter(|index| !known[*index]);
        if let (Some(only), None) = (missing.next(), missing.next()) {
            known[only] = true;
        }
    }
    known.iter().filter(|known| !**known).count() as f64 / lost.len() as f64
}

/// The least cost of a mixture of two schemes, given as misses and cost, that holds the target; infinite if none holds it.
fn cheapest(schemes: &[(f64, f64)], target: f64) -> f64 {
    let mut least = f64::INFINITY;
    for strong in schemes.iter().filter(|scheme| scheme.0 <= target) {
        for weak in schemes.iter().filter(|scheme| scheme.0 > target) {
            let share = (weak.0 - target) / (weak.0 - strong.0);
            least = least.min(share * strong.1 + (1.0 - share) * weak.1);
        }
    }
    least
}
