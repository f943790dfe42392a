//! Sets of numbers, most of which are consecutive.

use std::ops::Range;

/// The ranges in ascending order, with gaps between them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Ranges(Vec<Range<u64>>);

impl Ranges {
    pub(super) fn insert(&mut self, range: &Range<u64>) {
        let from = self.0.partition_point(|one| one.end < range.start);
        let to = self.0.partition_point(|one| one.start <= range.end);
        let mut merged = range.clone();
        if from < to {
            merged.start = merged.start.min(self.0[from].start);
            merged.end = merged.end.max(self.0[to - 1].end);
        }
        self.0.splice(from..to, [merged]);
    }

    pub(super) fn remove(&mut self, range: &Range<u64>) {
        let from = self.0.partition_point(|one| one.end <= range.start);
        let to = self.0.partition_point(|one| one.start < range.end);
        if from >= to {
            return;
        }
        let left = self.0[from].start..range.start;
        let right = range.end..self.0[to - 1].end;
        self.0.splice(from..to, [left, right].into_iter().filter(|one| !one.is_empty()));
    }

    pub(super) fn contains(&self, number: u64) -> bool {
        let at = self.0.partition_point(|one| one.end <= number);
        self.0.get(at).is_some_and(|one| one.contains(&number))
    }

    /// The first number from this one on that is not in the set.
    pub(super) fn first_missing(&self, from: u64) -> u64 {
        let at = self.0.partition_point(|one| one.end <= from);
        self.0.get(at).filter(|one| one.contains(&from)).map_or(from, |one| one.end)
    }

    pub(super) fn as_slice(&self) -> &[Range<u64>] {
        &self.0
    }

    pub(super) fn first(&self) -> Option<&Range<u64>> {
        self.0.first()
    }

    pub(super) fn last(&self) -> Option<&Range<u64>> {
        self.0.last()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ranges_are_a_set(steps in prop::collection::vec((any::<bool>(), 0..60_u64, 1..9_u64), 0..40)) {
            let (mut ranges, mut set) = (Ranges::default(), BTreeSet::new());
            for (is_in, start, len) in steps {
                let range = start..start + len;
                match is_in {
                    true => {
                        ranges.insert(&range);
                        set.extend(range);
                    }
                    false => {
                        ranges.remove(&range);
                        set.retain(|number| !range.contains(number));
                    }
                }
                prop_assert!(ranges.as_slice().windows(2).all(|two| two[0].end < two[1].start));
                prop_assert!((0..70).all(|number| ranges.contains(number) == set.contains(&number)));
                let missing = |from: u64| (from..).find(|number| !set.contains(number));
                prop_assert!((0..70).all(|from| Some(ranges.first_missing(from)) == missing(from)));
            }
        }
    }
}
