//! What a receiver learns of how a path loses packets.
//!
//! A receiver [pushes](LossEstimator::push) of each packet whether it was lost and asks for the [`LossModel`]. It sends
//! that, in [five bytes](LossModel::write), when it [differs](LossModel::differs) from what it sent last.

mod estimator;
mod tally;
mod wire;

pub use estimator::LossEstimator;

/// How far apart two packets may be for their losses to be compared.
pub const LAGS: usize = 12;

/// What is believed of a path's losses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LossModel {
    /// The share of packets that are lost (PER).
    pub rate: f64,
    /// `again[d - 1]`: the probability that packet i + d is lost, given that packet i was.
    pub again: [f64; LAGS],
    /// How many packets tell as much as is known of the rate. Small just after a change, and while it is not yet clear
    /// whether there was one.
    pub weight: f64,
}

impl LossModel {
    /// The standard deviation of [`rate`](LossModel::rate), losses that come in one burst counted as one event.
    pub fn rate_error(&self) -> f64 {
        libm::sqrt(self.variance() / self.weight.max(1.0))
    }

    /// How many bursts of losses this is drawn from; a loss by itself is one.
    pub fn bursts(&self) -> f64 {
        self.weight * self.rate * (1.0 - self.again[0])
    }

    /// The variance of the share of packets lost, times the number of packets.
    fn variance(&self) -> f64 {
        let tie = ((self.again[0] - self.rate) / (1.0 - self.rate)).clamp(0.0, 0.95);
        self.rate * (1.0 - self.rate) * (1.0 + tie) / (1.0 - tie)
    }

    /// differs
    pub fn differs(&self, reported: &LossModel) -> bool {
        let near = |a: f64, b: f64, by: f64| (a - b).abs() <= by;
        if !near(self.rate, reported.rate, 0.005 + 0.15 * self.rate.max(reported.rate)) {
            return true;
        }
        if self.rate.max(reported.rate) < 0.005 {
            return false;
        }
        [1, 2, 4, 8].iter().any(|lag| {
            let (a, b) = (self.rate * self.again[lag - 1], reported.rate * reported.again[lag - 1]);
            !near(a, b, 0.005 + 0.2 * a.max(b))
        })
    }
}
