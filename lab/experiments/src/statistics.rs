//! Means, medians and percentiles.

/// Statistics of some values; all zero if there were none.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Summary {
    pub(crate) count: usize,
    pub(crate) mean: f64,
    /// The mean absolute deviation from the mean, which the paper calls jitter.
    pub(crate) divergence: f64,
    pub(crate) median: f64,
    /// The 99th percentile.
    pub(crate) p99: f64,
}

impl Summary {
    pub(crate) fn of(values: &[f64]) -> Self {
        if values.is_empty() {
            return Summary::default();
        }
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let divergence = values.iter().map(|value| (value - mean).abs()).sum::<f64>() / count;
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (median, p99) = (percentile(&sorted, 50.0), percentile(&sorted, 99.0));
        Summary { count: values.len(), mean, divergence, median, p99 }
    }
}

/// The value that `percent` of these sorted values do not exceed; 0 if there is none.
pub(crate) fn percentile(values: &[f64], percent: f64) -> f64 {
    let rank = (values.len().saturating_sub(1) as f64 * percent / 100.0).round();
    values.get(rank as usize).copied().unwrap_or(0.0)
}

/// The median of some values: of two in the middle, the greater one.
///
/// # Panics
/// There is no value.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_is_the_mean_divergence_from_the_mean() {
        let summary = Summary::of(&[10.0, 20.0, 30.0, 60.0]);
        assert_eq!((summary.count, summary.mean, summary.divergence), (4, 30.0, 15.0));
        assert_eq!((summary.median, summary.p99), (30.0, 60.0));
        assert_eq!(Summary::of(&[]), Summary::default());
    }
}
