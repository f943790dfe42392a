//! Forecasts by the method of the Network Weather Service (R. Wolski, "Dynamically Forecasting
//! Network Performance Using the Network Weather Service", 1998), which the paper "Adaptive
//! On-the-Fly Compression" uses (section 2). Several simple predictors run in parallel, and the one
//! with the least total error so far gives the forecast.

use super::sorted::Sorted;

/// The lengths of the sliding means, in values. The papers do not fix these parameters: the numbers
/// in this file are this implementation's choice.
const MEANS: [usize; 4] = [5, 10, 20, 50];
/// The lengths of the sliding medians and trimmed means, in values.
const MEDIANS: [usize; 3] = [5, 21, 51];
/// The share of the values at either end that a trimmed mean leaves out.
const TRIMMED: f64 = 0.3;
/// The gains of exponential smoothing.
const GAINS: [f64; 7] = [0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 0.9];
/// The least and the largest length of the adaptive mean, in values.
const ADAPTIVE: (usize, usize) = (2, 50);
/// The least and the largest adaptive gain, and the step of its changes.
const GRADIENT: (f64, f64) = (0.05, 0.95);
const GRADIENT_STEP: f64 = 0.05;
/// The number of values that are kept: the longest window, rounded up to a power of two.
const KEPT: usize = 64;
/// The number of predictors: last value, mean of all, sliding means, medians, trimmed means,
/// smoothing, adaptive mean, adaptive gain.
const PREDICTORS: usize = 2 + MEANS.len() + 2 * MEDIANS.len() + GAINS.len() + 2;

/// Forecasts the next value of a series of measurements. Takes about 2 KB, whatever the length of
/// the series.
#[derive(Debug, Clone)]
pub(super) struct Forecaster {
    /// The last values, in a ring.
    recent: [f64; KEPT],
    /// The number of values so far, and their mean.
    count: u64,
    mean: f64,
    medians: (Sorted<{ MEDIANS[0] }>, Sorted<{ MEDIANS[1] }>, Sorted<{ MEDIANS[2] }>),
    smoothed: [f64; GAINS.len()],
    adaptive: Adaptive,
    gradient: Gradient,
    /// The forecast of each predictor for the next value.
    predictions: [f64; PREDICTORS],
    /// The total absolute error of each predictor so far.
    errors: [f64; PREDICTORS],
}

/// A sliding mean whose length changes by one if that would have lowered the last error.
#[derive(Debug, Clone, Copy)]
struct Adaptive {
    length: usize,
}

/// Exponential smoothing whose gain changes by a step if that would have lowered the last error.
#[derive(Debug, Clone, Copy)]
struct Gradient {
    value: f64,
    gain: f64,
}

impl Forecaster {
    /// A forecaster without values.
    pub(super) fn new() -> Self {
        Forecaster {
            recent: [0.0; KEPT],
            count: 0,
            mean: 0.0,
            medians: (Sorted::new(), Sorted::new(), Sorted::new()),
            smoothed: [0.0; GAINS.len()],
            adaptive: Adaptive { length: MEANS[1] },
            gradient: Gradient { value: 0.0, gain: 0.5 },
            predictions: [0.0; PREDICTORS],
            errors: [0.0; PREDICTORS],
        }
    }

    /// The forecast of the next value by the predictor with the least total error; the first of
    /// equal ones. `None` before the first value.
    pub(super) fn forecast(&self) -> Option<f64> {
        let both = self.errors.iter().zip(&self.predictions);
        let best = both.min_by(|a, b| a.0.total_cmp(b.0)).map(|(_, prediction)| *prediction);
        best.filter(|_| self.count > 0)
    }

    /// Adds a measurement. Values that are not finite are ignored.
    pub(super) fn add(&mut self, value: f64) {
        if !value.is_finite() {
            return;
        }
        if self.count > 0 {
            for (error, prediction) in self.errors.iter_mut().zip(&self.predictions) {
                *error += (prediction - value).abs();
            }
        }
        self.adapt(value);
        self.take(value);
        self.predict(value);
    }

    /// Adapts the parameters of the adaptive predictors, before the value is added.
    fn adapt(&mut self, value: f64) {
        if self.count == 0 {
            return;
        }
        let error = |length: usize| (self.mean_of(length) - value).abs();
        let length = self.adaptive.length;
        let shorter = (length - 1).max(ADAPTIVE.0);
        let longer = (length + 1).min(ADAPTIVE.1);
        self.adaptive.length = least([length, shorter, longer], error);

        let Gradient { value: smoothed, gain } = self.gradient;
        // The error that the last smoothing step would have had with another gain.
        let last = self.nth_last(0);
        let error = |other: f64| (smoothed + (other - gain) * (last - smoothed) - value).abs();
        let slower = (gain - GRADIENT_STEP).max(GRADIENT.0);
        let faster = (gain + GRADIENT_STEP).min(GRADIENT.1);
        self.gradient.gain = least([gain, slower, faster], error);
    }

    fn take(&mut self, value: f64) {
        let first = self.count == 0;
        let leaving =
            |length: usize| (self.count >= length as u64).then(|| self.nth_last(length - 1));
        let leaving = (leaving(MEDIANS[0]), leaving(MEDIANS[1]), leaving(MEDIANS[2]));
        self.medians.0.replace(leaving.0, value);
        self.medians.1.replace(leaving.1, value);
        self.medians.2.replace(leaving.2, value);
        self.recent[(self.count % KEPT as u64) as usize] = value;
        self.count += 1;
        self.mean += (value - self.mean) / self.count as f64;
        for (smoothed, gain) in self.smoothed.iter_mut().zip(GAINS) {
            *smoothed += if first { value } else { gain * (value - *smoothed) };
        }
        let step = if first { value } else { self.gradient.gain * (value - self.gradient.value) };
        self.gradient.value += step;
    }

