//! Compares what participants received with the room's order: nothing may be lost, repeated or
//! moved.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::AddAssign;

use super::texts::TextId;

/// The transactions that one client received, in the order of arrival: each text's position in the
/// room's order, and its name. A text that nobody wrote has none.
#[derive(Debug, Clone, Default)]
pub(crate) struct Told {
    pub(crate) lines: Vec<(u64, Option<TextId>)>,
    /// The number of them that were confirmed as this client's own.
    pub(crate) confirmed: u64,
}

/// The faults that were found in one room or several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// Transactions that were confirmed to their authors.
    pub(crate) confirmed: u64,
    /// Transactions that somebody received or that were confirmed, but are not in the order;
    /// positions without a transaction; transactions that a participant did not receive.
    pub(crate) lost: u64,
    /// Transactions that are in the order twice, or that a client received twice.
    pub(crate) repeated: u64,
    /// Transactions that a client received at another position than they have in the order, or that
    /// overtook others of the same author.
    pub(crate) reordered: u64,
}

impl Verdict {
    /// Judges one room. `order` is what a participant received that asked for the room's whole
    /// order in the end.
    pub(crate) fn of(order: &Told, people: &[Told]) -> Self {
        let mut verdict = Verdict::of_order(order);
        let at: BTreeMap<u64, Option<TextId>> = order.lines.iter().copied().collect();
        let known: HashSet<TextId> = at.values().copied().flatten().collect();
        for told in people {
            verdict.confirmed += told.confirmed;
            verdict.compare(told, &at, &known);
        }
        verdict
    }

    /// The faults of an order in itself.
    fn of_order(order: &Told) -> Self {
        let mut verdict = Verdict::default();
        let (mut names, mut next) = (HashSet::new(), HashMap::new());
        let (mut last, mut positions) = (0, 0);
        for &(position, line) in &order.lines {
            last = last.max(position);
            positions += 1;
            let Some(line) = line else {
                verdict.lost += 1;
                continue;
            };
            if !names.insert(line) {
                verdict.repeated += 1;
                continue;
            }
            let next = next.entry(line.author).or_insert(0);
            verdict.reordered += u64::from(line.number < *next);
            *next = (*next).max(line.number + 1);
        }
        // All texts of an author before its last one must be there.
        let written: u64 = next.values().map(|&count| u64::from(count)).sum();
        let holes = last.saturating_sub(positions);
        verdict.lost += holes.max(written.saturating_sub(names.len() as u64));
        verdict
    }

    /// Adds the faults in the transactions that one client received.
    fn compare(
        &mut self,
        told: &Told,
        at: &BTreeMap<u64, Option<TextId>>,
        known: &HashSet<TextId>,
    ) {
        let (mut seen, mut last) = (HashSet::new(), 0);
        for &(position, line) in &told.lines {
            if !seen.insert(position) {
                self.repeated += 1;
                continue;
            }
            self.reordered += u64::from(position < last);
            last = last.max(position);
            match line {
                _ if line.is_some() && at.get(&position) == Some(&line) => {}
                Some(line) if known.contains(&line) => self.reordered += 1,
                _ => self.lost += 1,
            }
        }
        self.lost += at.keys().filter(|position| !seen.contains(position)).count() as u64;
    }

    /// A sentence about the faults; `None` if there are none.
    pub(crate) fn failure(&self) -> Option<String> {
        let Verdict { lost, repeated, reordered, .. } = self;
        (lost + repeated + reordered > 0).then(|| {
            format!("{lost} transactions lost, {repeated} repeated, {reordered} reordered")
        })
    }
}

impl AddAssign for Verdict {
    fn add_assign(&mut self, other: Self) {
        self.confirmed += other.confirmed;
        self.lost += other.lost;
        self.repeated += other.repeated;
        self.reordered += other.reordered;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: u32 = 1;
    const B: u32 = 2;

    fn told(lines: &[(u64, u32, u32)], confirmed: u64) -> Told {
        let line = |&(position, author, number): &_| (position, Some(TextId { author, number }));
        Told { lines: lines.iter().map(line).collect(), confirmed }
    }

    fn faults(order: &[(u64, u32, u32)], people: &[(u64, u32, u32)]) -> (u64, u64, u64) {
        let verdict = Verdict::of(&told(order, 0), &[told(people, 0)]);
        assert_eq!(verdict.failure().is_some(), verdict != Verdict::default());
        (verdict.lost, verdict.repeated, verdict.reordered)
    }

    #[test]
    fn whoever_was_told_the_order_was_told_the_truth() {
        let order = [(1, A, 0), (2, B, 0), (3, A, 1)];
        let people = [told(&order, 2), told(&order, 1)];
        let verdict = Verdict::of(&told(&order, 0), &people);
        assert_eq!(verdict, Verdict { confirmed: 3, ..Verdict::default() });
        assert_eq!(verdict.failure(), None);
    }

    #[test]
    fn each_fault_is_counted_as_what_it_is() {
        let order = [(1, A, 0), (2, B, 0), (3, A, 1)];
        // A transaction was confirmed, but is not in the order.
        assert_eq!(faults(&order[..2], &order), (1, 0, 0));
        // A transaction was not delivered.
        assert_eq!(faults(&order, &order[..2]), (1, 0, 0));
        // A position, or a text of an author, is missing from the order.
        assert_eq!(faults(&[(1, A, 0), (3, A, 1)], &[(1, A, 0), (3, A, 1)]), (1, 0, 0));
        assert_eq!(faults(&[(1, A, 1)], &[(1, A, 1)]), (1, 0, 0));
        // A transaction is in the order twice, or delivered twice.
        let twice = [(1, A, 0), (2, A, 0)];
        assert_eq!(faults(&twice, &twice), (0, 1, 0));
        assert_eq!(faults(&order, &[order[0], order[1], order[1], order[2]]), (0, 1, 0));
        // Transactions were delivered at other positions than in the order, or overtook each other.
        assert_eq!(faults(&order, &[(1, B, 0), (2, A, 0), (3, A, 1)]), (0, 0, 2));
        let overtaken = [(1, A, 1), (2, A, 0)];
        assert_eq!(faults(&overtaken, &overtaken), (0, 0, 1));
        assert_eq!(faults(&order, &[order[1], order[0], order[2]]), (0, 0, 1));
    }

    #[test]
    fn a_text_that_nobody_wrote_stands_for_a_lost_one() {
        let altered = Told { lines: vec![(1, None)], confirmed: 0 };
        let order = told(&[(1, A, 0)], 0);
        assert_eq!(Verdict::of(&order, &[altered]).lost, 1);
    }
}
