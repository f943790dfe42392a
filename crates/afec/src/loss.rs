//! The losses of a path: a model of them, and an estimator of the model.
//!
//! For each packet a receiver tells the estimator [whether it was lost](LossEstimator::push). The
//! estimator gives a [`LossModel`]. The receiver sends the model, in [six bytes](LossModel::write),
//! when it [differs](LossModel::differs) from the model that was sent last. A burst is a run of
//! losses with one cause; a lag is the distance of two packets, counted in packets; the target of a
//! channel is the share of its messages that may be lost or late.

mod estimator;
mod tally;
mod wire;

pub use estimator::LossEstimator;
pub use wire::WIRE_BYTES;

use crate::within::Within;

/// The longest lag, in packets, at which the losses of two packets are compared. Chosen by
/// judgement; not tuned.
pub const LAGS: usize = 12;

/// Two shares of lost messages that differ by less than this count as equal. It is a third of the
/// lowest target, 1 %.
const SMALL: f64 = 0.003;
/// The relative difference above which two loss rates count as noticeably different. The first
/// number is for a path of which much is known, the second for one of which little is known. Tuned
/// on `examples/loss.rs`: on paths that do not change there are fewer than 4 reports in 1000
/// packets.
const NOTICEABLE: (f64, f64) = (0.15, 0.25);

/// A model of the losses of a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LossModel {
    /// The packet error rate (PER): the share of packets that are lost.
    pub rate: f64,
    /// `again[d - 1]`: the probability that packet i + d is lost, given that packet i was lost.
    pub again: [f64; LAGS],
    /// The number of packets from which the model was estimated: those since the losses of the path
    /// last changed. While it is uncertain whether they changed, it is the geometric mean of the
    /// possible numbers.
    pub weight: f64,
}

impl Default for LossModel {
    /// The model of an unknown path, which is assumed to lose nothing.
    fn default() -> Self {
        LossModel { rate: 0.0, again: [0.0; LAGS], weight: 0.0 }
    }
}

impl LossModel {
    /// The losses of a two-state Markov chain: the share `rate` of packets is lost, and a packet
    /// directly after a lost one is lost with the probability `again`, which is at least `rate`.
    /// The weight is 0.
    pub fn chain(rate: f64, again: f64) -> LossModel {
        let tie = (again - rate) / (1.0 - rate);
        let mut same_burst = 1.0;
        let again = core::array::from_fn(|_| {
            same_burst *= tie;
            rate + (1.0 - rate) * same_burst
        });
        LossModel { rate, again, weight: 0.0 }
    }

    /// The standard error of [`rate`](LossModel::rate). The losses of one burst count as one event.
    /// Half an event is added, so that the error is not 0 if nothing was lost.
    pub fn rate_error(&self) -> f64 {
        let packets = self.weight.max(0.0) + 1.0;
        let rate = (self.rate + 0.5 / packets).within(0.0, 1.0);
        // This is the variance of a mean of dependent terms, as in a two-state Markov chain.
        let tie = ((self.again[0] - self.rate) / (1.0 - self.rate).max(SMALL)).within(0.0, 0.97);
        libm::sqrt(rate * (1.0 - rate) / packets * (1.0 + tie) / (1.0 - tie))
    }

    /// The same model with a rate that is higher by `errors` standard errors, and with bursts of
    /// the same length. The model of an unknown path stays as it is: a receiver reports losses as
    /// soon as it sees any, so that no report says that there are none.
    pub fn doubted(&self, errors: f64) -> LossModel {
        if *self == LossModel::default() {
            return *self;
        }
        let rate = (self.rate + errors * self.rate_error()).within(self.rate, 1.0);
        LossModel { rate, again: self.tied(rate), weight: self.weight }
    }

    /// The same model without that part of the dependence between losses that chance explains. Of
    /// few losses, chance makes some seem to come in bursts, and repeats would be sent for bursts
    /// that never come. What an estimate exceeds independence by is reduced as the estimator of
    /// James and Stein (1961) reduces it: hardly if it is several standard errors, to nothing if
    /// it is less than one.
    pub(crate) fn beyond_chance(&self) -> LossModel {
        let losses = (self.weight * self.rate).max(1.0);
        let variance = self.rate * (1.0 - self.rate) / losses;
        let again = self.again.map(|again| {
            let excess = again - self.rate;
            let kept = 1.0 - variance / (excess * excess).max(f64::MIN_POSITIVE);
            self.rate + excess * kept.within(0.0, 1.0)
        });
        LossModel { again, ..*self }
    }

    /// The same model without the share `unsent` of all packets, which counted as lost although
    /// they never were on the path. The bursts that are left are as long as before.
    pub fn without(&self, unsent: f64) -> LossModel {
        if unsent <= 0.0 {
            return *self;
        }
        let rate = ((self.rate - unsent) / (1.0 - unsent).max(SMALL)).within(0.0, self.rate);
        LossModel { rate, again: self.tied(rate), weight: self.weight }
    }

    /// The probabilities [`again`](LossModel::again) at another rate, with bursts of the same
    /// length.
    fn tied(&self, rate: f64) -> [f64; LAGS] {
        let tie =
            |again: f64| ((again - self.rate) / (1.0 - self.rate).max(SMALL)).within(-1.0, 1.0);
        self.again.map(|again| (rate + tie(again) * (1.0 - rate)).within(0.0, 1.0))
    }

    /// The number of bursts from which the model was estimated. A single loss is a burst.
    pub fn bursts(&self) -> f64 {
        self.weight * self.rate * (1.0 - self.again[0])
    }

    /// Whether a sender would act noticeably differently with this model than with `reported`, for
    /// some target of 1 to 20 %. That is so if a message that is sent once, or twice at some lag,
    /// is lost noticeably more or less often.
    ///
    /// While little is known about the path, the estimated model changes much. Only a larger
    /// difference counts then, so that the model is not reported all the time.
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
