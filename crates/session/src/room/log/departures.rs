//! The participants whose departure the room has to write into channels that record departures:
//! they have sent transactions there and not left since (wire W113).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::wire::io::{Reader, Write};
use crate::{ChannelNo, Error, ParticipantId};

/// By participant, the channels with a transaction of it after its last entry. It holds no more
/// than the log took transactions from participants that are here or away.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Departures {
    authors: BTreeMap<ParticipantId, BTreeSet<ChannelNo>>,
}

impl Departures {
    /// A participant sent a transaction on a channel that records departures.
    pub(super) fn note(&mut self, author: ParticipantId, channel: ChannelNo) {
        self.authors.entry(author).or_default().insert(channel);
    }

    /// Removes and returns the channels that need an entry that this participant left.
    pub(super) fn take(&mut self, author: ParticipantId) -> BTreeSet<ChannelNo> {
        self.authors.remove(&author).unwrap_or_default()
    }

    /// The channel has an entry that this participant left.
    pub(super) fn written(&mut self, author: ParticipantId, channel: ChannelNo) {
        if let Some(channels) = self.authors.get_mut(&author) {
            channels.remove(&channel);
            if channels.is_empty() {
                self.authors.remove(&author);
            }
        }
    }

    pub(super) fn authors(&self) -> impl Iterator<Item = ParticipantId> {
        self.authors.keys().copied()
    }

    pub(super) fn channels(&self) -> impl Iterator<Item = ChannelNo> {
        self.authors.values().flatten().copied()
    }

    /// The authors as a store keeps them.
    ///
    /// ```text
    /// departures = (participant:varint channel:varint)*
    /// ```
    pub(super) fn stored(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (author, channels) in &self.authors {
            for channel in channels {
                bytes.varint((*author).into());
                bytes.varint((*channel).into());
            }
        }
        bytes
    }

    /// Reads what [`Departures::stored`] wrote.
    pub(super) fn restore(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut reader = Reader::new(bytes, "stored departures");
        while !reader.is_empty() {
            let author = ParticipantId(reader.varint_u32()?);
            self.note(author, ChannelNo(reader.varint_u32()?));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w113_who_has_to_be_told_survives_the_store() {
        let mut before = Departures::default();
        for (author, channel) in [(3, 1), (3, 200), (700, 1)] {
            before.note(ParticipantId(author), ChannelNo(channel));
        }
        let stored = before.stored();
        let mut after = Departures::default();
        after.restore(&stored).unwrap();
        assert_eq!(after, before);
        assert!(Departures::default().restore(&stored[..stored.len() - 1]).is_err());
        after.written(ParticipantId(3), ChannelNo(1));
        after.written(ParticipantId(9), ChannelNo(1));
        assert_eq!(after.take(ParticipantId(3)), [ChannelNo(200)].into());
        after.written(ParticipantId(700), ChannelNo(1));
        assert_eq!(after, Departures::default());
    }
}
