//! Collects records into a payload.

use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::ops::Range;

use groupwire_gmc as gmc;

use super::account::{self, Account};
use crate::limits::{MAX_RECORDS, MAX_UNPACKED, RECORD_OVERHEAD};
#[cfg(feature = "ace")]
use crate::packing::BlockChoice;
use crate::packing::{Choosing, Packing};
use crate::trace::Carrier;
use crate::wire::coding::Coding;
#[cfg(feature = "ace")]
use crate::wire::frame::PACKED_LAST;
use crate::wire::frame::{CODED_LAST, MESSAGES_LAST, SHARED_LAST};
use crate::wire::io::Write;
use crate::wire::numbering::Numbering;
use crate::wire::record::{Direction, FIELDS, Record};
use crate::{Error, Kind, ModelMemory, Qos};

/// The most bytes of a payload of several records, more or less. The other end hears nothing while
/// a packet arrives, and after [`dead`](crate::Timing::dead) it gives the transport up. A packet of
/// this size takes 2 seconds on a link of 64 kbit/s.
const ENOUGH: usize = 16_384;

/// Collects records and writes them as the last frame of a packet.
pub(crate) struct PayloadEncoder {
    direction: Direction,
    pub(crate) numbering: Numbering,
    /// The memory of the model, if both ends agreed on coded payloads.
    coded: Option<ModelMemory>,
    /// The coding of the collected records.
    coding: Coding,
    /// The total size in bytes of the collected messages that a codec packed, before packing.
    unpacked: usize,
    /// True if at least one collected record is sent because its receiver joined late.
    has_state: bool,
    /// True if ages of collected records matter: of awareness, and of transactions with a deadline
    /// (wire W79).
    is_timed: bool,
    /// The bytes of the largest collected message.
    largest: usize,
    /// A payload with more content than this takes no further record. About [`ENOUGH`] bytes of it
    /// travel, if it compresses as well as the last large payload.
    enough: usize,
    /// Created for the first coded payload, so that an idle connection needs no memory for it.
    coder: Option<Box<gmc::Encoder>>,
    fields: Vec<[u32; FIELDS]>,
    ends: Vec<usize>,
    contents: Vec<u8>,
    account: Account,
}

impl PayloadEncoder {
    pub(crate) fn new(
        direction: Direction,
        numbering: Numbering,
        coded: Option<ModelMemory>,
    ) -> Self {
        PayloadEncoder {
            direction,
            numbering,
            coded,
            coding: Coding::Shared,
            unpacked: 0,
            has_state: false,
            is_timed: false,
            largest: 0,
            enough: ENOUGH,
            coder: None,
            fields: Vec::new(),
            ends: Vec::new(),
            contents: Vec::new(),
            account: Account::default(),
        }
    }

    /// Creates an encoder for the shared stream of a fan-out group (wire W62).
    pub(crate) fn for_group() -> Self {
        let coded = Some(ModelMemory::Full);
        PayloadEncoder::new(Direction::ToClient, Numbering::default(), coded)
    }

    /// Sets whether the encoder lists the messages of each payload and their costs, for the
    /// inspector.
    pub(crate) fn keep_account(&mut self, on: bool) {
        if self.account.turn(on)
            && let Some(coder) = &mut self.coder
        {
            account::cost_encoder(coder, on);
        }
    }

    /// Notes, for the inspector, that the last pushed record was sent as a datagram before.
    pub(crate) fn note_repeated(&mut self) {
        self.account.note_repeated();
    }

    /// Returns the payloads that were written since the last call, with their messages.
    pub(crate) fn take_account(&mut self) -> Vec<account::WrittenPayload> {
        self.account.take()
    }

    /// The gmc encoder; `None` if no payload was coded yet.
    #[cfg(feature = "inspector")]
    pub(crate) fn coder_in_use(&self) -> Option<&gmc::Encoder> {
        self.coder.as_deref()
    }

    /// True if both ends agreed on coded payloads.
    pub(crate) fn is_coded(&self) -> bool {
        self.coded.is_some()
    }

    /// Drops the gmc encoder, all last numbers and the collected records, and frees their memory.
    /// The receiver must restart its decoder, too (wire W61).
    pub(crate) fn restart(&mut self) {
        *self = PayloadEncoder::new(self.direction, Numbering::default(), self.coded);
    }

    /// Appends the collected records as a SHARED payload of a fan-out group, with its tag (wire
    /// W62).
    pub(crate) fn finish_shared(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        let start = out.len();
        out.u8(SHARED_LAST);
        self.code(0..self.fields.len(), out)?;
        self.learn_enough(out.len() - start);
        self.clear();
        Ok(())
    }

