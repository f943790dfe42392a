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

/// A difference in the share of lost messages that matters for no target, as a sender takes a tenth of it as margin. TODO
const SMALL: f64 = 0.003;

/// What is believed of a path's losses.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
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

    /// Whether a sender with this model would do noticeably else than with `reported`, for some miss target of 1 to
    /// 20 %: whether a message sent once, or twice at some distance, is lost noticeably more or less often.
    ///
    /// While little is known the model moves much; it is to move by more, then, so as not to be reported too often.
    pub fn differs(&self, reported: &LossModel) -> bool {
        let error = self.rate_error() / self.rate.max(SMALL);
        let share = error.clamp(0.08, 0.2);
        let near =
            |now: f64, then: f64, share: f64| (now - then).abs() <= SMALL + share * now.max(then);
        let twice = |model: &LossModel, lag: usize| model.rate * model.again[lag - 1];
        !near(self.rate, reported.rate, share)
            || [1, 2, 4, 8]
                .iter()
                .any(|lag| !near(twice(self, *lag), twice(reported, *lag), 1.5 * share))
    }
}
