//! Collects records into a body.

use alloc::string::ToString;
use alloc::vec::Vec;
use core::ops::Range;

use groupwire_gmc as gmc;

use super::{Coding, Lane};
use crate::Error;
use crate::limits::{MAX_RECORDS, MAX_UNPACKED, RECORD_OVERHEAD};
#[cfg(feature = "ace")]
use crate::packing::Way;
use crate::packing::{Choosing, Packing};
#[cfg(feature = "ace")]
use crate::wire::frame::PACKED_LAST;
use crate::wire::frame::{CODED_LAST, MESSAGES_LAST};
use crate::wire::io::Write;
use crate::wire::numbering::Numbering;
use crate::wire::record::{Direction, FIELDS, Record};

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
    /// Some of them are late-joiner state.
    has_state: bool,
    /// Octets of the largest message among them.
    largest: usize,
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
            has_state: false,
            largest: 0,
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
        self.has_state |= record.state;
        self.largest = self.largest.max(record.bytes.len());
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

    /// Appends the body as the last frame: late-joiner state and large messages by what gets them there soonest.
    pub(crate) fn finish(
        &mut self,
        choosing: &mut Choosing,
        packing: &mut Packing,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let is_block = self.is_block() && choosing.packs_blocks(packing);
        match is_block {
            true => self.write_block(choosing, packing, out)?,
            false => self.write(0..self.fields.len(), out)?,
        }
        self.clear();
        Ok(())
    }

    /// W54.
    fn is_block(&self) -> bool {
        cfg!(feature = "ace")
            && self.coded
            && self.coding == Coding::Shared
            && self.payloads.len() >= LEAST_BLOCK
            && (self.has_state || self.largest >= LARGE_MESSAGE)
    }

    #[cfg(feature = "ace")]
    fn write_block(
        &mut self,
        choosing: &mut Choosing,
        packing: &mut Packing,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let (all, is_state) = (0..self.fields.len(), self.has_state);
        let plain = self.payloads.len();
        let way = choosing.way(is_state, plain / all.len().max(1));
        let before = out.len();
        match way {
            Way::Coded => self.write(all, out)?,
            Way::Block => {
                let mut body = Vec::with_capacity(plain + all.len() * 16);
                self.write_plain(all, &mut body);
                match choosing.pack_body(&body, packing) {
                    Some(packed) => {
                        out.u8(PACKED_LAST);
                        out.extend_from_slice(packed);
                    }
                    None => {
                        out.u8(MESSAGES_LAST);
                        out.extend_from_slice(&body);
                    }
                }
            }
        }
        choosing.blocks.went(way, is_state, plain, out.len() - before);
        Ok(())
    }

    #[cfg(not(feature = "ace"))]
    fn write_block(
        &mut self,
        _: &mut Choosing,
        _: &mut Packing,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        self.write(0..self.fields.len(), out)
    }

    fn write(&mut self, part: Range<usize>, out: &mut Vec<u8>) -> Result<(), Error> {
        if !self.coded || self.coding != Coding::Shared {
            out.u8(MESSAGES_LAST);
            self.write_plain(part, out);
            return Ok(());
        }
        out.u8(CODED_LAST);
        let coder = self.coder.get_or_insert_with(|| gmc::Encoder::new(self.lane.coder_config()));
        coder
            .encode_packet(records(&self.fields, &self.ends, &self.payloads, part), out)
            .map_err(|error| Error::Compression { why: error.to_string() })
    }

    fn write_plain(&self, part: Range<usize>, out: &mut Vec<u8>) {
        for record in records(&self.fields, &self.ends, &self.payloads, part) {
            record.fields.iter().for_each(|&field| out.varint(u64::from(field)));
            out.bytes(record.bytes);
        }
    }

    fn clear(&mut self) {
        self.fields.clear();
        self.ends.clear();
        self.payloads.clear();
        (self.unpacked, self.has_state, self.largest) = (0, false, 0);
    }
}

/// Some of the records that were collected.
fn records<'a>(
    fields: &'a [[u32; FIELDS]],
    ends: &'a [usize],
    payloads: &'a [u8],
    part: Range<usize>,
) -> impl Iterator<Item = gmc::Message<'a>> {
    let mut start = part.start.checked_sub(1).map_or(0, |before| ends[before]);
    fields[part.clone()].iter().zip(&ends[part]).map(move |(fields, &end)| {
        let bytes = &payloads[core::mem::replace(&mut start, end)..end];
        gmc::Message { fields, bytes }
    })
}

/// Octets of payloads that are worth packing as a block.
const LEAST_BLOCK: usize = 4 << 10;

/// Octets of a message that is large: what it has in common with others matters less than itself.
const LARGE_MESSAGE: usize = 16 << 10;

/// Records in a datagram, at most: more would be lost together.
const MAX_PER_DATAGRAM: usize = 64;

/// Octets of messages tried for each octet of a datagram. gmc makes JSON 15 to 30 times smaller; more than this is worth little, as
/// headers are then shared by many.
const HOPED_FOR_RATIO: usize = 8;

/// Six varints of 32 bits and a length.
const WORST_HEADER: usize = FIELDS * 5 + 5;
