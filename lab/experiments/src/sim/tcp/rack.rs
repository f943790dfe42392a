//! Detecting loss by time (RACK, RFC 8985): what was sent before something that has arrived ought
//! to have arrived too. A thin stream seldom has the three later segments that the older rule waits
//! for.

use std::time::Duration;

/// A hole with this number of segments beyond it counts as lost at once, as by the older rule (RFC
/// 5681, 3.2).
const DUPLICATE_ACKS: usize = 3;

/// The state of RACK: the order and the times in which segments arrived.
#[derive(Debug, Clone, Default)]
pub(super) struct Rack {
    /// Of the segments that arrived, the one that was sent last: when, and its end.
    newest: Option<(Duration, u64)>,
    /// The round trip of that segment.
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
            // The answer comes too early for the repeat, so the first transmission arrived.
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

    /// The round trip of the segment that arrived last.
    pub(super) fn rtt(&self) -> Duration {
        self.rtt
    }

    /// The time at which a segment that has not arrived counts as lost; never, before a segment
    /// sent after it has arrived.
    pub(super) fn lost_at(&self, at: Duration, end: u64, slack: Duration) -> Option<Duration> {
        self.newest.filter(|newest| (at, end) < *newest).map(|_| at + self.rtt + slack)
    }

    /// The time beyond a round trip before a segment counts as lost: a quarter of the least one, in
    /// case the path changes the order (RFC 8985, 6.2).
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
        // The acknowledgement is too early for the repeat, so RACK learns nothing.
        rack.arrived(145 * MS, 130 * MS, 100, true);
        assert_eq!(rack.lost_at(50 * MS, 300, 25 * MS), None);
        // A segment that was only late shows that the path reorders; RACK waits longer from then
        // on.
        rack.arrived(150 * MS, 20 * MS, 150, false);
        assert_eq!(rack.slack(true, 5), 25 * MS);
    }
}
