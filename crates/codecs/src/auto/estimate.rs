//! How small messages of one size class become by one choice.

/// The ratio of packed to original bytes that is hoped for where nothing was tried.
pub(super) const HOPE: f32 = 0.25;

/// The worst ratio: whatever is said, no message doubles.
const WORST: f32 = 2.0;
/// Messages that the average is over.
const MEMORY: f32 = 128.0;
/// A ratio is a surprise if it is off by this, and by so many usual deviations.
const OFF: f32 = 0.1;
const USUAL: f32 = 3.0;
/// So many surprises in a row: the content is another one.
const SURPRISES: u8 = 3;

/// A moving average of ratios.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Estimate {
    average: f32,
    /// The mean of absolute differences from the average.
    deviation: f32,
    /// Ratios averaged over, at most `MEMORY`. 0: never tried.
    count: f32,
    /// In a row, on one side.
    surprises: u8,
    above: bool,
}

impl Estimate {
    /// Whether there is more to it than hope.
    pub(super) fn is_tried(&self) -> bool {
        self.count > 0.0
    }

    /// The ratio to reckon with.
    pub(super) fn ratio(&self) -> f32 {
        if self.is_tried() { self.average } else { HOPE }
    }

    /// The best ratio that content of another kind might have.
    pub(super) fn best(&self) -> f32 {
        self.ratio().min(HOPE)
    }

    /// Learns from a message. Returns whether the content has become another one.
    pub(super) fn learn(&mut self, ratio: f32) -> bool {
        let ratio = ratio.min(WORST);
        if !self.is_tried() {
            *self = Estimate { average: ratio, count: 1.0, ..Estimate::default() };
            return false;
        }
        let error = ratio - self.average;
        let (size, above) = (error.abs(), error > 0.0);
        if size > OFF + USUAL * self.deviation {
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
        // The first messages count less, the older the less: they may have been odd ones.
        let gain = 2.0 / (self.count + 1.0);
        self.average += gain * error;
        self.deviation += gain * (size - self.deviation);
        false
    }

    /// Whether the last ratio was a surprise that another message should confirm.
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
    fn it_hopes_then_averages() {
        let mut estimate = Estimate::default();
        assert_eq!((estimate.is_tried(), estimate.ratio()), (false, HOPE));
        for (ratio, average) in [(0.5, 0.5), (0.53, 0.52), (0.5, 0.51)] {
            assert!(!estimate.learn(ratio));
            assert!((estimate.ratio() - average).abs() < 1e-6, "{estimate:?}");
        }
        assert_eq!((estimate.is_tried(), estimate.best()), (true, HOPE));
    }

    #[test]
    fn other_content_is_noticed_with_the_third_message() {
        let text = core::iter::repeat_n(0.4, 100);
        let (mut estimate, changes) = learned(text.chain([1.0, 1.0]));
        assert_eq!(changes, 0);
        assert!(estimate.is_surprised());
        assert!(estimate.learn(1.0));
        assert_eq!(estimate.ratio(), 1.0);
        assert!(!estimate.is_surprised());
    }

    #[test]
    fn odd_messages_and_mixed_ones_are_no_other_content() {
        let odd = (0..1000).map(|nth| if nth % 10 == 0 { 1.0 } else { 0.4 });
        assert_eq!(learned(odd).1, 0);
        let mixed = (0..1000).map(|nth| if nth / 3 % 2 == 0 { 1.0 } else { 0.4 });
        let (estimate, changes) = learned(mixed);
        assert!(changes < 3 && (0.5..0.9).contains(&estimate.ratio()), "{changes}, {estimate:?}");
    }
}
