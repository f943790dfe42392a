//! Sets of clocks: for each client, ranges that do not touch.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::reader::Id;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Ranges {
    /// The clock after the last one of each range, by client and first clock.
    ends: BTreeMap<(u64, u64), u64>,
}

impl Ranges {
    /// The number of ranges.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Adds the clocks from `first` up to, and without, `end`.
    pub(crate) fn insert(&mut self, first: Id, end: u64) {
        let Id { client, clock } = first;
        let (mut start, mut end) = (clock, end);
        if start >= end {
            return;
        }
        if let Some((&(before, at), &until)) = self.ends.range(..=(client, start)).next_back()
            && before == client
            && until >= start
        {
            (start, end) = (at, end.max(until));
        }
        while let Some((&next, &until)) = self.ends.range((client, start)..=(client, end)).next() {
            end = end.max(until);
            self.ends.remove(&next);
        }
        self.ends.insert((client, start), end);
    }

    /// The clock up to which the set has all clocks of a client, from 0 on.
    pub(crate) fn up_to(&self, client: u64) -> u64 {
        self.ends.get(&(client, 0)).copied().unwrap_or(0)
    }

    /// The clients whose clock 0 is in the set, with the clock up to which all are.
    pub(crate) fn all_from_zero(&self) -> impl Iterator<Item = (u64, u64)> {
        let from_zero = self.ends.iter().filter(|((_, start), _)| *start == 0);
        from_zero.map(|(&(client, _), &end)| (client, end))
    }

    /// Whether the set has all clocks from `first` up to `end`.
    pub(crate) fn covers(&self, first: Id, end: u64) -> bool {
        let before = self.ends.range(..=(first.client, first.clock)).next_back();
        before.is_some_and(|(&(client, _), &until)| client == first.client && until >= end)
    }

    /// Adds to `missing` the ranges of clocks from `first` up to `end` that the set does not have.
    pub(crate) fn missing(&self, first: Id, end: u64, missing: &mut Vec<(u64, u64)>) {
        let Id { client, clock } = first;
        let mut at = clock;
        if let Some((&(before, _), &until)) = self.ends.range(..=(client, clock)).next_back()
            && before == client
        {
            at = at.max(until);
        }
        while at < end {
            let next = self.ends.range((client, at)..(client, end)).next();
            let (start, until) = next.map_or((end, end), |(&(_, start), &until)| (start, until));
            if start > at {
                missing.push((at, start));
            }
            at = until;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: u64 = 24;

    fn id(client: u64, clock: u64) -> Id {
        Id { client, clock }
    }

    /// The ranges hold the same numbers as a set.
    #[test]
    fn ranges_are_what_was_inserted() {
        let mut random = oorandom::Rand32::new(5);
        for _ in 0..300 {
            let mut ranges = Ranges::default();
            let mut there = [[false; MOST as usize]; 3];
            for _ in 0..12 {
                let client = random.rand_range(0..3);
                let start = random.rand_range(0..MOST as u32);
                let end = random.rand_range(start..MOST as u32 + 1);
                ranges.insert(id(client.into(), start.into()), end.into());
                there[client as usize][start as usize..end as usize].fill(true);
            }
            for (client, there) in there.iter().enumerate() {
                let client = client as u64;
                let up_to = there.iter().take_while(|is| **is).count() as u64;
                assert_eq!(ranges.up_to(client), up_to);
                assert_eq!(
                    ranges.all_from_zero().find(|one| one.0 == client).map_or(0, |one| one.1),
                    up_to
                );
                for start in 0..MOST {
                    for end in start + 1..=MOST {
                        let part = &there[start as usize..end as usize];
                        assert_eq!(
                            ranges.covers(id(client, start), end),
                            part.iter().all(|is| *is)
                        );
                        let mut missing = Vec::new();
                        ranges.missing(id(client, start), end, &mut missing);
                        let mut found = there.map(|_| false);
                        missing
                            .iter()
                            .for_each(|(from, to)| found[*from as usize..*to as usize].fill(true));
                        for clock in start..end {
                            assert_eq!(found[clock as usize], !there[clock as usize]);
                        }
                        assert!(missing.windows(2).all(|pair| pair[0].1 < pair[1].0));
                    }
                }
            }
            let alone = ranges.ends.iter().zip(ranges.ends.iter().skip(1));
            assert!(
                alone.clone().all(|(a, b)| a.0.0 != b.0.0 || *a.1 < b.0.1),
                "they do not touch"
            );
        }
    }
}
