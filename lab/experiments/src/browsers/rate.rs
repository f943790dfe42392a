//! The rate of arrivals.

/// Distinct arrivals per second: messages that arrive together count as one. `span_ms` is from the
/// first to the last of them, `window_ms` how long was counted.
pub(super) fn rate(arrivals: u32, span_ms: f64, window_ms: f64) -> f64 {
    match arrivals {
        0 => 0.0,
        // A single arrival has no interval, so it counts over the whole window.
        1 => 1000.0 / window_ms,
        // A clock of a browser has steps of 0.1 ms.
        more => f64::from(more - 1) * 1000.0 / span_ms.max(0.1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_counts_the_gaps_between_arrivals() {
        assert_eq!(rate(0, 0.0, 500.0), 0.0);
        assert_eq!(rate(1, 0.0, 500.0), 2.0);
        assert_eq!(rate(11, 400.0, 500.0), 25.0);
    }
}
