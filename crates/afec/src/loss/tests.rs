use std::vec::Vec;

use oorandom::Rand64;
use proptest::prelude::*;

use super::*;

/// The losses of `packets` packets. A packet outside of a burst begins a burst with probability
/// `start`. Bursts have 1 to `longest` packets, and each length has the same probability.
fn bursts(seed: u64, start: f64, longest: u64, packets: usize) -> Vec<bool> {
    // Neighbouring seeds would begin with similar numbers.
    let mut random =
        Rand64::new(u128::from(seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15)));
    let mut left = 0;
    let lost = |_| {
        if left == 0 && random.rand_float() < start {
            left = random.rand_range(1..longest + 1);
        }
        let lost = left > 0;
        left = left.saturating_sub(1);
        lost
    };
    (0..packets).map(lost).collect()
}

fn random(seed: u64, rate: f64, packets: usize) -> Vec<bool> {
    bursts(seed, rate, 1, packets)
}

fn push(estimator: &mut LossEstimator, losses: &[bool]) {
    losses.iter().for_each(|lost| estimator.push(*lost));
}

fn learned(losses: &[bool]) -> LossEstimator {
    let mut estimator = LossEstimator::new();
    push(&mut estimator, losses);
    estimator
}

/// The mean of the results of a function for several random seeds.
fn mean(seeds: u64, mut of: impl FnMut(u64) -> f64) -> f64 {
    (0..seeds).map(&mut of).sum::<f64>() / seeds as f64
}

#[test]
fn a_new_path_is_taken_to_lose_nothing() {
    assert!(LossEstimator::new().model().rate < 0.01);
    assert!(learned(&[false; 10]).model().rate < 0.005);
    assert!(learned(&[false; 1000]).model().rate < 0.0005);
    assert_eq!(LossModel::read(learned(&[false; 1000]).model().write()).rate, 0.0);
}

#[test]
fn a_steady_rate_is_learned_without_bias() {
    for rate in [0.01, 0.05, 0.2] {
        let learned = mean(150, |seed| learned(&random(seed, rate, 6000)).model().rate);
        assert!((learned / rate - 1.0).abs() < 0.05, "{rate}: {learned}");
    }
}

#[test]
fn pairs_of_losses_are_learned_as_counted_and_not_as_in_a_markov_chain() {
    // Bursts of 1 to 5 from 4 % of packets: a chain with the same rate and again[0] would have
    // again[3] = 0.28.
    let truth = [(1, 0.681), (2, 0.435), (3, 0.258), (4, 0.147), (6, 0.106), (10, 0.112)];
    for (lag, truth) in truth {
        let learned = mean(20, |seed| learned(&bursts(seed, 0.04, 5, 6000)).model().again[lag - 1]);
        assert!((learned - truth).abs() < 0.02, "{lag}: {learned}");
    }
}

#[test]
fn few_bursts_give_a_falling_curve() {
    let mut losses = [false; 200];
    losses[100..103].fill(true);
    losses[150..153].fill(true);
    let again = learned(&losses).model().again;
    assert!(again[0] > 0.4 && again.is_sorted_by(|near, far| near >= far), "{again:?}");
}

#[test]
fn a_step_to_20_percent_is_noticed_in_15_packets() {
    let clean = learned(&[false; 3000]);
    for (packets, least) in [(12, 0.135), (15, 0.15), (30, 0.18), (60, 0.19), (200, 0.19)] {
        let rate = mean(2000, |seed| {
            let mut estimator = clean.clone();
            push(&mut estimator, &random(seed, 0.2, packets));
            estimator.model().rate
        });
        assert!((least..0.21).contains(&rate), "{packets}: {rate}");
    }
}

#[test]
fn a_new_path_that_loses_is_noticed_as_fast() {
    let rate = mean(2000, |seed| learned(&random(seed, 0.2, 15)).model().rate);
    assert!((0.14..0.21).contains(&rate), "{rate}");
}

#[test]
fn a_step_to_bursts_is_noticed_in_100_packets() {
    // The truth is 0.207. In 60 packets there are 4 bursts.
    let clean = learned(&[false; 3000]);
    for (packets, least) in [(60, 0.18), (100, 0.195), (150, 0.2)] {
        let rate = mean(1000, |seed| {
            let mut estimator = clean.clone();
            push(&mut estimator, &bursts(seed, 0.08, 5, packets));
            estimator.model().rate
        });
        assert!((least..0.225).contains(&rate), "{packets}: {rate}");
    }
}

