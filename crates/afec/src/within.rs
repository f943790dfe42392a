//! Bounds for floating-point numbers.

/// A replacement of `f64::clamp`, which panics if the bounds are reversed and prints them: the code
/// that prints floating-point numbers takes 17 KB of a browser's WebAssembly module.
pub(crate) trait Within {
    /// The number limited to at least `least` and at most `most`. If the bounds are reversed, the
    /// result is `most`; for NaN it is `least`.
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
    fn no_bounds_panic() {
        assert_eq!([-1.0, 0.5, 2.0].map(|x: f64| x.within(0.0, 1.0)), [0.0, 0.5, 1.0]);
        assert_eq!([f64::NAN, 3.0].map(|x| x.within(2.0, 1.0)), [1.0, 1.0]);
    }
}
