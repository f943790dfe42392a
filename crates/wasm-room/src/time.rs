//! Times in JavaScript, which are in milliseconds.

use std::time::Duration;

/// Converts a time from JavaScript, rounded, so that the time of a `timeout` is the same when it
/// comes back. Negative numbers and NaN become 0.
pub(crate) fn time(ms: f64) -> Duration {
    Duration::from_nanos((ms * 1e6).round() as u64)
}

/// Converts a time to JavaScript.
pub(crate) fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_comes_back_as_it_was() {
        for nanos in [0, 1, 999, 262_937_000, 262_937_001, 3_600_000_000_007] {
            let at = Duration::from_nanos(nanos);
            assert_eq!(time(millis(at)), at);
        }
        assert_eq!(time(-1.0), Duration::ZERO);
    }
}
