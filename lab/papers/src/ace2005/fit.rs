//! A line y = at_zero + slope * x, found by regression.

/// y = at_zero + slope * x, fitted by least squares.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LinearFit {
    /// The value at x = 0.
    pub at_zero: f64,
    /// The increase per unit of x.
    pub slope: f64,
    /// R²: the share of the variance that the line explains.
    pub r2: f64,
}

impl LinearFit {
    /// The line y = x.
    pub(crate) const IDENTITY: LinearFit = LinearFit { at_zero: 0.0, slope: 1.0, r2: 1.0 };

    /// Fits a line to points (x, y) with the least sum of squared distances in y.
    ///
    /// Points that all have the same x give a horizontal line through their mean with an R² of 0;
    /// no points give a line of zeros.
    ///
    /// ```
    /// use groupwire_papers::ace2005::LinearFit;
    /// let line = LinearFit::fit(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]);
    /// assert_eq!((line.at(10.0), line.r2), (21.0, 1.0));
    /// ```
    pub fn fit(points: &[(f64, f64)]) -> LinearFit {
        if points.is_empty() {
            return LinearFit::default();
        }
        let count = points.len() as f64;
        let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / count;
        let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / count;
        let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
        for (x, y) in points {
            let (dx, dy) = (x - mean_x, y - mean_y);
            xx += dx * dx;
            xy += dx * dy;
            yy += dy * dy;
        }
        if xx <= 0.0 {
            return LinearFit { at_zero: mean_y, slope: 0.0, r2: 0.0 };
        }
        let slope = xy / xx;
        let r2 = if yy > 0.0 { (xy * xy / (xx * yy)).min(1.0) } else { 1.0 };
        LinearFit { at_zero: mean_y - slope * mean_x, slope, r2 }
    }

    /// The value at `x`.
    pub fn at(&self, x: f64) -> f64 {
        self.at_zero + self.slope * x
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use alloc::vec::Vec;

    use proptest::prelude::*;

    #[test]
    fn points_on_a_line_give_that_line() {
        let line = LinearFit::fit(&[(1.0, 1.0), (3.0, 2.0), (5.0, 3.0)]);
        assert_eq!(line, LinearFit { at_zero: 0.5, slope: 0.5, r2: 1.0 });
    }

    #[test]
    fn points_beside_the_line_lower_r2() {
        // Computed by hand: means 2 and 2, xx = 2, xy = 1, yy = 2.
        let line = LinearFit::fit(&[(1.0, 1.0), (2.0, 3.0), (3.0, 2.0)]);
        assert_eq!(line, LinearFit { at_zero: 1.0, slope: 0.5, r2: 0.25 });
    }

    #[test]
    fn too_few_points_give_a_horizontal_line() {
        assert_eq!(LinearFit::fit(&[]), LinearFit::default());
        assert_eq!(LinearFit::fit(&[(2.0, 7.0)]).at(9.0), 7.0);
        let level = LinearFit::fit(&[(2.0, 6.0), (2.0, 8.0)]);
        assert_eq!((level.at(9.0), level.r2), (7.0, 0.0));
    }

    proptest! {
        #[test]
        fn no_other_line_has_a_smaller_distance(
            points in proptest::collection::vec((0.0..1.0f64, 0.0..1.0f64), 2..40),
            (lift, turn) in (-0.1..0.1f64, -0.1..0.1f64),
        ) {
            let line = LinearFit::fit(&points);
            let other = LinearFit { at_zero: line.at_zero + lift, slope: line.slope + turn, r2: 0.0 };
            let distance = |line: LinearFit| -> f64 {
                let squares: Vec<f64> =
                    points.iter().map(|(x, y)| (y - line.at(*x)) * (y - line.at(*x))).collect();
                squares.iter().sum()
            };
            prop_assert!(distance(line) <= distance(other) + 1e-9);
            prop_assert!((0.0..=1.0).contains(&line.r2));
        }
    }
}