#[test]
fn the_end_of_loss_is_noticed_in_80_packets() {
    let mut late = 0;
    for seed in 0..100 {
        let mut estimator = learned(&random(seed, 0.2, 3000));
        push(&mut estimator, &[false; 80]);
        late += u32::from(estimator.model().rate >= 0.01);
    }
    assert!(late <= 2, "{late} of 100");
}

#[test]
fn an_outage_is_noticed_at_once_and_over_in_100_packets() {
    let mut during = 0.0;
    let after = mean(50, |seed| {
        let mut estimator = learned(&random(seed, 0.05, 4000));
        push(&mut estimator, &[true; 60]);
        during += estimator.model().rate / 50.0;
        push(&mut estimator, &random(seed + 50, 0.05, 100));
        estimator.model().rate
    });
    assert!(during > 0.8, "{during}");
    assert!((0.04..0.08).contains(&after), "{after}");
}

#[test]
fn a_steady_path_rarely_seems_to_change_and_is_rarely_reported() {
    for losses in [random(3, 0.05, 50_000), bursts(3, 0.04, 5, 50_000)] {
        let truth = losses.iter().filter(|lost| **lost).count() as f64 / losses.len() as f64;
        let mut estimator = learned(&losses[..2000]);
        let mut reported = estimator.model();
        let (mut changes, mut reports, mut excess) = (0, 0, 0.0);
        let mut settled = true;
        for lost in &losses[2000..] {
            estimator.push(*lost);
            let model = estimator.model();
            excess += (model.rate / truth - 1.0).max(0.0) / 48_000.0;
            if model.differs(&reported) {
                reported = model;
                reports += 1;
            }
            changes += u32::from(settled && model.weight < 100.0);
            settled = model.weight > 400.0 || settled && model.weight >= 100.0;
        }
        assert!(changes <= 5, "{changes} changes");
        assert!(reports <= 150, "{reports} reports");
        assert!(excess < 0.05, "{excess}");
    }
}

#[test]
fn the_standard_error_is_right() {
    for (start, longest) in [(0.1, 1), (0.04, 5)] {
        let rates: Vec<LossModel> =
            (0..100).map(|seed| learned(&bursts(seed, start, longest, 3000)).model()).collect();
        let rate = mean(100, |seed| rates[seed as usize].rate);
        let error = libm::sqrt(mean(100, |seed| (rates[seed as usize].rate - rate).powi(2)));
        let told = mean(100, |seed| rates[seed as usize].rate_error());
        assert!((0.6..1.5).contains(&(told / error)), "{told} for {error}");
    }
}

#[test]
fn bursts_are_counted() {
    let losses = bursts(1, 0.04, 5, 4000);
    let truth = losses.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
    let bursts = learned(&losses).model().bursts();
    assert!((bursts / truth - 1.0).abs() < 0.2, "{bursts} for {truth}");
}

#[test]
fn the_state_is_small() {
    assert!(size_of::<LossEstimator>() < 2048);
}

#[test]
fn repeats_in_a_chain_are_lost_with_the_same_probability_each() {
    let model = LossModel::chain(0.1, 0.4);
    // One packet is lost with 0.1, it and a repeat with 0.04, then with 0.016.
    for (target, repeats) in [(0.11, 0), (0.09, 1), (0.041, 1), (0.039, 2), (0.017, 2), (0.015, 3)]
    {
        assert_eq!(model.repeats_for(target, 5), repeats, "{target}");
    }
    assert_eq!(model.repeats_for(0.000_1, 5), 5, "no number is enough");
    assert_eq!(LossModel::chain(0.0, 0.0).repeats_for(0.0, 5), 0);
}

/// The losses of one to four stretches of packets, each with its own loss pattern; together they
/// may be longer than the estimator's memory.
fn any_losses() -> impl Strategy<Value = Vec<bool>> {
    let stretch = (any::<u64>(), 0.0..1.0_f64, 1..20_u64, 0..9000_usize);
    let losses = |(seed, start, longest, packets)| bursts(seed, start, longest, packets);
    proptest::collection::vec(stretch.prop_map(losses), 1..5).prop_map(|all| all.concat())
}

