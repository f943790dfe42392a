//! Encodes the datagrams of a fan-out group: each payload is encoded once, and the server sends the
//! same bytes to all receivers of the group (wire W70).

use alloc::vec::Vec;
use core::ops::Range;

use groupwire_gmc as gmc;

use super::coder::group_config;
use super::encoder::records;
use crate::wire::numbering::Numbering;
use crate::wire::record::{Direction, FIELDS, Record};

/// Collects records and encodes them with gmc for the receivers of a fan-out group.
pub(crate) struct GroupEncoder {
    pub(crate) coder: gmc::Encoder,
    fields: Vec<[u32; FIELDS]>,
    /// The end of each record's content in `contents`.
    ends: Vec<usize>,
    contents: Vec<u8>,
}

/// One coded packet of a fan-out group.
pub(crate) struct Coded {
    /// The number that gmc gave the packet.
    pub(crate) number: u32,
    /// The gmc packet.
    pub(crate) body: Vec<u8>,
    /// The records in the packet, as indices into the collected records in the order of
    /// [`GroupEncoder::push`].
    pub(crate) records: Range<usize>,
}

impl GroupEncoder {
    pub(crate) fn new() -> Self {
        let coder = gmc::Encoder::new(group_config());
        GroupEncoder { coder, fields: Vec::new(), ends: Vec::new(), contents: Vec::new() }
    }

    pub(crate) fn push(&mut self, record: &Record<'_>) {
        let numbering = &mut Numbering::absolute();
        let fields = record.write(Direction::ToClient, numbering, &mut self.contents);
        self.fields.push(fields);
        self.ends.push(self.contents.len());
    }

    /// Encodes the collected records into packets of at most `max` bytes. If a packet would be too
    /// large, its records are divided between two packets. A single record that is too large for a
    /// packet, or that gmc refuses, is left out.
    pub(crate) fn finish(&mut self, max: usize) -> Vec<Coded> {
        let mut made = Vec::new();
        // Ranges of records that are still to be coded. The first one is at the end, where `pop`
        // takes it.
        let mut parts = Vec::new();
        let count = self.fields.len();
        let starts = (0..count).step_by(MAX_PER_DATAGRAM);
        parts.extend(starts.rev().map(|start| start..count.min(start + MAX_PER_DATAGRAM)));
        while let Some(part) = parts.pop() {
            let mut payload = Vec::new();
            let batch = records(&self.fields, &self.ends, &self.contents, part.clone());
            let fits = self.coder.encode_packet_within(batch, max, &mut payload);
            if fits.unwrap_or(false) {
                made.push(Coded { number: self.coder.newest(), body: payload, records: part });
            } else if part.len() > 1 {
                let middle = part.start + part.len() / 2;
                parts.push(middle..part.end);
                parts.push(part.start..middle);
            }
        }
        self.fields.clear();
        self.ends.clear();
        self.contents.clear();
        made
    }
}

/// The most records in a datagram. The limit bounds how many records are lost with one datagram.
const MAX_PER_DATAGRAM: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{ChannelNo, Counter, Index, ParticipantId};
    use crate::wire::coding::Coding;
    use crate::wire::record::Number;
    use core::time::Duration;

    fn record(index: u32, bytes: &[u8]) -> Record<'_> {
        Record {
            channel: ChannelNo(1),
            sender: ParticipantId(1),
            number: Number::Awareness { index: Index(index), after: Counter(0) },
            own: false,
            piece: crate::wire::piece::Piece::Whole,
            state: false,
            age: Duration::ZERO,
            text: false,
            key: None,
            priority: None,
            departed: None,
            to: None,
            bytes,
            packed: None,
            coding: Coding::Shared,
        }
    }

    #[test]
    fn a_record_that_cannot_be_coded_is_left_out_alone() {
        let mut encoder = GroupEncoder::new();
        // The second message is larger than gmc accepts. The fourth one compresses well, so that it
        // may or may not fit.
        let sizes = [4, group_config().max_message + 1, 4, 1200, 4];
        let messages = sizes.map(|size| alloc::vec![7u8; size]);
        for (index, message) in (1..).zip(&messages) {
            encoder.push(&record(index, message));
        }
        let made = encoder.finish(900);
        let coded: Vec<usize> = made.into_iter().flat_map(|one| one.records).collect();
        assert!(coded == [0, 2, 4] || coded == [0, 2, 3, 4], "{coded:?}");
        encoder.push(&record(9, b"next"));
        let made = encoder.finish(900);
        assert_eq!(made.len(), 1);
        assert_eq!(made[0].records, 0..1);
    }
}
