//! Tells an operator that the clocks of servers differ. No promise depends on them, but tokens,
//! bans and the age of history do.

use std::time::Duration;

use tokio::time::Instant;

/// Clocks that are set over the network differ by milliseconds.
const TOLERANCE_MS: u64 = 30_000;

/// Between two warnings.
const PAUSE: Duration = Duration::from_secs(600);

/// Compares this server's clock with those of the others.
#[derive(Default)]
pub(super) struct Clocks {
    warned: Option<Instant>,
}

impl Clocks {
    /// Takes in the time at which another server wrote a record, and that at which this one reads
    /// it. A record of the future shows that the clocks differ; one of the past may be an old one.
    /// Returns by how many seconds the other clock is ahead, if the operator should know.
    pub(super) fn ahead(&mut self, written_ms: u64, read_ms: u64, now: Instant) -> Option<u64> {
        let ahead = written_ms.saturating_sub(read_ms);
        let is_known = self.warned.is_some_and(|warned| now < warned + PAUSE);
        if ahead <= TOLERANCE_MS || is_known {
            return None;
        }
        self.warned = Some(now);
        Some(ahead / 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_ahead_is_told_of_from_time_to_time() {
        let (mut clocks, now) = (Clocks::default(), Instant::now());
        assert_eq!(clocks.ahead(1_000_000, 1_000_000 - TOLERANCE_MS, now), None);
        assert_eq!(clocks.ahead(1_000_000, 5_000_000, now), None, "an old record");
        assert_eq!(clocks.ahead(4_600_000, 1_000_000, now), Some(3_600));
        assert_eq!(clocks.ahead(4_600_000, 1_000_000, now), None, "it was told already");
        assert_eq!(clocks.ahead(4_600_000, 1_000_000, now + PAUSE), Some(3_600));
    }
}
