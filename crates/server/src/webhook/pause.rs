//! How long to wait before a request is repeated.

use std::time::Duration;

use super::config::WebhookPauses;

/// The pause after this many failures in a row. It doubles with each, up to the longest one, and is
/// shortened by up to a third as `random` (from 0 to 1) says, so that servers that failed together
/// do not come back together.
pub(super) fn pause(pauses: WebhookPauses, failures: u32, random: f64) -> Duration {
    let doublings = failures.saturating_sub(1).min(31);
    let pause = pauses.first.saturating_mul(1 << doublings).min(pauses.longest);
    pause.mul_f64(1.0 - random.clamp(0.0, 1.0) / 3.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_the_longest() {
        let pauses = WebhookPauses::default();
        let seconds = |failures| pause(pauses, failures, 0.0).as_secs();
        assert_eq!([1, 2, 3, 4, 9].map(seconds), [1, 2, 4, 8, 256]);
        assert_eq!([10, 11, 1000, u32::MAX].map(seconds), [300; 4]);
        assert_eq!(pause(pauses, 2, 1.0), Duration::from_secs_f64(2.0 * 2.0 / 3.0));
    }
}
