//! The retransmission timeout (RFC 6298).

use std::time::Duration;

/// The timeout before a round trip was measured (RFC 6298, 2.1).
const INITIAL: Duration = Duration::from_secs(1);
/// The least that Linux adds to the round trip (`TCP_RTO_MIN`); the RFC's minimum of 1 s is for the
/// sum.
const LEAST_MARGIN: Duration = Duration::from_millis(200);
/// The longest timeout: Linux's `TCP_RTO_MAX`.
const LONGEST: Duration = Duration::from_secs(120);

/// The retransmission timeout.
#[derive(Debug, Clone, Default)]
pub(super) struct Rto {
    /// The smoothed round trip and its variation, once it was measured.
    estimate: Option<(Duration, Duration)>,
    /// The number of times that the timeout was doubled.
    backoff: u32,
}

impl Rto {
    /// A round trip was measured, on a segment that was sent once (Karn's algorithm).
    pub(super) fn measured(&mut self, rtt: Duration) {
        self.estimate = Some(match self.estimate {
            None => (rtt, rtt / 2),
            Some((smooth, variation)) => {
                (smooth * 7 / 8 + rtt / 8, variation * 3 / 4 + smooth.abs_diff(rtt) / 4)
            }
        });
    }

    /// Doubles the timeout, because no acknowledgement came in time.
    pub(super) fn back_off(&mut self) {
        self.backoff += 1;
    }

    /// New data was acknowledged. Linux takes this as proof that the path works, even without a
    /// measurement.
    pub(super) fn recover(&mut self) {
        self.backoff = 0;
    }

    /// The time after which a lost tail is probed for: two round trips, and as long as the only
    /// segment under way may wait for its acknowledgement (RFC 8985, 7.2, with Linux's numbers).
    pub(super) fn probe_timeout(&self, only_one: bool) -> Duration {
        let wait = if only_one { LEAST_MARGIN } else { Duration::from_millis(2) };
        self.estimate.map_or(INITIAL, |(smooth, _)| smooth * 2 + wait)
    }

    pub(super) fn timeout(&self) -> Duration {
        let base = self
            .estimate
            .map_or(INITIAL, |(smooth, variation)| smooth + (variation * 4).max(LEAST_MARGIN));
        (base * 2_u32.pow(self.backoff.min(10))).min(LONGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn the_timeout_follows_the_round_trip_and_doubles() {
        let mut rto = Rto::default();
        assert_eq!(rto.timeout(), 1000 * MS);
        rto.measured(100 * MS);
        assert_eq!(rto.timeout(), 300 * MS);
        rto.measured(500 * MS);
        // 150 ms smoothed, and four times 137.5 ms.
        assert_eq!(rto.timeout(), 700 * MS);
        (0..30).for_each(|_| rto.back_off());
        assert_eq!(rto.timeout(), LONGEST);
        rto.recover();
        (0..100).for_each(|_| rto.measured(50 * MS));
        assert_eq!(rto.timeout().as_millis(), 250);
        rto.back_off();
        assert_eq!(rto.timeout().as_millis(), 500);
    }
}