    fn predict(&mut self, last: f64) {
        let (short, middle, long) = &self.medians;
        let medians = [short.median(), middle.median(), long.median()];
        let trimmed = [short.trimmed(TRIMMED), middle.trimmed(TRIMMED), long.trimmed(TRIMMED)];
        let means = MEANS.map(|length| self.mean_of(length));
        let adaptive = [self.mean_of(self.adaptive.length), self.gradient.value];
        let all = [last, self.mean].into_iter().chain(means).chain(medians).chain(trimmed);
        let all = all.chain(self.smoothed).chain(adaptive);
        for (prediction, value) in self.predictions.iter_mut().zip(all) {
            *prediction = value;
        }
    }

    /// The value after which `nth` values were added: the newest value for 0.
    fn nth_last(&self, nth: usize) -> f64 {
        self.recent[((self.count - 1 - nth as u64) % KEPT as u64) as usize]
    }

    /// The mean of the last `length` values, or of all if there are fewer. It is summed anew each
    /// time, because a running sum would keep the rounding errors of large values.
    fn mean_of(&self, length: usize) -> f64 {
        let length = length.min(self.count as usize).min(KEPT);
        (0..length).map(|nth| self.nth_last(nth)).sum::<f64>() / length as f64
    }
}

/// The value with the least error; the first of equal ones.
fn least<T: Copy>(all: [T; 3], error: impl Fn(T) -> f64) -> T {
    let [same, less, more] = all;
    let (error_same, error_less, error_more) = (error(same), error(less), error(more));
    if error_less < error_same && error_less <= error_more {
        less
    } else if error_more < error_same {
        more
    } else {
        same
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use proptest::prelude::*;

    fn after(values: impl IntoIterator<Item = f64>) -> Forecaster {
        let mut forecaster = Forecaster::new();
        values.into_iter().for_each(|value| forecaster.add(value));
        forecaster
    }

    /// Pseudo-random numbers from 0 to 1.
    fn noise(nth: u32) -> f64 {
        let mixed = (nth.wrapping_mul(0x9e37_79b9) ^ 0x5bd1_e995).wrapping_mul(0x85eb_ca6b);
        f64::from((mixed ^ mixed >> 13) >> 8 & 0xffff) / 65_536.0
    }

    #[test]
    fn there_is_no_forecast_before_the_first_value() {
        assert_eq!(Forecaster::new().forecast(), None);
        assert_eq!(after([f64::NAN, f64::INFINITY]).forecast(), None);
        assert_eq!(after([7.0]).forecast(), Some(7.0));
    }

    #[test]
    fn a_constant_series_is_forecast_exactly() {
        assert_eq!(after([3.5; 200]).forecast(), Some(3.5));
    }

    #[test]
    fn noise_around_a_level_is_averaged() {
        let forecast = after((0..500).map(|nth| 10.0 + noise(nth))).forecast().unwrap();
        assert!((10.4..10.6).contains(&forecast), "{forecast}");
    }

    #[test]
    fn single_outliers_are_ignored() {
        let spiky = (0..500).map(|nth| if nth % 9 == 4 { 1000.0 } else { 1.0 });
        assert_eq!(after(spiky).forecast(), Some(1.0));
    }

    #[test]
    fn a_growing_series_is_forecast_by_its_last_value() {
        assert_eq!(after((0..500).map(f64::from)).forecast(), Some(499.0));
    }

    #[test]
    fn a_new_level_is_learned() {
        let mut forecaster = after((0..100).map(|nth| 100.0 + noise(nth)));
        (0..10).for_each(|nth| forecaster.add(1.0 + noise(nth)));
        let forecast = forecaster.forecast().unwrap();
        assert!((0.0..60.0).contains(&forecast), "{forecast}");
        (0..100).for_each(|nth| forecaster.add(1.0 + noise(nth)));
        let forecast = forecaster.forecast().unwrap();
        assert!((1.0..2.1).contains(&forecast), "{forecast}");
    }

    #[test]
    fn a_forecaster_takes_less_than_2_kib() {
        assert!(size_of::<Forecaster>() < 2048, "{}", size_of::<Forecaster>());
    }

    proptest! {
        #[test]
        fn a_forecast_is_within_the_range_of_the_values(
            values in proptest::collection::vec(0.0..1e12f64, 1..200),
        ) {
            let forecast = after(values.iter().copied()).forecast().unwrap();
            let least = values.iter().copied().fold(f64::MAX, f64::min);
            let most = values.iter().copied().fold(f64::MIN, f64::max);
            prop_assert!(forecast >= least * 0.999_999 && forecast <= most * 1.000_001);
        }

        #[test]
        fn the_predictor_with_the_least_error_is_used(
            values in proptest::collection::vec(0.0..10.0f64, 2..100),
        ) {
            let forecaster = after(values);
            let least = forecaster.errors.iter().copied().fold(f64::MAX, f64::min);
            let mut both = forecaster.errors.iter().zip(&forecaster.predictions);
            let forecast = forecaster.forecast();
            prop_assert!(both.any(|(error, value)| *error == least && forecast == Some(*value)));
        }
    }
}
