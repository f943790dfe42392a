//! Messages that come too rarely for ten seconds to tell: how many of the last ones were late.

use core::time::Duration;

use super::Tally;

/// After so many in time, or so long without a late one, those that were are forgotten.
const FORGIVEN_AFTER: u32 = 32;
const FORGIVEN: Duration = Duration::from_secs(600);

/// The last 64 messages, of which none are missing.
#[derive(Debug, Default)]
pub(super) struct Rare {
    /// A bit for each, the last one's lowest.
    late: u64,
    judged: u32,
    late_at: Duration,
}

impl Rare {
    pub(super) fn add(&mut self, now: Duration, is_late: bool) {
        self.late = self.late << 1 | u64::from(is_late);
        self.judged = (self.judged + 1).min(u64::BITS);
        if is_late {
            self.late_at = now;
        }
    }

    /// Whether those that were late are forgotten now.
    pub(super) fn forgives(&mut self, now: Duration) -> bool {
        let is_over = self.late > 0
            && (self.late.trailing_zeros() >= FORGIVEN_AFTER || now > self.late_at + FORGIVEN);
        if is_over {
            *self = Rare::default();
        }
        is_over
    }

    pub(super) fn tally(&self) -> Tally {
        let late = u64::from(self.late.count_ones());
        Tally { judged: self.judged.into(), missed: late, late }
    }
}