fn check_possible(model: &LossModel) {
    assert!((0.0..=1.0).contains(&model.rate), "{model:?}");
    assert!(model.again.iter().all(|again| (0.0..=1.0).contains(again)), "{model:?}");
    assert!((0.0..=65_536.0).contains(&model.weight), "{model:?}");
    assert!(model.rate_error().is_finite() && model.bursts() >= 0.0, "{model:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn any_losses_give_a_possible_model(losses in any_losses()) {
        let mut estimator = LossEstimator::new();
        for (packet, lost) in losses.iter().enumerate() {
            estimator.push(*lost);
            if packet % 97 == 0 {
                check_possible(&estimator.model());
            }
        }
        let model = estimator.model();
        check_possible(&model);
        let told = LossModel::read(model.write());
        if model.rate < 0.000_25 {
            prop_assert_eq!(told.rate, 0.0);
            return Ok(());
        }
        let near = model.rate.max(0.0005);
        prop_assert!((told.rate / near - 1.0).abs() < 0.016, "{} {}", told.rate, model.rate);
        prop_assert!((told.again[0] - model.again[0]).abs() < 0.25 * model.rate + 0.005);
        for lag in [2, 3, 4, 5, 7, 9, 12] {
            let (told, again) = (told.again[lag - 1], model.again[lag - 1]);
            // Below the rate a step of the code is half of the rate; above it a step is up to 0.11,
            // near 1.
            prop_assert!((told - again).abs() < 0.06 + 0.2 * model.rate, "{lag}: {told} {again}");
        }
        if model.weight >= 1.0 {
            let factor = told.weight / model.weight;
            prop_assert!((0.49..2.05).contains(&factor), "{}", factor);
        }
    }

    #[test]
    fn any_bytes_are_a_possible_model(bytes: [u8; WIRE_BYTES]) {
        let model = LossModel::read(bytes);
        check_possible(&model);
        // The probability of two losses is possible: P(both lost) >= 2 P(lost) - 1.
        for again in model.again {
            prop_assert!(model.rate * again >= 2.0 * model.rate - 1.0 - 1e-9);
        }
        // Coding it again changes too little for a report.
        let again = LossModel::read(model.write());
        prop_assert!((again.rate - model.rate).abs() < 1e-9);
        prop_assert_eq!(again.write()[..1].to_vec(), bytes[..1].to_vec());
    }
}

#[test]
fn what_never_left_is_no_loss_of_the_path() {
    let model = LossModel { weight: 100.0, ..LossModel::chain(0.3, 0.65) };
    assert_eq!(model.without(0.0), model);
    let path = model.without(0.125);
    assert!((path.rate - 0.2).abs() < 1e-9, "{path:?}");
    // Bursts stay as long as before: the tie of neighbouring losses is 0.5 again, and 0.2 + 0.5 *
    // 0.8 = 0.6.
    assert!((path.again[0] - 0.6).abs() < 1e-9, "{path:?}");
    for unsent in [0.3, 0.9, 1.0] {
        let clear = model.without(unsent);
        assert_eq!(clear.rate, 0.0);
        assert!(clear.again.iter().all(|again| (0.0..=1.0).contains(again)), "{clear:?}");
    }
}

#[test]
fn only_dependence_beyond_chance_is_believed() {
    let independent = LossModel { weight: 256.0, ..LossModel::chain(0.2, 0.2) };
    let mut chance = independent;
    // The standard error of 51 losses is 0.056.
    chance.again[..3].copy_from_slice(&[0.25, 0.16, 0.2]);
    assert_eq!(chance.beyond_chance(), independent);
    let bursts = LossModel { weight: 256.0, ..LossModel::chain(0.1, 0.75) };
    let believed = bursts.beyond_chance();
    assert!((0.74..0.75).contains(&believed.again[0]), "{believed:?}");
    assert_eq!((believed.rate, believed.weight), (bursts.rate, bursts.weight));
    // Of three losses nothing is known, whatever they look like.
    let few = LossModel { weight: 16.0, ..LossModel::chain(0.2, 0.4) };
    assert_eq!(few.beyond_chance().again, [0.2; LAGS]);
    assert_eq!(LossModel::default().beyond_chance(), LossModel::default());
}

#[test]
fn an_unknown_path_is_assumed_to_lose_nothing_in_doubt_too() {
    assert_eq!(LossModel::default().doubted(0.4), LossModel::default());
    let few = LossModel { weight: 64.0, ..LossModel::default() };
    assert!(few.doubted(0.4).rate > 0.0);
}
