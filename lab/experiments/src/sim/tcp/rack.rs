//! Detecting loss by time (RACK, RFC 8985): what was sent before something that has arrived ought to have arrived too.
//! A thin stream seldom has the three later segments that the older rule waits for.

use std::time::Duration;

/// With so many segments beyond a hole nothing more is waited for, as by the older rule (RFC 5681, 3.2).
const DUPLICATE_ACKS: usize = 3;

/// What is known of the order and time in which segments arrive.
#[derive(Debug, Clone, Default)]
pub(super) struct Rack {
    /// Of what has arrived, the segment that was sent last: when, and where it ends.
    newest: Option<(Duration, u64)>,
    /// Its round trip.
    rtt: Duration,
    least_rtt: Option<Duration>,
    /// The end of the furthest segment that has arrived.
    furthest: u64,
    /// Whether the path was ever seen to change the order.
    reorders: bool,
}

impl Rack {
    /// A segment that was sent at `at`, perhaps not for the first time, is known to have arrived.
    pub(super) fn arrived(&mut self, now: Duration, at: Duration, end: u64, again: bool) {
        let rtt = now.saturating_sub(at);
        if again {
            // Too early for an answer to the repeat: it was the first one that arrived.
            if self.least_rtt.is_some_and(|least| rtt < least) {
                return;
            }
        } else {
            self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
            self.reorders |= end < self.furthest;
        }
        self.furthest = self.furthest.max(end);
        if self.newest.is_none_or(|newest| newest < (at, end)) {
            self.newest = Some((at, end));
            self.rtt = rtt;
        }
    }

    /// The round trip of what has arrived last.
    pub(super) fn rtt(&self) -> Duration {
        self.rtt
    }

    /// When a segment is taken for lost that has not arrived; never, while nothing sent after it has.
    pub(super) fn lost_at(&self, at: Duration, end: u64, slack: Duration) -> Option<Duration> {
        self.newest.filter(|newest| (at, end) < *newest).map(|_| at + self.rtt + slack)
    }

    /// How much longer than a round trip is waited: a quarter of the least one, in case the path changes the order
    /// (RFC 8985, 6.2).
    pub(super) fn slack(&self, recovering: bool, beyond_hole: usize) -> Duration {
        if !self.reorders && (recovering || beyond_hole >= DUPLICATE_ACKS) {
            return Duration::ZERO;
        }
        self.least_rtt.unwrap_or_default() / 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn what_was_sent_before_something_that_arrived_has_a_quarter_round_trip_left() {
        let mut rack = Rack::default();
        assert_eq!(rack.lost_at(10 * MS, 100, Duration::ZERO), None);
        rack.arrived(140 * MS, 40 * MS, 200, false);
        assert_eq!((rack.slack(false, 1), rack.slack(false, 3)), (25 * MS, Duration::ZERO));
        assert_eq!(rack.lost_at(10 * MS, 100, 25 * MS), Some(135 * MS));
        assert_eq!(rack.lost_at(50 * MS, 300, 25 * MS), None);
        // What was repeated is too early to be the repeat: nothing is learnt.
        rack.arrived(145 * MS, 130 * MS, 100, true);
        assert_eq!(rack.lost_at(50 * MS, 300, 25 * MS), None);
        // Something that was only late shows that the path reorders; it is given time from then on.
        rack.arrived(150 * MS, 20 * MS, 150, false);
        assert_eq!(rack.slack(true, 5), 25 * MS);
    }
}
