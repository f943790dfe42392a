//! Converts counters, indices and positions to differences from the previous numbers, which records
//! contain because they are small, and back (wire W21 to W24).

use alloc::vec::Vec;

use crate::Error;
use crate::ids::{ChannelNo, Counter, Index, ParticipantId, Position};
use crate::map::Map;

/// The most indices, and the most counters, that a decoder keeps. No real room needs that number;
/// the limit bounds the memory that a hostile peer can make this end use (law 3 in docs/laws.md).
const MAX_PAIRS: usize = 1 << 18;

/// The last counters, indices and position in one direction of one transport. The sender and the
/// receiver each keep a `Numbering` and change it only for what is sent in this direction, so that
/// the two stay equal.
#[derive(Debug, Default)]
pub(crate) struct Numbering {
    /// The last index of each sender on each channel.
    index: Map<(ParticipantId, ChannelNo), Index>,
    /// The last counter of each sender.
    counter: Map<ParticipantId, Counter>,
    position: Position,
    /// True on datagrams. They can be lost, so that the two ends may not know the same last number.
    /// Records in datagrams therefore contain the numbers themselves instead of differences (wire
    /// W39, W81).
    absolute: bool,
}

impl Numbering {
    /// Creates the numbering of a stream. The last counter of `sender` is `counter`, the last
    /// position is `position`, and all other last numbers are 0.
    pub(crate) fn new(sender: ParticipantId, counter: Counter, position: Position) -> Self {
        let mut numbering = Numbering { position, ..Numbering::default() };
        numbering.counter.insert(sender, counter);
        numbering
    }

    /// Creates the numbering of datagrams, whose records contain the numbers themselves (wire W39).
    pub(crate) fn absolute() -> Self {
        Numbering { absolute: true, ..Numbering::default() }
    }

    pub(crate) fn position(&self) -> Position {
        self.position
    }

    /// Sets the last position, after a POSITION frame.
    pub(crate) fn advance(&mut self, position: Position) {
        self.position = position;
    }

    /// The number of indices and counters that are kept.
    pub(crate) fn pairs(&self) -> usize {
        self.index.len() + self.counter.len()
    }

    /// Removes the last numbers of a participant that has left.
    pub(crate) fn forget(&mut self, sender: ParticipantId) {
        let channels = self.index.from((sender, ChannelNo(0))).map(|(pair, _)| *pair);
        let channels: Vec<_> = channels.take_while(|&(other, _)| other == sender).collect();
        channels.iter().for_each(|pair| _ = self.index.remove(pair));
        self.counter.remove(&sender);
    }

    /// Returns the value of the field `gap` for an awareness message with this index.
    pub(crate) fn index_to_gap(
        &mut self,
        channel: ChannelNo,
        sender: ParticipantId,
        index: Index,
    ) -> u32 {
        if self.absolute {
            return index.get();
        }
        let last = self.index.insert((sender, channel), index).unwrap_or_default();
        index.get().wrapping_sub(last.get()).wrapping_sub(1)
    }

    /// Returns the index of an awareness message whose field `gap` is `gap`.
    pub(crate) fn gap_to_index(
        &mut self,
        channel: ChannelNo,
        sender: ParticipantId,
        gap: u32,
    ) -> Result<Index, Error> {
        if self.absolute {
            return Ok(Index(gap));
        }
        if self.index.len() >= MAX_PAIRS && !self.index.contains_key(&(sender, channel)) {
            return Err(Error::TooMany { what: "channels times senders", limit: MAX_PAIRS });
        }
        let last = self.index.or_insert((sender, channel), Index(0));
        *last = Index(last.get().wrapping_add(gap).wrapping_add(1));
        Ok(*last)
    }

    /// Returns the value of the field `gap` for a transaction with this counter.
    pub(crate) fn counter_to_gap(&mut self, sender: ParticipantId, counter: Counter) -> u32 {
        if self.absolute {
            return counter.get();
        }
        let last = self.counter.insert(sender, counter).unwrap_or_default();
        counter.get().wrapping_sub(last.get()).wrapping_sub(1)
    }

    /// Returns the counter of a transaction whose field `gap` is `gap`.
    pub(crate) fn gap_to_counter(
        &mut self,
        sender: ParticipantId,
        gap: u32,
    ) -> Result<Counter, Error> {
        if self.absolute {
            return Ok(Counter(gap));
        }
        let last = self.known_counter(sender)?;
        *last = Counter(last.get().wrapping_add(gap).wrapping_add(1));
        Ok(*last)
    }

