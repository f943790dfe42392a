//! One sender's messages on one channel, by their indices: which came in time, and which did not come at all.

use core::time::Duration;

use super::Tally;
use crate::ids::Index;
use crate::{Kind, Overflow, Qos};

/// Indices that one message may skip and be counted for; beyond, somebody counts wrongly on purpose. A minute at the
/// rate of a pointer that nobody paces.
const LONGEST_GAP: u32 = 4096;

/// The longest time between two values that tells something of a rate: beyond it is a pause.
const LONGEST_STEP: Duration = Duration::from_secs(5);

/// How far a sender's messages have come.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Course {
    /// The newest.
    index: Index,
    /// When it was made, on the clock of who judges.
    born: Duration,
}

/// What one message that came tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) tally: Tally,
    /// It was counted as missed, and came in time after all.
    pub(super) is_found: bool,
    /// Values that it took the place of.
    pub(super) replaced: u32,
    /// The time since the value before, if meanwhile more was sent than the minimum rate.
    pub(super) step: Option<Duration>,
}

/// What a message is judged by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Terms<'a> {
    pub(super) qos: &'a Qos,
    /// The receiver asked for at most one value in this time; zero: for all.
    pub(super) thinned: Duration,
}

impl Terms<'_> {
    /// Whether something of this age, just now, is too late.
    fn is_late(&self, age: Duration) -> bool {
        self.qos.deadline.is_some_and(|deadline| age > deadline.saturating_add(self.thinned))
    }

    /// A message that says nothing of others.
    pub(super) fn alone(&self, age: Duration) -> Verdict {
        let late = u64::from(self.is_late(age));
        Verdict { tally: Tally { judged: 1, missed: late, late }, ..Verdict::default() }
    }

    fn judges_gaps(&self) -> bool {
        self.qos.kind == Kind::Awareness && self.thinned.is_zero()
    }
}

impl Course {
    pub(crate) fn at(index: Index, born: Duration) -> Self {
        Course { index, born }
    }

    /// An awareness message came. What is skipped before it is judged with it.
    pub(super) fn came(
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
            // Skipped, and counted, before. On a channel that conflates a newer one made up for it, or was too late.
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
        let per_mille = u128::from(terms.qos.rate_min);
        let sent = u128::from(ahead) * 1_000_000;
        let is_enough = sent >= per_mille * step.as_millis();
        verdict.step =
            Some(step).filter(|&step| per_mille > 0 && step <= LONGEST_STEP && is_enough);
        *self = Course { index, born };
        verdict
    }

    /// The same for who only keeps a tally.
    pub(crate) fn count(
        &mut self,
        now: Duration,
        index: Index,
        age: Duration,
        qos: &Qos,
        tally: &mut Tally,
    ) {
        let verdict = self.came(now, index, age, Terms { qos, thinned: Duration::ZERO });
        tally.add(verdict.tally);
        tally.missed = tally.missed.saturating_sub(u64::from(verdict.is_found));
    }

    /// Of `gap` values that were made at even distances in the `step` since the one before and did not come, those that
    /// were too old when now a newer one came. Their keys are not known: any newer value of their sender counts.
    fn too_old(&self, now: Duration, gap: u32, step: Duration, terms: Terms<'_>) -> u32 {
        let distance = step / (gap + 1);
        let late = |nth: u32| terms.is_late(now.saturating_sub(self.born + distance * nth));
        // The older ones, from the first on.
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
        Terms { qos, thinned: Duration::ZERO }
    }

    #[test]
    fn a_conflated_value_is_met_by_a_newer_one_in_time() {
        let mut course = Course::at(Index(1), Duration::ZERO);
        // 40, 80, 120 and 160 ms did not come; 200 came at 230, when those of 40, 80 and 120 were over 100 ms old.
        let verdict = course.came(230 * MS, Index(6), 30 * MS, terms(&POINTER));
        assert_eq!(verdict.tally, Tally { judged: 5, missed: 3, late: 0 });
        assert_eq!((verdict.replaced, verdict.step), (4, Some(200 * MS)));
        let verdict = course.came(270 * MS, Index(7), 110 * MS, terms(&POINTER));
        assert_eq!(verdict.tally, Tally { judged: 1, missed: 1, late: 1 });
    }

    #[test]
    fn an_aggregated_message_is_missed_until_it_comes() {
        let qos = POINTER.aggregate();
        let mut course = Course::at(Index(u32::MAX), Duration::ZERO);
        let verdict = course.came(50 * MS, Index(2), 10 * MS, terms(&qos));
        assert_eq!(verdict.tally, Tally { judged: 3, missed: 2, late: 0 });
        assert!(course.came(60 * MS, Index(0), 60 * MS, terms(&qos)).is_found);
        let late = course.came(160 * MS, Index(1), 140 * MS, terms(&qos));
        assert_eq!((late.is_found, late.tally.late), (false, 1));
    }

    #[test]
    fn what_was_left_out_as_asked_is_not_missed() {
        let mut course = Course::at(Index(1), Duration::ZERO);
        let thinned = Terms { qos: &POINTER, thinned: 500 * MS };
        let verdict = course.came(520 * MS, Index(13), 40 * MS, thinned);
        assert_eq!(verdict.tally, Tally { judged: 1, missed: 0, late: 0 });
    }

    #[test]
    fn pauses_tell_nothing_of_a_rate() {
        let mut course = Course::at(Index(1), Duration::ZERO);
        assert_eq!(course.came(900 * MS, Index(2), Duration::ZERO, terms(&POINTER)).step, None);
        assert_eq!(
            course.came(940 * MS, Index(3), Duration::ZERO, terms(&POINTER)).step,
            Some(40 * MS)
        );
    }

    #[test]
    fn a_liar_about_indices_is_bounded() {
        let mut course = Course::at(Index(1), Duration::ZERO);
        let verdict =
            course.came(900 * MS, Index(1 << 30), Duration::ZERO, terms(&POINTER.aggregate()));
        assert_eq!(verdict.tally.judged, u64::from(LONGEST_GAP) + 1);
    }
}
