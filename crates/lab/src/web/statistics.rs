//! Means and the like.

/// Of some values; all zero if there were none.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Summary {
    pub(super) count: usize,
    pub(super) mean: f64,
    /// The mean divergence from the mean, which the paper calls jitter.
    pub(super) divergence: f64,
    pub(super) median: f64,
    /// What 99 of 100 are at most.
    pub(super) p99: f64,
}

impl Summary {
    pub(super) fn of(values: &[f64]) -> Self {
        if values.is_empty() {
            return Summary::default();
        }
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let divergence = values.iter().map(|value| (value - mean).abs()).sum::<f64>() / count;
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let rank = |share: f64| sorted[(share * (sorted.len() - 1) as f64).round() as usize];
        let (median, p99) = (rank(0.5), rank(0.99));
        Summary { count: values.len(), mean, divergence, median, p99 }
    }
}

/// Distinct arrivals per second: all that comes at once counts as one. `span_ms` is from the first to the last of them,
/// `window_ms` how long was counted.
pub(super) fn rate(arrivals: u32, span_ms: f64, window_ms: f64) -> f64 {
    match arrivals {
        0 => 0.0,
        // Two would be a rate, one is only known to be the only one.
        1 => 1000.0 / window_ms,
        // A clock of a browser has steps of 0.1 ms.
        more => f64::from(more - 1) * 1000.0 / span_ms.max(0.1),
    }
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

    #[test]
    fn a_rate_counts_the_gaps_between_arrivals() {
        assert_eq!(rate(0, 0.0, 500.0), 0.0);
        assert_eq!(rate(1, 0.0, 500.0), 2.0);
        assert_eq!(rate(11, 400.0, 500.0), 25.0);
    }
}
