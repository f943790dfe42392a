//! Bounds for floating-point numbers.

/// `f64::clamp` panics if the bounds are the wrong way round, and says which they were: code that prints floating-point
/// numbers is 17 KB of a browser's module. This one has no such case.
pub(crate) trait Within {
    /// The number, but at least `least` and at most `most`, of which the latter counts more; `least` if it is none (NaN).
    fn within(self, least: Self, most: Self) -> Self;
}

impl Within for f64 {
    fn within(self, least: f64, most: f64) -> f64 {
        self.max(least).min(most)
    }
}

impl Within for f32 {
    fn within(self, least: f32, most: f32) -> f32 {
        self.max(least).min(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_panics() {
        assert_eq!([-1.0, 0.5, 2.0].map(|x: f64| x.within(0.0, 1.0)), [0.0, 0.5, 1.0]);
        assert_eq!([f64::NAN, 3.0].map(|x| x.within(2.0, 1.0)), [1.0, 1.0]);
    }
}
