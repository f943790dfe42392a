//! The expected ratio of one choice for messages of one size class.

/// The ratio of packed to original bytes that is assumed before the first message: optimistic, so
/// that the choice is tried where it could win.
pub(super) const ASSUMED: f32 = 0.25;

/// The worst ratio that counts: no codec doubles a message.
const WORST: f32 = 2.0;
/// Messages in the moving average.
const MEMORY: f32 = 128.0;
/// A ratio is a surprise if it differs from the average by more than this plus `DEVIATIONS` mean
/// deviations.
const SURPRISING: f32 = 0.1;
const DEVIATIONS: f32 = 3.0;
/// This many surprises in a row on one side mean that the content has changed.
const SURPRISES: u8 = 3;

/// A moving average of ratios.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Estimate {
    average: f32,
    /// The mean of absolute differences from the average.
    deviation: f32,
    /// Ratios averaged over, at most `MEMORY`. 0: never tried.
    count: f32,
    /// Surprises in a row, all above or all below the average.
    surprises: u8,
    /// Whether the surprising measurements were above the estimate.
    above: bool,
}

impl Estimate {
    /// Whether at least one ratio was learned.
    pub(super) fn is_tried(&self) -> bool {
        self.count > 0.0
    }

    /// The expected ratio.
    pub(super) fn ratio(&self) -> f32 {
        if self.is_tried() { self.average } else { ASSUMED }
    }

    /// The ratio to expect if the content changed for the better.
    pub(super) fn best(&self) -> f32 {
        self.ratio().min(ASSUMED)
    }

    /// Learns the ratio of a message. Returns true if the content has changed; the average then
    /// starts from this message.
    pub(super) fn learn(&mut self, ratio: f32) -> bool {
        let ratio = ratio.min(WORST);
        if !self.is_tried() {
            *self = Estimate { average: ratio, count: 1.0, ..Estimate::default() };
            return false;
        }
        let error = ratio - self.average;
        let (size, above) = (error.abs(), error > 0.0);
        if size > SURPRISING + DEVIATIONS * self.deviation {
            self.surprises = if above == self.above { self.surprises + 1 } else { 1 };
            self.above = above;
            if self.surprises >= SURPRISES {
                *self = Estimate { average: ratio, count: 1.0, ..Estimate::default() };
                return true;
            }
        } else {
            self.surprises = 0;
        }
        self.count = (self.count + 1.0).min(MEMORY);
        // Twice the weight of a plain mean: the first messages, which may have been unusual, lose
        // their weight sooner.
        let gain = 2.0 / (self.count + 1.0);
        self.average += gain * error;
        self.deviation += gain * (size - self.deviation);
        false
    }

    /// Whether the last ratio was a surprise that further messages should confirm.
    pub(super) fn is_surprised(&self) -> bool {
        self.surprises > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learned(ratios: impl IntoIterator<Item = f32>) -> (Estimate, usize) {
        let mut estimate = Estimate::default();
        let changes = ratios.into_iter().filter(|&ratio| estimate.learn(ratio)).count();
        (estimate, changes)
    }

    #[test]
    fn a_ratio_is_assumed_then_averaged() {
        let mut estimate = Estimate::default();
        assert_eq!((estimate.is_tried(), estimate.ratio()), (false, ASSUMED));
        for (ratio, average) in [(0.5, 0.5), (0.53, 0.52), (0.5, 0.51)] {
            assert!(!estimate.learn(ratio));
            assert!((estimate.ratio() - average).abs() < 1e-6, "{estimate:?}");
        }
        assert_eq!((estimate.is_tried(), estimate.best()), (true, ASSUMED));
    }

    #[test]
    fn new_content_is_noticed_with_the_third_message() {
        let text = core::iter::repeat_n(0.4, 100);
        let (mut estimate, changes) = learned(text.chain([1.0, 1.0]));
        assert_eq!(changes, 0);
        assert!(estimate.is_surprised());
        assert!(estimate.learn(1.0));
        assert_eq!(estimate.ratio(), 1.0);
        assert!(!estimate.is_surprised());
    }

    #[test]
    fn unusual_and_mixed_messages_are_no_new_content() {
        let odd = (0..1000).map(|nth| if nth % 10 == 0 { 1.0 } else { 0.4 });
        assert_eq!(learned(odd).1, 0);
        let mixed = (0..1000).map(|nth| if nth / 3 % 2 == 0 { 1.0 } else { 0.4 });
        let (estimate, changes) = learned(mixed);
        assert!(changes < 3 && (0.5..0.9).contains(&estimate.ratio()), "{changes}, {estimate:?}");
    }
}
