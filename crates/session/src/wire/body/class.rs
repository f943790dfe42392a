//! Bodies of datagrams for a class of receivers (wire.md W70): coded once, the same octets for all.

use alloc::vec::Vec;
use core::ops::Range;

use groupwire_gmc as gmc;

use super::encoder::records;
use crate::limits::MAX_RECORDS;
use crate::wire::numbering::Numbering;
use crate::wire::record::{Direction, FIELDS, Record};

/// W70: part of what the capability means, so it is the same everywhere. Twice the memory of a private model, as what
/// waits until everybody has acknowledged it takes a quarter: with ten people's pointers this is worth half an octet a
/// message, and twice as much again next to nothing.
pub(crate) fn class_config() -> gmc::Config {
    gmc::Config {
        delivery: gmc::Delivery::Room,
        memory: 128 << 10,
        fields: FIELDS,
        max_message: 65_536,
        max_messages_per_packet: MAX_RECORDS,
        // A datagram that comes late could be taken for another one.
        check: true,
        ..gmc::Config::default()
    }
}

/// Collects records and codes them for a class.
pub(crate) struct ClassEncoder {
    pub(crate) coder: gmc::Encoder,
    fields: Vec<[u32; FIELDS]>,
    ends: Vec<usize>,
    payloads: Vec<u8>,
}

/// One coded packet of a class.
pub(crate) struct Coded {
    /// Its gmc packet number.
    pub(crate) number: u32,
    pub(crate) body: Vec<u8>,
    /// Which of the records that were collected it holds.
    pub(crate) records: Range<usize>,
}

impl ClassEncoder {
    pub(crate) fn new() -> Self {
        let coder = gmc::Encoder::new(class_config());
        ClassEncoder { coder, fields: Vec::new(), ends: Vec::new(), payloads: Vec::new() }
    }

    pub(crate) fn push(&mut self, record: &Record<'_>) {
        let numbering = &mut Numbering::absolute();
        let fields = record.write(Direction::ToClient, numbering, &mut self.payloads);
        self.fields.push(fields);
        self.ends.push(self.payloads.len());
    }

    /// Codes what was collected into as few packets of at most `max` octets as it takes. A record that fits none, or cannot
    /// be coded, is left out.
    pub(crate) fn finish(&mut self, max: usize) -> Vec<Coded> {
        let mut made = Vec::new();
        // Parts to try, the first on top.
        let mut parts = Vec::new();
        let count = self.fields.len();
        let starts = (0..count).step_by(MAX_PER_DATAGRAM);
        parts.extend(starts.rev().map(|start| start..count.min(start + MAX_PER_DATAGRAM)));
        while let Some(part) = parts.pop() {
            let mut body = Vec::new();
            let batch = records(&self.fields, &self.ends, &self.payloads, part.clone());
            let fits = self.coder.encode_packet_within(batch, max, &mut body);
            if fits.unwrap_or(false) {
                made.push(Coded { number: self.coder.newest(), body, records: part });
            } else if part.len() > 1 {
                let middle = part.start + part.len() / 2;
                parts.push(middle..part.end);
                parts.push(part.start..middle);
            }
        }
        self.fields.clear();
        self.ends.clear();
        self.payloads.clear();
        made
    }
}

/// Records in a datagram, at most: more would be lost together.
const MAX_PER_DATAGRAM: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{ChannelNo, Counter, Index, ParticipantId};
    use crate::wire::body::Coding;
    use crate::wire::record::Number;
    use core::time::Duration;

    fn record(index: u32, bytes: &[u8]) -> Record<'_> {
        Record {
            channel: ChannelNo(1),
            sender: ParticipantId(1),
            number: Number::Awareness { index: Index(index), after: Counter(0) },
            own: false,
            state: false,
            age: Duration::ZERO,
            text: false,
            key: None,
            priority: None,
            bytes,
            packed: None,
            coding: Coding::Shared,
        }
    }

    #[test]
    fn what_cannot_be_coded_costs_only_itself() {
        let mut encoder = ClassEncoder::new();
        // Larger than gmc takes, and larger than the packet.
        let sizes = [4, class_config().max_message + 1, 4, 1200, 4];
        let messages = sizes.map(|size| alloc::vec![7u8; size]);
        for (index, message) in (1..).zip(&messages) {
            encoder.push(&record(index, message));
        }
        let made = encoder.finish(900);
        let went: Vec<usize> = made.into_iter().flat_map(|one| one.records).collect();
        assert!(went == [0, 2, 4] || went == [0, 2, 3, 4], "{went:?}");
        encoder.push(&record(9, b"next"));
        let made = encoder.finish(900);
        assert_eq!(made.len(), 1);
        assert_eq!(made[0].records, 0..1);
    }
}
