//! The last values of a series in sorted order, for medians.

/// At most `N` values in sorted order. To replace a value moves only the values between the place
/// of the old value and that of the new one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sorted<const N: usize> {
    values: [f64; N],
    count: usize,
}

impl<const N: usize> Sorted<N> {
    pub(super) const fn new() -> Self {
        Sorted { values: [0.0; N], count: 0 }
    }

    /// Removes `leaving`, if it is one of the values. Then inserts `value` if there are fewer than
    /// `N` values.
    pub(super) fn replace(&mut self, leaving: Option<f64>, value: f64) {
        if let Some(at) = leaving.and_then(|leaving| self.place(leaving).ok()) {
            self.values.copy_within(at + 1..self.count, at);
            self.count -= 1;
        }
        if self.count < N {
            let at = self.place(value).unwrap_or_else(|at| at);
            self.values.copy_within(at..self.count, at + 1);
            self.values[at] = value;
            self.count += 1;
        }
        debug_assert!(
            self.values[..self.count].is_sorted_by(|one, other| one.total_cmp(other).is_le()),
            "values are searched by bisection"
        );
    }

    /// The median; 0 without values.
    pub(super) fn median(&self) -> f64 {
        match self.count {
            0 => 0.0,
            odd if odd % 2 == 1 => self.values[odd / 2],
            even => (self.values[even / 2 - 1] + self.values[even / 2]) / 2.0,
        }
    }

    /// The mean without the `share` of the values at each end; 0 without values.
    pub(super) fn trimmed(&self, share: f64) -> f64 {
        let out = (self.count as f64 * share) as usize;
        let middle = self.values.get(out..self.count - out).unwrap_or(&[]);
        if middle.is_empty() { 0.0 } else { middle.iter().sum::<f64>() / middle.len() as f64 }
    }

    fn place(&self, value: f64) -> Result<usize, usize> {
        self.values[..self.count].binary_search_by(|other| other.total_cmp(&value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use alloc::vec::Vec;

    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_values_stay_sorted(values in proptest::collection::vec(-9i8..9, 0..60)) {
            let mut sorted = Sorted::<7>::new();
            for (nth, value) in values.iter().enumerate() {
                let leaving = nth.checked_sub(7).map(|nth| f64::from(values[nth]));
                sorted.replace(leaving, f64::from(*value));
                let mut last: Vec<i8> = values[(nth + 1).saturating_sub(7)..=nth].to_vec();
                last.sort_unstable();
                let expected: Vec<f64> = last.into_iter().map(f64::from).collect();
                prop_assert_eq!(&sorted.values[..sorted.count], &expected);
            }
        }
    }

    #[test]
    fn median_and_trimmed_mean_ignore_extremes() {
        let mut sorted = Sorted::<4>::new();
        assert_eq!((sorted.median(), sorted.trimmed(0.3)), (0.0, 0.0));
        for value in [5.0, 1.0, 100.0] {
            sorted.replace(None, value);
        }
        assert_eq!(sorted.median(), 5.0);
        sorted.replace(None, 3.0);
        assert_eq!((sorted.median(), sorted.trimmed(0.3)), (4.0, 4.0));
        sorted.replace(Some(100.0), 0.0);
        assert_eq!(sorted.median(), 2.0);
    }
}