    /// Appends a SHARED payload without records. It tells receivers to set all last numbers to 0,
    /// as the encoder does (wire W63). It also makes the model smaller, at both ends.
    pub(crate) fn begin_anew(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.coder().compact();
        self.finish_shared(out)?;
        self.numbering = Numbering::default();
        Ok(())
    }

    /// True if at least one payload was coded.
    pub(crate) fn has_model(&self) -> bool {
        self.coder.is_some()
    }

    /// Returns a snapshot of the model for a receiver that enters the fan-out group (wire W61).
    /// Empty before the first payload.
    pub(crate) fn model(&self) -> Vec<u8> {
        let mut model = Vec::new();
        if let Some(coder) = &self.coder {
            coder.snapshot(&mut model);
        }
        model
    }

    /// The collected records: their fields, the ends of their contents, and their contents.
    pub(super) fn collected(&self) -> (&[[u32; FIELDS]], &[usize], &[u8]) {
        (&self.fields, &self.ends, &self.contents)
    }

    /// True if the payload, and the model after it, can be shared with other receivers: this
    /// encoder has no model of its own yet, and the inspector does not measure the cost of
    /// messages.
    pub(super) fn is_shareable(&self) -> bool {
        self.coded == Some(ModelMemory::Full)
            && self.coding == Coding::Shared
            && self.coder.is_none()
            && !self.account.is_on()
    }

    /// Takes the gmc encoder out; `None` if no payload was coded yet.
    pub(super) fn take_coder(&mut self) -> Option<gmc::Encoder> {
        self.coder.take().map(|coder| *coder)
    }

    /// Continues with this gmc encoder.
    pub(super) fn put_coder(&mut self, mut coder: gmc::Encoder) {
        account::cost_encoder(&mut coder, self.account.is_on());
        self.coder = Some(Box::new(coder));
    }

    /// Adds a record to the payload. [`PayloadEncoder::takes`] must be true for the record's
    /// coding.
    pub(crate) fn push(&mut self, record: &Record<'_>) {
        debug_assert!(self.takes(record.coding), "all records of a payload have the same coding");
        self.account.push(record);
        self.coding = record.coding;
        self.has_state |= record.state;
        self.largest = self.largest.max(record.bytes.len());
        if record.packed.is_some() {
            self.unpacked += record.bytes.len();
        }
        let fields = record.write(self.direction, &mut self.numbering, &mut self.contents);
        self.fields.push(fields);
        self.ends.push(self.contents.len());
    }

    /// Notes the QoS of the channel of a collected record.
    pub(crate) fn note_qos(&mut self, qos: &Qos) {
        self.is_timed |= qos.kind == Kind::Awareness || qos.deadline.is_some();
    }

