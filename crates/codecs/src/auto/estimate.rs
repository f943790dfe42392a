//! How small messages of one size class become by one choice.

/// The ratio of packed to original octets that is hoped for where nothing was tried.
pub(super) const HOPE: f32 = 0.25;

/// Messages that the average is over.
const MEMORY: f32 = 16.0;
/// A ratio is a surprise if it is off by this, and by so many usual deviations.
const OFF: f32 = 0.1;
const USUAL: f32 = 3.0;
/// So many surprises in a row: the content is another one.
const SURPRISES: u8 = 2;

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
        self.average += error / self.count;
        self.deviation += (size - self.deviation) / self.count;
        false
    }

    /// Whether the last ratio was a surprise that another message should confirm.
    pub(super) fn is_surprised(&self) -> bool {
        self.surprises > 0
    }
}
