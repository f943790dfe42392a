//! The numbers that records skip rather than repeat (wire.md W21 to W24).

use alloc::vec::Vec;

use crate::Error;
use crate::map::Map;

/// More (channel, sender) pairs than any room has; a peer that names more is growing our memory.
const MAX_PAIRS: usize = 1 << 18;

/// The last numbers seen in one direction of one transport. Both ends keep one, and every change of it
/// follows from octets on the wire, so the two stay equal.
#[derive(Debug, Default)]
pub(crate) struct Numbering {
    /// By sender and channel.
    index: Map<(u32, u32), u32>,
    counter: Map<u32, u32>,
    position: u64,
    /// W39, W81: on datagrams there is no last number that both ends know of; numbers stand as they are.
    absolute: bool,
}

impl Numbering {
    /// `sender`'s transactions count from `counter`, positions from `position`.
    pub(crate) fn new(sender: u32, counter: u32, position: u64) -> Self {
        let mut numbering = Numbering { position, ..Numbering::default() };
        numbering.counter.insert(sender, counter);
        numbering
    }

    /// For datagrams (W39).
    pub(crate) fn absolute() -> Self {
        Numbering { absolute: true, ..Numbering::default() }
    }

    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// POSITION, GAP or SNAPSHOT moved the log on.
    pub(crate) fn advance(&mut self, position: u64) {
        self.position = position;
    }

    /// `sender`'s transactions up to `counter` came another way.
    pub(crate) fn counted(&mut self, sender: u32, counter: u32) {
        self.counter.insert(sender, counter);
    }

    /// What is held of senders and channels.
    pub(crate) fn pairs(&self) -> usize {
        self.index.len() + self.counter.len()
    }

    /// A participant left for good.
    pub(crate) fn forget(&mut self, sender: u32) {
        let channels = self.index.from((sender, 0)).map(|(pair, _)| *pair);
        let channels: Vec<_> = channels.take_while(|&(other, _)| other == sender).collect();
        channels.iter().for_each(|pair| _ = self.index.remove(pair));
        self.counter.remove(&sender);
    }

    pub(crate) fn index_to_gap(&mut self, channel: u32, sender: u32, index: u32) -> u32 {
        if self.absolute {
            return index;
        }
        let last = self.index.insert((sender, channel), index).unwrap_or(0);
        index.wrapping_sub(last).wrapping_sub(1)
    }

    pub(crate) fn gap_to_index(
        &mut self,
        channel: u32,
        sender: u32,
        gap: u32,
    ) -> Result<u32, Error> {
        if self.absolute {
            return Ok(gap);
        }
        if self.index.len() >= MAX_PAIRS && !self.index.contains_key(&(sender, channel)) {
            return Err(Error::TooMany { what: "channels times senders", limit: MAX_PAIRS });
        }
        let last = self.index.or_insert((sender, channel), 0);
        *last = last.wrapping_add(gap).wrapping_add(1);
        Ok(*last)
    }

    pub(crate) fn counter_to_gap(&mut self, sender: u32, counter: u32) -> u32 {
        if self.absolute {
            return counter;
        }
        let last = self.counter.insert(sender, counter).unwrap_or(0);
        counter.wrapping_sub(last).wrapping_sub(1)
    }

    pub(crate) fn gap_to_counter(&mut self, sender: u32, gap: u32) -> Result<u32, Error> {
        if self.absolute {
            return Ok(gap);
        }
        let last = self.known_counter(sender)?;
        *last = last.wrapping_add(gap).wrapping_add(1);
        Ok(*last)
    }

    /// W24: the difference to the last counter known, zigzag.
    pub(crate) fn after_to_stamp(&mut self, sender: u32, after: u32) -> u32 {
        if self.absolute {
            return after;
        }
        let last = self.counter.insert(sender, after).unwrap_or(0);
        let difference = after.wrapping_sub(last) as i32;
        ((difference << 1) ^ (difference >> 31)) as u32
    }

    pub(crate) fn stamp_to_after(&mut self, sender: u32, stamp: u32) -> Result<u32, Error> {
        if self.absolute {
            return Ok(stamp);
        }
        let difference = (stamp >> 1) ^ (stamp & 1).wrapping_neg();
        let last = self.known_counter(sender)?;
        *last = last.wrapping_add(difference);
        Ok(*last)
    }

    pub(crate) fn position_to_stamp(&mut self, position: u64) -> u32 {
        if self.absolute {
            return u32::try_from(position).unwrap_or(u32::MAX);
        }
        let skipped = position.saturating_sub(self.position).saturating_sub(1);
        self.position = position;
        u32::try_from(skipped).unwrap_or(u32::MAX)
    }

    pub(crate) fn stamp_to_position(&mut self, stamp: u32) -> Result<u64, Error> {
        if self.absolute {
            return Ok(u64::from(stamp));
        }
        let position = self.position.checked_add(u64::from(stamp) + 1);
        self.position = position.ok_or(Error::malformed("position"))?;
        Ok(self.position)
    }

    fn known_counter(&mut self, sender: u32) -> Result<&mut u32, Error> {
        if self.counter.len() >= MAX_PAIRS && !self.counter.contains_key(&sender) {
            return Err(Error::TooMany { what: "senders", limit: MAX_PAIRS });
        }
        Ok(self.counter.or_insert(sender, 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_ends_stay_equal(steps: Vec<(u8, u8, u32)>) {
            let (mut here, mut there) = (Numbering::new(1, 5, 9), Numbering::new(1, 5, 9));
            for (channel, sender, value) in steps {
                let (channel, sender) = (u32::from(channel % 4), u32::from(sender % 4));
                match value % 4 {
                    0 => {
                        let gap = here.index_to_gap(channel, sender, value);
                        prop_assert_eq!(there.gap_to_index(channel, sender, gap), Ok(value));
                    }
                    1 => {
                        let gap = here.counter_to_gap(sender, value);
                        prop_assert_eq!(there.gap_to_counter(sender, gap), Ok(value));
                    }
                    2 => {
                        let stamp = here.after_to_stamp(sender, value);
                        prop_assert_eq!(there.stamp_to_after(sender, stamp), Ok(value));
                    }
                    _ => {
                        let position = here.position() + 1 + u64::from(value % 1000);
                        let stamp = here.position_to_stamp(position);
                        prop_assert_eq!(there.stamp_to_position(stamp), Ok(position));
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_expected_costs_zero() {
        let mut numbering = Numbering::new(0, 7, 0);
        assert_eq!(numbering.counter_to_gap(0, 8), 0);
        assert_eq!(numbering.after_to_stamp(0, 8), 0);
        assert_eq!(numbering.index_to_gap(3, 0, 1), 0);
        assert_eq!(numbering.position_to_stamp(1), 0);
    }
}
