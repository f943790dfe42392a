//! Collects records into a body.

use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::ops::Range;

use groupwire_gmc as gmc;

use super::account::{self, Account};
use super::{Coding, Lane};
use crate::Error;
use crate::limits::{MAX_RECORDS, MAX_UNPACKED, RECORD_OVERHEAD};
#[cfg(feature = "ace")]
use crate::packing::Way;
use crate::packing::{Choosing, Packing};
#[cfg(feature = "ace")]
use crate::wire::frame::PACKED_LAST;
use crate::wire::frame::{CODED_LAST, MESSAGES_LAST, SHARED_LAST};
use crate::wire::io::Write;
use crate::wire::numbering::Numbering;
use crate::wire::record::{Direction, FIELDS, Record};

/// Collects records and writes them as the last frame of a packet.
pub(crate) struct BodyEncoder {
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
    coder: Option<Box<gmc::Encoder>>,
    fields: Vec<[u32; FIELDS]>,
    ends: Vec<usize>,
    payloads: Vec<u8>,
    account: Account,
}

impl BodyEncoder {
    pub(crate) fn new(direction: Direction, numbering: Numbering, coded: bool) -> Self {
        BodyEncoder {
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
            account: Account::default(),
        }
    }

    /// For the stream of a class of receivers (W62).
    pub(crate) fn for_class() -> Self {
        BodyEncoder::new(Direction::ToClient, Numbering::default(), true)
    }

    /// Begins or ends keeping account of what payloads are made of, for the inspector.
    pub(crate) fn keep_account(&mut self, on: bool) {
        if self.account.turn(on)
            && let Some(coder) = &mut self.coder
        {
            account::cost_encoder(coder, on);
        }
    }

    /// The record that was pushed last went as a datagram before.
    pub(crate) fn note_repeated(&mut self) {
        self.account.note_repeated();
    }

    /// What the payloads since the last call were made of.
    pub(crate) fn take_account(&mut self) -> Vec<account::Made> {
        self.account.take()
    }

    /// What codes the payloads, once there was one.
    pub(crate) fn coder_in_use(&self) -> Option<&gmc::Encoder> {
        self.coder.as_deref()
    }

    /// Whether both ends agreed on coded payloads.
    pub(crate) fn is_coded(&self) -> bool {
        self.coded
    }

    /// W61: what comes next is coded and numbered as if nothing had come before. Gives its memory back.
    pub(crate) fn restart(&mut self) {
        *self = BodyEncoder::new(self.direction, Numbering::default(), self.coded);
    }

    /// Appends what was collected as a body for a class (W62), with its tag.
    pub(crate) fn finish_shared(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        out.u8(SHARED_LAST);
        self.code(0..self.fields.len(), out)?;
        self.clear();
        Ok(())
    }

    /// W63: appends a body without records, after which numbers count anew and the model is small.
    pub(crate) fn begin_anew(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.coder().compact();
        self.finish_shared(out)?;
        self.numbering = Numbering::default();
        Ok(())
    }

    /// Whether a body was coded.
    pub(crate) fn has_model(&self) -> bool {
        self.coder.is_some()
    }

    /// The model for a decoder that comes late (W61); empty before the first body.
    pub(crate) fn model(&self) -> Vec<u8> {
        let mut model = Vec::new();
        if let Some(coder) = &self.coder {
            coder.snapshot(&mut model);
        }
        model
    }

    /// Adds a record of the coding that [`BodyEncoder::takes`].
    pub(crate) fn push(&mut self, record: &Record<'_>) {
        self.account.push(record);
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

    /// Appends the body as the last frame: late-joiner state and large messages by what gets them there soonest.
    pub(crate) fn finish(
        &mut self,
        choosing: &mut Choosing,
        packing: &mut Packing,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let start = out.len();
        let is_block = self.is_block() && choosing.packs_blocks(packing);
        match is_block {
            true => self.write_block(choosing, packing, out)?,
            false => self.write(0..self.fields.len(), out)?,
        }
        let BodyEncoder { account, coder, fields, ends, .. } = self;
        account.wrote(0..fields.len(), fields, ends, &out[start..], coder.as_deref());
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
        self.code(part, out)
    }

    fn code(&mut self, part: Range<usize>, out: &mut Vec<u8>) -> Result<(), Error> {
        self.coder();
        let BodyEncoder { coder: Some(coder), fields, ends, payloads, .. } = self else {
            return Ok(());
        };
        coder
            .encode_packet(records(fields, ends, payloads, part), out)
            .map_err(|error| Error::Compression { why: error.to_string() })
    }

    fn coder(&mut self) -> &mut gmc::Encoder {
        self.coder.get_or_insert_with(|| {
            let mut coder = gmc::Encoder::new(Lane::Stream.coder_config());
            account::cost_encoder(&mut coder, self.account.is_on());
            Box::new(coder)
        })
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
        self.account.clear();
        (self.unpacked, self.has_state, self.largest) = (0, false, 0);
    }
}

/// Some of the records that were collected.
pub(super) fn records<'a>(
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

/// Six varints of 32 bits and a length.
const WORST_HEADER: usize = FIELDS * 5 + 5;
