//! Bodies: many records as one unit, plain or coded by gmc (wire.md W26, W27).

use alloc::string::ToString;
use alloc::vec::Vec;

use groupwire_gmc as gmc;

use super::frame::{CODED_LAST, MESSAGES_LAST};
use super::io::{Reader, Write};
use super::numbering::Numbering;
use super::record::{self, Direction, FIELDS, Record};
use crate::limits::{MAX_RECORDS, MAX_UNPACKED, RECORD_OVERHEAD};
use crate::packing::Packing;
use crate::{Error, Kind};

/// Where bodies travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    /// All come, in order.
    Stream,
    /// Some are lost, repeated, overtaken (W39).
    Datagrams,
}

impl Lane {
    /// Part of what the capabilities mean, so it is the same everywhere (W27, W39).
    fn coder_config(self) -> gmc::Config {
        let is_ordered = self == Lane::Stream;
        gmc::Config {
            delivery: if is_ordered { gmc::Delivery::Ordered } else { gmc::Delivery::Datagrams },
            memory: 64 << 10,
            fields: FIELDS,
            max_message: 65_536,
            max_messages_per_packet: MAX_RECORDS,
            // A datagram that comes sixteen acknowledgements late could be taken for another one.
            check: !is_ordered,
            ..gmc::Config::default()
        }
    }
}

/// How the records of a body are coded, all of them in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Coding {
    /// By what they have in common, if both ends can (W27).
    #[default]
    Shared,
    /// Each by itself: packed, or as it is (W47). Nothing of one can be told from the length of another.
    Alone,
}

/// Collects records and writes them as the last frame of a packet.
pub(crate) struct BodyEncoder {
    lane: Lane,
    direction: Direction,
    pub(crate) numbering: Numbering,
    coded: bool,
    /// Of the records that are collected.
    coding: Coding,
    /// What the packed ones of them stand for.
    unpacked: usize,
    /// Made with the first body: an idle connection costs nothing.
    coder: Option<gmc::Encoder>,
    fields: Vec<[u32; FIELDS]>,
    ends: Vec<usize>,
    payloads: Vec<u8>,
}

impl BodyEncoder {
    pub(crate) fn new(direction: Direction, numbering: Numbering, coded: bool) -> Self {
        BodyEncoder {
            lane: Lane::Stream,
            direction,
            numbering,
            coded,
            coding: Coding::Shared,
            unpacked: 0,
            coder: None,
            fields: Vec::new(),
            ends: Vec::new(),
            payloads: Vec::new(),
        }
    }

    /// For datagrams.
    pub(crate) fn for_datagrams(direction: Direction, coded: bool) -> Self {
        let numbering = Numbering::absolute();
        BodyEncoder { lane: Lane::Datagrams, ..BodyEncoder::new(direction, numbering, coded) }
    }

    /// W40: the other end has these bodies. Nonsense is not used.
    pub(crate) fn acknowledge(&mut self, acknowledgement: &[u8]) {
        if let Some(coder) = &mut self.coder {
            let _ = coder.acknowledge(acknowledgement);
        }
    }

    /// Adds a record of the coding that [`BodyEncoder::takes`].
    pub(crate) fn push(&mut self, record: &Record<'_>) {
        self.coding = record.coding;
        if record.packed.is_some() {
            self.unpacked += record.bytes.len();
        }
        let fields = record.write(self.direction, &mut self.numbering, &mut self.payloads);
        self.fields.push(fields);
        self.ends.push(self.payloads.len());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Whether records of this coding can be added: a body is all of one.
    pub(crate) fn takes(&self, coding: Coding) -> bool {
        self.is_empty() || self.coding == coding
    }

    /// Whether a further record of `bytes` octets would still fit a packet with `room` octets left, even
    /// if nothing can be compressed.
    pub(crate) fn fits(&self, bytes: usize, room: usize) -> bool {
        let worst = self.payloads.len() + bytes + (self.fields.len() + 1) * WORST_HEADER;
        let unpacks = self.unpacked == 0 || self.unpacked + bytes <= MAX_UNPACKED;
        self.fields.len() < MAX_RECORDS && unpacks && worst + RECORD_OVERHEAD <= room
    }

    /// Whether a further record is worth trying to get into a datagram of `room` octets: how small it becomes is known
    /// only then.
    pub(crate) fn may_fit(&self, bytes: usize, room: usize) -> bool {
        self.fields.is_empty()
            || (self.fields.len() < MAX_PER_DATAGRAM
                && self.payloads.len() + bytes <= room * HOPED_FOR_RATIO)
    }

    /// Makes the body into as few datagrams as it takes, each of at most `max` octets; the first goes on after
    /// `start`.
    pub(crate) fn finish_datagrams(
        &mut self,
        start: Vec<u8>,
        max: usize,
    ) -> Result<Vec<Vec<u8>>, Error> {
        let mut made = Vec::new();
        let mut packet = start;
        // Halves to try, the first on top.
        let mut parts = Vec::new();
        parts.push(0..self.fields.len());
        while let Some(part) = parts.pop() {
            let before = packet.len();
            self.write(part.clone(), &mut packet)?;
            if packet.len() <= max {
                made.push(core::mem::take(&mut packet));
                continue;
            }
            // To the decoder the one that was too large is as good as lost.
            packet.truncate(before);
            match part.len() {
                0 | 1 if before == 0 => {}
                0 | 1 => {
                    made.push(core::mem::take(&mut packet));
                    parts.push(part);
                }
                len => {
                    let middle = part.start + len / 2;
                    parts.push(middle..part.end);
                    parts.push(part.start..middle);
                }
            }
        }
        self.clear();
        Ok(made)
    }

    /// Appends the body as the last frame.
    pub(crate) fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.write(0..self.fields.len(), out)?;
        self.clear();
        Ok(())
    }

