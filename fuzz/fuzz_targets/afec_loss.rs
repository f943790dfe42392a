//! Any bytes decode to a valid loss model, which stays the same when it is coded again, and any
//! losses yield a valid model.

#![no_main]

use groupwire_afec::loss::{LossEstimator, LossModel, WIRE_BYTES};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((bytes, losses)) = data.split_first_chunk::<WIRE_BYTES>() else { return };
    let model = LossModel::read(*bytes);
    check(&model);
    let again = LossModel::read(model.write());
    check(&again);
    assert!(!again.differs(&model) || model.rate > 0.5, "{again:?} for {model:?}");
    let mut estimator = LossEstimator::new();
    for byte in losses {
        for bit in 0..8 {
            estimator.push(byte >> bit & 1 == 1);
        }
        check(&estimator.model());
    }
    check(&LossModel::read(estimator.model().write()));
});

fn check(model: &LossModel) {
    let probability = |value: &f64| (0.0..=1.0).contains(value);
    assert!(probability(&model.rate) && model.again.iter().all(probability), "{model:?}");
    assert!(model.weight >= 0.0 && model.weight.is_finite(), "{model:?}");
    assert!(model.rate_error() >= 0.0 && model.bursts() >= 0.0, "{model:?}");
}