    /// Returns the value of the field `stamp` for an awareness message. `after` is the counter of
    /// the last transaction that its sender sent before it. The value is `after` minus the sender's
    /// last counter, in zigzag form (wire W24).
    pub(crate) fn after_to_stamp(&mut self, sender: ParticipantId, after: Counter) -> u32 {
        if self.absolute {
            return after.get();
        }
        let last = self.counter.insert(sender, after).unwrap_or_default();
        let difference = after.get().wrapping_sub(last.get()) as i32;
        ((difference << 1) ^ (difference >> 31)) as u32
    }

    /// Returns the counter of the last transaction that the sender sent before an awareness
    /// message, from the message's field `stamp` (wire W24).
    pub(crate) fn stamp_to_after(
        &mut self,
        sender: ParticipantId,
        stamp: u32,
    ) -> Result<Counter, Error> {
        if self.absolute {
            return Ok(Counter(stamp));
        }
        let difference = (stamp >> 1) ^ (stamp & 1).wrapping_neg();
        let last = self.known_counter(sender)?;
        *last = Counter(last.get().wrapping_add(difference));
        Ok(*last)
    }

    /// Returns the value of the field `stamp` for a transaction with this position (wire W23).
    pub(crate) fn position_to_stamp(&mut self, position: Position) -> u32 {
        if self.absolute {
            return u32::try_from(position.get()).unwrap_or(u32::MAX);
        }
        let skipped = position.get().saturating_sub(self.position.get()).saturating_sub(1);
        self.position = position;
        u32::try_from(skipped).unwrap_or(u32::MAX)
    }

    /// Returns the position of a transaction whose field `stamp` is `stamp` (wire W23).
    pub(crate) fn stamp_to_position(&mut self, stamp: u32) -> Result<Position, Error> {
        if self.absolute {
            return Ok(Position(u64::from(stamp)));
        }
        let position = self.position.get().checked_add(u64::from(stamp) + 1);
        self.position = Position(position.ok_or(Error::malformed("position"))?);
        Ok(self.position)
    }

    fn known_counter(&mut self, sender: ParticipantId) -> Result<&mut Counter, Error> {
        if self.counter.len() >= MAX_PAIRS && !self.counter.contains_key(&sender) {
            return Err(Error::TooMany { what: "senders", limit: MAX_PAIRS });
        }
        Ok(self.counter.or_insert(sender, Counter(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_ends_stay_equal(steps: Vec<(u8, u8, u32)>) {
            let new = || Numbering::new(ParticipantId(1), Counter(5), Position(9));
            let (mut here, mut there) = (new(), new());
            for (channel, sender, value) in steps {
                let channel = ChannelNo(u32::from(channel % 4));
                let sender = ParticipantId(u32::from(sender % 4));
                match value % 4 {
                    0 => {
                        let gap = here.index_to_gap(channel, sender, Index(value));
                        prop_assert_eq!(there.gap_to_index(channel, sender, gap), Ok(Index(value)));
                    }
                    1 => {
                        let gap = here.counter_to_gap(sender, Counter(value));
                        prop_assert_eq!(there.gap_to_counter(sender, gap), Ok(Counter(value)));
                    }
                    2 => {
                        let stamp = here.after_to_stamp(sender, Counter(value));
                        prop_assert_eq!(there.stamp_to_after(sender, stamp), Ok(Counter(value)));
                    }
                    _ => {
                        let position = Position(here.position().get() + 1 + u64::from(value % 1000));
                        let stamp = here.position_to_stamp(position);
                        prop_assert_eq!(there.stamp_to_position(stamp), Ok(position));
                    }
                }
            }
        }
    }

    #[test]
    fn the_numbers_that_follow_the_last_ones_are_coded_as_zero() {
        let mut numbering = Numbering::new(ParticipantId(0), Counter(7), Position(0));
        assert_eq!(numbering.counter_to_gap(ParticipantId(0), Counter(8)), 0);
        assert_eq!(numbering.after_to_stamp(ParticipantId(0), Counter(8)), 0);
        assert_eq!(numbering.index_to_gap(ChannelNo(3), ParticipantId(0), Index(1)), 0);
        assert_eq!(numbering.position_to_stamp(Position(1)), 0);
    }
}