    fn write(&mut self, part: core::ops::Range<usize>, out: &mut Vec<u8>) -> Result<(), Error> {
        let mut start = part.start.checked_sub(1).map_or(0, |before| self.ends[before]);
        let records =
            self.fields[part.clone()].iter().zip(&self.ends[part]).map(|(fields, &end)| {
                let bytes = &self.payloads[core::mem::replace(&mut start, end)..end];
                gmc::Message { fields, bytes }
            });
        match self.coded && self.coding == Coding::Shared {
            true => {
                out.u8(CODED_LAST);
                self.coder
                    .get_or_insert_with(|| gmc::Encoder::new(self.lane.coder_config()))
                    .encode_packet(records, out)
                    .map_err(|error| Error::Compression { why: error.to_string() })?;
            }
            false => {
                out.u8(MESSAGES_LAST);
                for record in records {
                    record.fields.iter().for_each(|&field| out.varint(u64::from(field)));
                    out.bytes(record.bytes);
                }
            }
        }
        Ok(())
    }

    fn clear(&mut self) {
        self.fields.clear();
        self.ends.clear();
        self.payloads.clear();
        self.unpacked = 0;
    }
}

/// Records in a datagram, at most: more would be lost together.
const MAX_PER_DATAGRAM: usize = 64;

/// Octets of messages tried for each octet of a datagram. gmc makes JSON 15 to 30 times smaller; more than this is worth little, as
/// headers are then shared by many.
const HOPED_FOR_RATIO: usize = 8;

/// Six varints of 32 bits and a length.
const WORST_HEADER: usize = FIELDS * 5 + 5;

/// Reads bodies.
pub(crate) struct BodyDecoder {
    lane: Lane,
    direction: Direction,
    pub(crate) numbering: Numbering,
    coded: bool,
    /// Made with the first coded body.
    coder: Option<gmc::Decoder>,
    max_message: usize,
}

impl BodyDecoder {
    pub(crate) fn new(
        direction: Direction,
        numbering: Numbering,
        coded: bool,
        max_message: usize,
    ) -> Self {
        BodyDecoder { lane: Lane::Stream, direction, numbering, coded, coder: None, max_message }
    }

    /// For datagrams.
    pub(crate) fn for_datagrams(direction: Direction, coded: bool, max_message: usize) -> Self {
        let numbering = Numbering::absolute();
        let decoder = BodyDecoder::new(direction, numbering, coded, max_message);
        BodyDecoder { lane: Lane::Datagrams, ..decoder }
    }

    /// W40: what came, for the other end's [`BodyEncoder::acknowledge`]. Empty as long as no coded body came.
    pub(crate) fn acknowledge(&mut self, out: &mut Vec<u8>) {
        if let Some(coder) = &mut self.coder {
            coder.acknowledge(out);
        }
    }

