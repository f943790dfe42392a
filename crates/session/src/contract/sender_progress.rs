//! Judges the messages of one sender on one channel by their indices: which were received in time,
//! and which are missing (wire W76).

use core::time::Duration;

use super::Tally;
use crate::ids::Index;
use crate::{Kind, Overflow, Qos};

/// The most indices before one message that are counted as missing. No honest sender causes a
/// larger gap: these are the messages of more than a minute from a pointer at 60 messages per
/// second.
const LONGEST_GAP: u32 = 4096;

/// The longest time between two values that counts for the rate. A longer one is a pause (wire
/// W76).
const LONGEST_STEP: Duration = Duration::from_secs(5);

/// The newest message of a sender.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SenderProgress {
    index: Index,
    /// The time at which its sender made it, on the receiver's clock.
    born: Duration,
}

/// The judgement of one received message and of the messages before it that are missing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) tally: Tally,
    /// True if the message had been counted as missed, but was received in time.
    pub(super) is_found: bool,
    /// Older values that the message replaced before they were received.
    pub(super) replaced: u32,
    /// The time between the sender's previous received value and this one, if the sender kept the
    /// minimum rate in this time.
    pub(super) step: Option<Duration>,
}

/// The terms that a message is judged by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Terms<'a> {
    pub(super) qos: &'a Qos,
    /// The interval of the receiver's rate limit: it asked for at most one value of a key in this
    /// time. Zero: no limit.
    pub(super) rate_limit: Duration,
}

impl Terms<'_> {
    /// True if a message of this age is too late. The interval of a rate limit is added to the
    /// deadline (wire W78).
    fn is_late(&self, age: Duration) -> bool {
        self.qos.deadline.is_some_and(|deadline| age > deadline.saturating_add(self.rate_limit))
    }

    /// Judges only this message, not the missing ones before it.
    pub(super) fn alone(&self, age: Duration) -> Verdict {
        let late = u64::from(self.is_late(age));
        Verdict { tally: Tally { judged: 1, missed: late, late }, ..Verdict::default() }
    }

    /// True if missing indices count as missed messages.
    fn judges_gaps(&self) -> bool {
        self.qos.kind == Kind::Awareness && self.rate_limit.is_zero()
    }
}

impl SenderProgress {
    /// A sender whose newest message has this index.
    pub(crate) fn at(index: Index, born: Duration) -> Self {
        SenderProgress { index, born }
    }

    /// Judges an awareness message that was received, and with it the missing ones before it.
    pub(super) fn on_message(
        &mut self,
        now: Duration,
        index: Index,
        age: Duration,
        terms: Terms<'_>,
    ) -> Verdict {
        let is_late = terms.is_late(age);
        let mut verdict = Verdict::default();
        let ahead = index.get().wrapping_sub(self.index.get());
        if !matches!(ahead, 1..=0x7fff_ffff) {
            // The message is older than the newest one, and was counted as missing when that one
            // was received. On a conflated channel the newer value has decided whether it missed.
            if terms.qos.overflow == Overflow::Aggregate {
                verdict.is_found = !is_late;
                verdict.tally.late = u64::from(is_late);
            }
            return verdict;
        }
        let born = now.saturating_sub(age);
        let step = born.saturating_sub(self.born);
        let gap = (ahead - 1).min(LONGEST_GAP);
        verdict.tally = terms.alone(age).tally;
        if terms.judges_gaps() {
            let missed = match terms.qos.overflow {
                Overflow::Aggregate => gap,
                Overflow::Conflate => self.too_old(now, gap, step, terms),
            };
            verdict.tally.judged += u64::from(gap);
            verdict.tally.missed += u64::from(missed);
        }
        if terms.qos.overflow == Overflow::Conflate {
            verdict.replaced = gap;
        }
        let per_mille = u128::from(terms.qos.rate_min.millihertz());
        let sent = u128::from(ahead) * 1_000_000;
        let is_enough = sent >= per_mille * step.as_millis();
        verdict.step =
            Some(step).filter(|&step| per_mille > 0 && step <= LONGEST_STEP && is_enough);
        *self = SenderProgress { index, born };
        verdict
    }