    /// True if ages of records matter that were collected since the last call.
    pub(crate) fn take_timed(&mut self) -> bool {
        core::mem::take(&mut self.is_timed)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// True if at least one collected record is late-joiner state.
    pub(crate) fn has_state(&self) -> bool {
        self.has_state
    }

    /// The number of collected records.
    pub(crate) fn len(&self) -> usize {
        self.fields.len()
    }

    /// True if a record of this coding can be added: all records of a payload have the same coding.
    pub(crate) fn takes(&self, coding: Coding) -> bool {
        self.is_empty() || self.coding == coding
    }

    /// True if a further record with a message of `bytes` bytes fits into a packet with `remaining`
    /// bytes left, even if nothing can be compressed, and the payload has not enough records yet.
    pub(crate) fn fits(&self, bytes: usize, remaining: usize) -> bool {
        let contents = self.contents.len() + bytes;
        let worst = contents + (self.fields.len() + 1) * WORST_HEADER;
        let unpacks = self.unpacked == 0 || self.unpacked + bytes <= MAX_UNPACKED;
        let is_enough = !self.is_empty() && contents > self.enough;
        let fits = unpacks && worst + RECORD_OVERHEAD <= remaining;
        self.fields.len() < MAX_RECORDS && !is_enough && fits
    }

    /// Appends the payload as the last frame of a packet. If the payload has messages for a late
    /// joiner or large messages, `choosing` decides whether it arrives sooner compressed by gmc or
    /// by a codec.
    pub(crate) fn finish(
        &mut self,
        choosing: &mut Choosing,
        packing: &mut Packing,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let start = out.len();
        let is_block = self.may_be_block() && choosing.packs_blocks(packing);
        match is_block {
            true => self.write_block(choosing, packing, out)?,
            false => self.write(0..self.fields.len(), out)?,
        }
        let PayloadEncoder { account, coder, fields, ends, .. } = self;
        account.wrote(0..fields.len(), fields, ends, &out[start..], coder.as_deref());
        self.learn_enough(out.len() - start);
        self.clear();
        Ok(())
    }

    /// Learns from a payload, of which `written` bytes travel, how much the next one may collect.
    pub(super) fn learn_enough(&mut self, written: usize) {
        let plain = self.contents.len();
        if plain >= ENOUGH / 4 {
            self.enough = (plain * ENOUGH / written.max(1)).max(ENOUGH);
        }
    }

    /// True if the payload may be sent as PACKED_MESSAGES (wire W54).
    pub(super) fn may_be_block(&self) -> bool {
        cfg!(feature = "ace")
            && self.is_coded()
            && self.coding == Coding::Shared
            && self.contents.len() >= LEAST_BLOCK
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
        let plain = self.contents.len();
        let choice = choosing.choose_block(is_state, plain / all.len().max(1));
        let before = out.len();
        match choice {
            BlockChoice::Coded => self.write(all, out)?,
            BlockChoice::Block => {
                let mut payload = Vec::with_capacity(plain + all.len() * 16);
                self.write_plain(all, &mut payload);
                match choosing.pack_body(&payload, packing) {
                    Some(packed) => {
                        out.u8(PACKED_LAST);
                        out.extend_from_slice(packed);
                    }
                    None => {
                        out.u8(MESSAGES_LAST);
                        out.extend_from_slice(&payload);
                    }
                }
            }
        }
        choosing.blocks.record_size(choice, is_state, plain, out.len() - before);
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
        if !self.is_coded() || self.coding != Coding::Shared {
            out.u8(MESSAGES_LAST);
            self.write_plain(part, out);
            return Ok(());
        }
        out.u8(CODED_LAST);
        self.code(part, out)
    }

    fn code(&mut self, part: Range<usize>, out: &mut Vec<u8>) -> Result<(), Error> {
        self.coder();
        let PayloadEncoder { coder: Some(coder), fields, ends, contents, .. } = self else {
            return Ok(());
        };
        coder
            .encode_packet(records(fields, ends, contents, part), out)
            .map_err(|error| Error::Compression { why: error.to_string() })
    }

    fn coder(&mut self) -> &mut gmc::Encoder {
        self.coder.get_or_insert_with(|| {
            let memory = self.coded.unwrap_or_default();
            let mut coder = gmc::Encoder::new(Carrier::Stream.coder_config(memory));
            account::cost_encoder(&mut coder, self.account.is_on());
            Box::new(coder)
        })
    }

    fn write_plain(&self, part: Range<usize>, out: &mut Vec<u8>) {
        for record in records(&self.fields, &self.ends, &self.contents, part) {
            record.fields.iter().for_each(|&field| out.varint(u64::from(field)));
            out.bytes(record.bytes);
        }
    }

    pub(super) fn clear(&mut self) {
        self.fields.clear();
        self.ends.clear();
        self.contents.clear();
        self.account.clear();
        (self.unpacked, self.has_state, self.largest) = (0, false, 0);
    }
}

/// Returns the collected records whose indices are in the range `part`. `ends` has the end of each
/// record's content in `contents`.
pub(super) fn records<'a>(
    fields: &'a [[u32; FIELDS]],
    ends: &'a [usize],
    contents: &'a [u8],
    part: Range<usize>,
) -> impl Iterator<Item = gmc::Message<'a>> {
    let mut start = part.start.checked_sub(1).map_or(0, |before| ends[before]);
    fields[part.clone()].iter().zip(&ends[part]).map(move |(fields, &end)| {
        let bytes = &contents[core::mem::replace(&mut start, end)..end];
        gmc::Message { fields, bytes }
    })
}

/// A payload is never packed as a block if its contents have fewer bytes than this (wire W54).
const LEAST_BLOCK: usize = 4 << 10;

/// A message of this many bytes or more can be packed as a block: a codec finds more repetition
/// within such a message than gmc finds between it and other messages.
const LARGE_MESSAGE: usize = 16 << 10;

/// The most bytes of an uncompressed record besides its content: six fields and the length, each a
/// 32-bit varint of at most five bytes.
const WORST_HEADER: usize = FIELDS * 5 + 5;