    /// Calls `each` for every record of a plain body, unpacked, until one fails.
    pub(crate) fn plain(
        &mut self,
        body: &[u8],
        packing: &mut Packing,
        kind_of: impl Fn(u32) -> Result<Kind, Error>,
        mut each: impl FnMut(Record<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut reader = Reader::new(body, "MESSAGES");
        let mut count = 0;
        let mut unpacked = 0;
        while !reader.is_empty() {
            count += 1;
            if count > MAX_RECORDS {
                return Err(Error::TooMany { what: "records in a body", limit: MAX_RECORDS });
            }
            let mut fields = [0; FIELDS];
            for field in &mut fields {
                *field = reader.varint_u32()?;
            }
            let payload = reader.bytes(self.max_message + RECORD_OVERHEAD, "message")?;
            if !record::is_packed(&fields) {
                each(self.read(fields, payload, &kind_of, self.max_message, None)?)?;
                continue;
            }
            // W48: beyond what all of a body may stand for, a message is too large.
            let limit = self.max_message.min(MAX_UNPACKED - unpacked);
            let record = self.read(fields, payload, &kind_of, limit, Some(&mut *packing))?;
            unpacked += record.bytes.len();
            each(record)?;
        }
        Ok(())
    }

    /// The same for a coded body.
    pub(crate) fn coded(
        &mut self,
        body: &[u8],
        kind_of: impl Fn(u32) -> Result<Kind, Error>,
        mut each: impl FnMut(Record<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if !self.coded {
            return Err(Error::malformed("CODED: it was not agreed on"));
        }
        let mut coder =
            self.coder.take().unwrap_or_else(|| gmc::Decoder::new(self.lane.coder_config()));
        let mut outcome = Ok(());
        let decoded = coder.decode_packet(body, |message| {
            if outcome.is_ok() {
                outcome = match message.fields.try_into() {
                    Ok(fields) => self
                        .read(fields, message.bytes, &kind_of, self.max_message, None)
                        .and_then(|record| each(Record { coding: Coding::Shared, ..record })),
                    Err(_) => Err(Error::malformed("CODED")),
                };
            }
        });
        self.coder = Some(coder);
        decoded.map_err(|error| Error::Compression { why: error.to_string() })?;
        outcome
    }

    fn read<'a>(
        &mut self,
        fields: [u32; FIELDS],
        payload: &'a [u8],
        kind_of: &impl Fn(u32) -> Result<Kind, Error>,
        max_message: usize,
        packing: Option<&'a mut Packing>,
    ) -> Result<Record<'a>, Error> {
        // An own transaction settles what waits here, whether its channel is open on this transport or not.
        let kind = match self.direction == Direction::ToClient && record::is_own(&fields) {
            true => Kind::Transaction,
            false => kind_of(fields[0])?,
        };
        let numbering = &mut self.numbering;
        record::read(fields, payload, kind, self.direction, numbering, max_message, packing)
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::Number;
    use super::*;
    use alloc::vec;
    use core::time::Duration;
    use groupwire_codecs::{ALL, Costs};
    use proptest::prelude::*;

    fn kind_of(channel: u32) -> Result<Kind, Error> {
        Ok(if channel.is_multiple_of(2) { Kind::Awareness } else { Kind::Transaction })
    }

    type Parts = (u32, u32, u32, Option<Vec<u8>>, Option<u8>, Vec<u8>);

    fn arbitrary_record() -> impl Strategy<Value = Parts> {
        (
            0..5u32,
            0..4u32,
            any::<u32>(),
            proptest::option::of(proptest::collection::vec(any::<u8>(), 0..20)),
            any::<Option<u8>>(),
            proptest::collection::vec(any::<u8>(), 0..200),
        )
    }

    proptest! {
        #[test]
        fn bodies_round_trip(
            coded: bool,
            shared: bool,
            packets in proptest::collection::vec(proptest::collection::vec(arbitrary_record(), 0..12), 1..6),
        ) {
            let numbering = || Numbering::new(1, 0, 0);
            let mut encoder = BodyEncoder::new(Direction::ToClient, numbering(), coded);
            let mut decoder = BodyDecoder::new(Direction::ToClient, numbering(), coded, 1000);
            let coding = if shared { Coding::Shared } else { Coding::Alone };
            let (mut packs, mut packing) = (Packing::new(ALL, Costs::reference()), Packing::new(ALL, Costs::reference()));
            let mut position = 0;
            for packet in packets {
                let mut sent = Vec::new();
                for (channel, sender, number, key, priority, bytes) in &packet {
                    position += 1 + u64::from(number % 3);
                    let number = match kind_of(*channel) {
                        Ok(Kind::Awareness) => Number::Awareness { index: *number, after: *number ^ 5 },
                        _ => Number::Transaction { counter: *number, position },
                    };
                    sent.push(Record {
                        channel: *channel, sender: *sender, number, own: false,
                        state: bytes.len() % 2 == 0, age: Duration::from_millis(40), text: false,
                        key: key.as_deref(), priority: *priority, bytes, packed: None, coding,
                    });
                }
                for record in &sent {
                    let lz4 = groupwire_codecs::Choice::codec(1);
                    let packed = if shared { None } else { packs.pack(lz4, record.bytes) };
                    encoder.push(&Record { packed, ..*record });
                }
                let mut out = vec![];
                encoder.finish(&mut out).unwrap();
                let mut at = 0;
                let is_coded = out[0] == CODED_LAST;
                prop_assert!(is_coded == (coded && shared) || sent.is_empty());
                let each = |record: Record<'_>| {
                    let coding = if is_coded { Coding::Shared } else { Coding::Alone };
                    let packed = record.packed.filter(|_| !shared);
                    assert_eq!(record, Record { coding, packed, ..sent[at] });
                    at += 1;
                    Ok(())
                };
                match is_coded {
                    true => decoder.coded(&out[1..], kind_of, each),
                    false => decoder.plain(&out[1..], &mut packing, kind_of, each),
                }.unwrap();
                prop_assert_eq!(at, sent.len());
            }
        }

        #[test]
        fn random_bodies_never_panic(body: Vec<u8>) {
            let mut packing = Packing::new(ALL, Costs::reference());
            for direction in [Direction::ToServer, Direction::ToClient] {
                let mut decoder = BodyDecoder::new(direction, Numbering::default(), true, 1000);
                let _ = decoder.plain(&body, &mut packing, kind_of, |_| Ok(()));
                let _ = decoder.coded(&body, kind_of, |_| Ok(()));
            }
        }
    }
}