    /// Judges a message like [`SenderProgress::on_message`] and adds the result to `tally`.
    pub(crate) fn count(
        &mut self,
        now: Duration,
        index: Index,
        age: Duration,
        qos: &Qos,
        tally: &mut Tally,
    ) {
        let verdict = self.on_message(now, index, age, Terms { qos, rate_limit: Duration::ZERO });
        tally.add(verdict.tally);
        tally.missed = tally.missed.saturating_sub(u64::from(verdict.is_found));
    }

    /// The number of missing values that were too old when the newer value was received. The `gap`
    /// values are assumed to have been made at even distances in the time `step`. Their keys are
    /// not known, so that any newer value of the sender counts as their replacement.
    fn too_old(&self, now: Duration, gap: u32, step: Duration, terms: Terms<'_>) -> u32 {
        let distance = step / (gap + 1);
        let late = |nth: u32| terms.is_late(now.saturating_sub(self.born + distance * nth));
        // Binary search: the first values are the oldest, so that the late ones come first.
        let (mut least, mut most) = (0, gap);
        while least < most {
            let middle = (least + most).div_ceil(2);
            match late(middle) {
                true => least = middle,
                false => most = middle - 1,
            }
        }
        least
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);
    const POINTER: Qos = Qos::awareness().deadline(Duration::from_millis(100)).rate(10, 25);

    fn terms(qos: &Qos) -> Terms<'_> {
        Terms { qos, rate_limit: Duration::ZERO }
    }

    #[test]
    fn a_newer_value_in_time_makes_up_for_a_conflated_one() {
        let mut progress = SenderProgress::at(Index(1), Duration::ZERO);
        // The values made at 40, 80, 120 and 160 ms are missing. The value made at 200 ms is
        // received at 230 ms, when those of 40, 80 and 120 ms are older than 100 ms.
        let verdict = progress.on_message(230 * MS, Index(6), 30 * MS, terms(&POINTER));
        assert_eq!(verdict.tally, Tally { judged: 5, missed: 3, late: 0 });
        assert_eq!((verdict.replaced, verdict.step), (4, Some(200 * MS)));
        let verdict = progress.on_message(270 * MS, Index(7), 110 * MS, terms(&POINTER));
        assert_eq!(verdict.tally, Tally { judged: 1, missed: 1, late: 1 });
    }

    #[test]
    fn an_aggregated_message_is_missed_until_it_is_received() {
        let qos = POINTER.aggregate();
        let mut progress = SenderProgress::at(Index(u32::MAX), Duration::ZERO);
        let verdict = progress.on_message(50 * MS, Index(2), 10 * MS, terms(&qos));
        assert_eq!(verdict.tally, Tally { judged: 3, missed: 2, late: 0 });
        assert!(progress.on_message(60 * MS, Index(0), 60 * MS, terms(&qos)).is_found);
        let late = progress.on_message(160 * MS, Index(1), 140 * MS, terms(&qos));
        assert_eq!((late.is_found, late.tally.late), (false, 1));
    }

    #[test]
    fn values_that_the_rate_limit_left_out_are_not_missed() {
        let mut progress = SenderProgress::at(Index(1), Duration::ZERO);
        let limited = Terms { qos: &POINTER, rate_limit: 500 * MS };
        let verdict = progress.on_message(520 * MS, Index(13), 40 * MS, limited);
        assert_eq!(verdict.tally, Tally { judged: 1, missed: 0, late: 0 });
    }

    #[test]
    fn pauses_do_not_count_for_the_rate() {
        let mut progress = SenderProgress::at(Index(1), Duration::ZERO);
        assert_eq!(
            progress.on_message(900 * MS, Index(2), Duration::ZERO, terms(&POINTER)).step,
            None
        );
        assert_eq!(
            progress.on_message(940 * MS, Index(3), Duration::ZERO, terms(&POINTER)).step,
            Some(40 * MS)
        );
    }

    #[test]
    fn the_missing_messages_of_a_gap_are_bounded() {
        let mut progress = SenderProgress::at(Index(1), Duration::ZERO);
        let verdict = progress.on_message(
            900 * MS,
            Index(1 << 30),
            Duration::ZERO,
            terms(&POINTER.aggregate()),
        );
        assert_eq!(verdict.tally.judged, u64::from(LONGEST_GAP) + 1);
    }
}
