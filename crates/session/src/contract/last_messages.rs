//! Counts how many of the last transactions were late, for channels that have too few of them in
//! ten seconds.

use core::time::Duration;

use super::Tally;

/// After 32 transactions in time (half of the number that is kept), or ten minutes without a late
/// one, the late ones are forgotten, so that a few late ones do not mark a rarely used channel for
/// ever.
const FORGIVEN_AFTER: u32 = 32;
const FORGIVEN: Duration = Duration::from_secs(600);

/// The last 64 transactions. None of them is missing, because the stream delivers all of them.
#[derive(Debug, Default)]
pub(super) struct LastMessages {
    /// A bit for each transaction, set if it was late. The newest one has the lowest bit.
    late: u64,
    /// The number of transactions, at most 64.
    judged: u32,
    /// The time of the newest late transaction.
    late_at: Duration,
}

impl LastMessages {
    pub(super) fn add(&mut self, now: Duration, is_late: bool) {
        self.late = self.late << 1 | u64::from(is_late);
        self.judged = (self.judged + 1).min(u64::BITS);
        if is_late {
            self.late_at = now;
        }
    }

    /// Forgets all transactions if enough of them were in time. Returns true if it did.
    pub(super) fn forgives(&mut self, now: Duration) -> bool {
        let is_over = self.late > 0
            && (self.late.trailing_zeros() >= FORGIVEN_AFTER || now > self.late_at + FORGIVEN);
        if is_over {
            *self = LastMessages::default();
        }
        is_over
    }

    pub(super) fn tally(&self) -> Tally {
        let late = u64::from(self.late.count_ones());
        Tally { judged: self.judged.into(), missed: late, late }
    }
}
