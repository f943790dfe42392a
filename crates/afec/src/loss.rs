//! What a receiver learns of how a path loses packets.
//!
//! A receiver [pushes](LossEstimator::push) for each packet whether it was lost and asks for the [`LossModel`]. It
//! sends that, in [six bytes](LossModel::write), when it [differs](LossModel::differs) from what it sent last.

mod estimator;
mod tally;
mod wire;

pub use estimator::LossEstimator;
pub use wire::WIRE_BYTES;

use crate::within::Within;

/// How far apart two packets may be for their losses to be compared.
pub const LAGS: usize = 12;

/// A difference in the share of messages lost that matters to no target: a third of the least target, 1 %.
const SMALL: f64 = 0.003;
/// The share by which a rate must differ for a sender to do noticeably else: the first when much is known, the second
/// when little is. Measured (`examples/loss.rs`): on steady paths that makes fewer than 4 reports in 1000 packets.
const NOTICEABLE: (f64, f64) = (0.15, 0.25);

/// What is believed of a path's losses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LossModel {
    /// The share of packets that are lost (PER).
    pub rate: f64,
    /// `again[d - 1]`: the probability that packet i + d is lost, given that packet i was.
    pub again: [f64; LAGS],
    /// How many packets this is drawn from: those since the losses last changed. Small just after a change; in between
    /// (the geometric mean) while it is not clear whether they did.
    pub weight: f64,
}

impl Default for LossModel {
    /// A path of which nothing is known and that is believed to lose nothing.
    fn default() -> Self {
        LossModel { rate: 0.0, again: [0.0; LAGS], weight: 0.0 }
    }
}

impl LossModel {
    /// The standard deviation of [`rate`](LossModel::rate) by what it was drawn from. Losses in one burst count as one
    /// event, half an event is added, so that it is not 0 where nothing was lost.
    pub fn rate_error(&self) -> f64 {
        let packets = self.weight.max(0.0) + 1.0;
        let rate = (self.rate + 0.5 / packets).within(0.0, 1.0);
        // The variance of a mean whose terms depend on the ones before as in a two-state Markov chain.
        let tie = ((self.again[0] - self.rate) / (1.0 - self.rate).max(SMALL)).within(0.0, 0.97);
        libm::sqrt(rate * (1.0 - rate) / packets * (1.0 + tie) / (1.0 - tie))
    }

    /// A model that loses more, by so many standard errors of the rate, in bursts as long.
    pub fn doubted(&self, errors: f64) -> LossModel {
        let rate = (self.rate + errors * self.rate_error()).within(self.rate, 1.0);
        let tie =
            |again: f64| ((again - self.rate) / (1.0 - self.rate).max(SMALL)).within(-1.0, 1.0);
        let again = self.again.map(|again| (rate + tie(again) * (1.0 - rate)).within(0.0, 1.0));
        LossModel { rate, again, weight: self.weight }
    }

    /// How many bursts of losses this is drawn from; a loss by itself is one.
    pub fn bursts(&self) -> f64 {
        self.weight * self.rate * (1.0 - self.again[0])
    }

    /// Whether a sender with this model would do noticeably else than with `reported`, for some miss target of 1 to
    /// 20 %: whether a message sent once, or twice at some distance, is lost noticeably more or less often.
    ///
    /// While little is known the model moves much. It is to move further then, so as not to be reported all the time.
    pub fn differs(&self, reported: &LossModel) -> bool {
        let (least, most) = NOTICEABLE;
        let share = (self.rate_error() / self.rate.max(SMALL)).within(least, most);
        let near =
            |now: f64, then: f64, share: f64| (now - then).abs() <= SMALL + share * now.max(then);
        let twice = |model: &LossModel, lag: usize| model.rate * model.again[lag - 1];
        !near(self.rate, reported.rate, share)
            || [1, 2, 4, 8]
                .iter()
                .any(|lag| !near(twice(self, *lag), twice(reported, *lag), 1.5 * share))
    }
}

#[cfg(test)]
mod tests;
