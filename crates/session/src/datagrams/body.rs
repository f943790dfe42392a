//! The body of a datagram: messages coded together by the crate `groupwire-gmc`, plain messages, or
//! both. A repeated message is coded next to the messages that were sent before and after it (wire
//! W39).

use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::ops::Range;
use core::time::Duration;

use groupwire_afec::Planned;
use groupwire_gmc as gmc;

use crate::ids::{ChannelNo, ParticipantId};
use crate::limits::MAX_RECORDS;
use crate::trace::{Part, Purpose};
use crate::wire::coding::Coding;
use crate::wire::io::{Reader, Write};
use crate::wire::numbering::Numbering;
use crate::wire::payload::{Batch, account};
use crate::wire::record::{AGE_UNIT_MS, Direction, Record};
use crate::{Error, ModelMemory};

/// The count of numbers before each payload: channel, sender, flags, leg index, index, age, stamp,
/// back (wire W39).
pub(super) const FIELDS: usize = 8;
const LEG_INDEX: usize = 3;
const INDEX: usize = 4;

/// Flag of a record that was already sent in an earlier datagram (wire W67). Records of the stream
/// do not have this flag.
pub(super) const REPEATED: u32 = 256;

/// The configuration of gmc, which must be equal at both ends (wire W39, W118).
fn coder_config(memory: ModelMemory) -> gmc::Config {
    gmc::Config {
        delivery: gmc::Delivery::Datagrams,
        memory: memory.bytes(),
        fields: FIELDS,
        counters: 1 << LEG_INDEX | 1 << INDEX,
        max_message: 65_536,
        max_messages_per_packet: MAX_RECORDS,
        // Without the check, a datagram that is sixteen acknowledgements late could be decoded
        // under a wrong model.
        check: true,
        ..gmc::Config::default()
    }
}

/// The kinds of payloads: two bits of a datagram's first byte.
pub(super) const NONE: u8 = 0;
pub(super) const PLAIN: u8 = 1;
const CODED: u8 = 2;
/// A length and a coded body, then a plain body.
const BOTH: u8 = 3;

/// Writes a record in the form that afec keeps until the deadline, so that it can be repeated: only
/// the parts that are the same in all packets.
pub(super) fn keep(record: &Record<'_>, sends: Direction, out: &mut Vec<u8>) {
    out.resize(KEPT, 0);
    let [_, sender, flags, index, _, stamp] = record.write(sends, &mut Numbering::absolute(), out);
    let kept = [sender, flags, index, stamp].map(u32::to_le_bytes);
    out[..16].copy_from_slice(kept.as_flattened());
    out[16] = u8::from(record.coding == Coding::Shared);
}

/// Bytes before the payload of a kept record: four numbers, and the coding.
const KEPT: usize = 17;

/// A record that [`keep`] wrote.
pub(super) struct Kept<'a> {
    pub(super) sender: u32,
    pub(super) flags: u32,
    pub(super) index: u32,
    pub(super) stamp: u32,
    /// True if the record is coded by gmc, together with the others of its packet.
    shared: bool,
    pub(super) payload: &'a [u8],
}

impl<'a> Kept<'a> {
    pub(super) fn read(kept: &'a [u8]) -> Option<Self> {
        let (kept, payload) = kept.split_first_chunk::<KEPT>()?;
        let number =
            |at: usize| u32::from_le_bytes([kept[at], kept[at + 1], kept[at + 2], kept[at + 3]]);
        let [sender, flags, index, stamp] = [0, 4, 8, 12].map(number);
        Some(Kept { sender, flags, index, stamp, shared: kept[16] != 0, payload })
    }
}

/// A message of the packet that is being made.
#[derive(Debug)]
struct Item {
    fields: [u32; FIELDS],
    /// The end of its payload in [`PayloadWriter::payloads`].
    end: usize,
    /// True if the message is coded by gmc, together with the others of its packet.
    shared: bool,
    repeated: bool,
}

/// The messages of the packet that is being made, and their encoder.
#[derive(Debug, Default)]
pub(super) struct PayloadWriter {
    items: Vec<Item>,
    payloads: Vec<u8>,
    /// Made with the first coded body, so that an idle connection needs no memory for it.
    coder: Option<Box<gmc::Encoder>>,
    /// True if repeated messages are written without gmc, beside the coded ones. Only for measuring
    /// how many bytes it saves to code them together with the others.
    repeats_alone: bool,
}

impl PayloadWriter {
    pub(super) fn new(repeats_alone: bool) -> Self {
        PayloadWriter { repeats_alone, ..PayloadWriter::default() }
    }

    /// Begins a packet: forgets the messages of the last one.
    pub(super) fn begin(&mut self) {
        self.items.clear();
        self.payloads.clear();
    }

    /// Adds a message to the packet.
    pub(super) fn push(&mut self, planned: &Planned<'_>) {
        let Some(Kept { sender, flags, index, stamp, shared, payload }) =
            Kept::read(planned.payload)
        else {
            return;
        };
        // Rounded to the nearest unit. If it was rounded up on both legs, many messages of a
        // channel with a short deadline would count as late.
        let age = planned.age.saturating_add(AGE_UNIT_MS as u32 / 2 - 1) / AGE_UNIT_MS as u32;
        let leg_index = u32::from(planned.index);
        let flags = flags | if planned.repeated { REPEATED } else { 0 };
        self.payloads.extend_from_slice(payload);
        self.items.push(Item {
            fields: [planned.channel.0, sender, flags, leg_index, index, age, stamp, planned.back],
            end: self.payloads.len(),
            shared: shared && !(self.repeats_alone && planned.repeated),
            repeated: planned.repeated,
        });
    }

    /// Adds a copy of a transaction. Its check is written instead of the leg index (wire W81).
    pub(super) fn push_copy(&mut self, planned: &Planned<'_>, check: u32) {
        let before = self.items.len();
        self.push(planned);
        if let Some(item) = self.items.get_mut(before) {
            item.fields[LEG_INDEX] = check;
        }
    }

    /// The number of messages of the packet.
    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// Passes the other end's acknowledgement of this end's payloads to the encoder. A malformed
    /// one is ignored.
    pub(super) fn acknowledge(&mut self, acknowledgement: &[u8]) {
        if let Some(coder) = &mut self.coder {
            let _ = coder.acknowledge(acknowledgement);
        }
    }

    /// Appends a body with the messages in the range `part`, and returns its kind. `coded`: the
    /// memory of the model, if the other end can decode coded messages.
    pub(super) fn write(
        &mut self,
        part: Range<usize>,
        coded: Option<ModelMemory>,
        out: &mut Vec<u8>,
    ) -> Result<u8, Error> {
        let is_shared = |item: &Item| coded.is_some() && item.shared;
        let shared = self.items[part.clone()].iter().filter(|item| is_shared(item)).count();
        if part.is_empty() {
            return Ok(NONE);
        }
        if shared == 0 {
            self.write_plain(part, |_| true, out);
            return Ok(PLAIN);
        }
        let alone = part.len() > shared;
        let mut body = Vec::new();
        let into = if alone { &mut body } else { &mut *out };
        let config = || coder_config(coded.unwrap_or_default());
        let coder = self.coder.get_or_insert_with(|| Box::new(gmc::Encoder::new(config())));
        let messages = messages(&self.items, &self.payloads, part.clone());
        let messages = messages.filter(|(item, _)| is_shared(item)).map(|(_, message)| message);
        coder
            .encode_packet(messages, into)
            .map_err(|error| Error::Compression { why: error.to_string() })?;
        if !alone {
            return Ok(CODED);
        }
        out.bytes(&body);
        self.write_plain(part, |item| !is_shared(item), out);
        Ok(BOTH)
    }

    /// Appends the messages in the range `part` that `which` selects, without coding them.
    fn write_plain(&self, part: Range<usize>, which: impl Fn(&Item) -> bool, out: &mut Vec<u8>) {
        for (_, message) in
            messages(&self.items, &self.payloads, part).filter(|(item, _)| which(item))
        {
            message.fields.iter().for_each(|&field| out.varint(u64::from(field)));
            out.bytes(message.bytes);
        }
    }

    /// Describes the messages of the body that was written last, for the inspector.
    pub(super) fn parts(&self, part: Range<usize>) -> Vec<Part> {
        let mut costs = self.costs().iter();
        let messages = messages(&self.items, &self.payloads, part);
        let described = messages.map(|(item, message)| {
            let [channel, sender, _, _, index, age, ..] = item.fields;
            let purpose = if item.repeated { Purpose::Repeated } else { Purpose::New };
            let age = Duration::from_millis(u64::from(age) * AGE_UNIT_MS as u64);
            let cost = if item.shared { costs.next().copied() } else { None };
            let (channel, sender) = (ChannelNo(channel), ParticipantId(sender));
            Part { channel, sender, index, purpose, before: message.bytes.len(), age, cost }
        });
        described.collect()
    }

    /// The cost of each coded message of the last body.
    fn costs(&self) -> &[u32] {
        self.coder.as_deref().map(account::encoder_costs).unwrap_or_default()
    }

    /// Sets whether the encoder records the cost of each message.
    pub(super) fn keep_costs(&mut self, on: bool) {
        if let Some(coder) = &mut self.coder {
            account::cost_encoder(coder, on);
        }
    }

    pub(super) fn coder(&self) -> Option<&gmc::Encoder> {
        self.coder.as_deref()
    }
}

/// The messages in the range `part`, with their payloads.
fn messages<'a>(
    items: &'a [Item],
    payloads: &'a [u8],
    part: Range<usize>,
) -> impl Iterator<Item = (&'a Item, gmc::Message<'a>)> {
    let mut start = part.start.checked_sub(1).map_or(0, |before| items[before].end);
    items[part].iter().map(move |item| {
        let bytes = &payloads[core::mem::replace(&mut start, item.end)..item.end];
        (item, gmc::Message { fields: &item.fields, bytes })
    })
}

/// Reads payloads.
#[derive(Debug, Default)]
pub(super) struct PayloadReader {
    coder: Option<Box<gmc::Decoder>>,
    /// The memory of the model.
    memory: ModelMemory,
}

impl PayloadReader {
    pub(super) fn new(memory: ModelMemory) -> Self {
        PayloadReader { coder: None, memory }
    }

    /// Appends an acknowledgement for the other end's [`PayloadWriter::acknowledge`]. Appends
    /// nothing before the first coded body.
    pub(super) fn acknowledge(&mut self, out: &mut Vec<u8>) {
        if let Some(coder) = &mut self.coder {
            coder.acknowledge(out);
        }
    }

    /// Begins to read a payload of this kind. If the payload has an error, [`Messages::next`] first
    /// returns the messages before it, then the error.
    pub(super) fn open<'p>(
        &mut self,
        kind: u8,
        payload: &'p [u8],
        batch: &'p mut Batch,
    ) -> Messages<'p> {
        let mut reader = Reader::new(payload, "datagram");
        let (coded, error) = match kind {
            NONE | PLAIN => (0, None),
            CODED => self.decode(reader.rest(), batch),
            _ => match reader.bytes(payload.len(), "body") {
                Ok(coded) => self.decode(coded, batch),
                // `batch` still holds an earlier payload, which may be another participant's.
                Err(wrong) => (0, Some(wrong)),
            },
        };
        Messages { batch, coded, next: 0, reader, count: 0, error }
    }

    /// Decodes a coded body into `batch`. Returns the number of its messages, and the error that
    /// stopped decoding after them, if there was one.
    fn decode(&mut self, payload: &[u8], batch: &mut Batch) -> (usize, Option<Error>) {
        let config = || coder_config(self.memory);
        let coder = self.coder.get_or_insert_with(|| Box::new(gmc::Decoder::new(config())));
        batch.decode(coder, payload);
        (batch.len(), batch.error().cloned())
    }
}

/// A message that was read from a body.
pub(super) struct BodyMessage<'p> {
    /// See [`FIELDS`].
    pub(super) fields: [u32; FIELDS],
    pub(super) bytes: &'p [u8],
    /// How the message was coded.
    pub(super) coding: Coding,
}

/// The messages of a payload: the coded ones, then the plain ones.
pub(super) struct Messages<'p> {
    batch: &'p Batch,
    /// The number of coded messages.
    coded: usize,
    /// The next coded message.
    next: usize,
    /// The plain messages.
    reader: Reader<'p>,
    /// Plain messages read so far.
    count: usize,
    /// The error in the coded body.
    error: Option<Error>,
}

impl<'p> Messages<'p> {
    /// The next message. `None` after the last one.
    pub(super) fn next(&mut self, max_payload: usize) -> Result<Option<BodyMessage<'p>>, Error> {
        if self.next < self.coded {
            let message = self.batch.message(self.next);
            self.next += 1;
            let (fields, bytes) = message.ok_or(Error::malformed("datagram"))?;
            return Ok(Some(BodyMessage { fields, bytes, coding: Coding::Shared }));
        }
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        if self.reader.is_empty() {
            return Ok(None);
        }
        self.count += 1;
        if self.count > MAX_RECORDS {
            return Err(Error::TooMany { what: "records in a payload", limit: MAX_RECORDS });
        }
        let mut fields = [0; FIELDS];
        for field in &mut fields {
            *field = self.reader.varint_u32()?;
        }
        let bytes = self.reader.bytes(max_payload, "message")?;
        Ok(Some(BodyMessage { fields, bytes, coding: Coding::Alone }))
    }

    /// If the payload could not be decoded to its end, returns that error, else `outcome`, which is
    /// the result of processing its messages.
    pub(super) fn finish(self, outcome: Result<(), Error>) -> Result<(), Error> {
        self.error.map_or(outcome, Err)
    }
}

/// True if a body of this kind is coded, at least in part, so that it has to be acknowledged.
pub(super) fn is_coded(kind: u8) -> bool {
    kind & CODED != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// A coded body with one message.
    fn coded(content: &[u8]) -> Vec<u8> {
        let mut kept = vec![0; KEPT];
        kept[KEPT - 1] = 1;
        kept.extend_from_slice(content);
        let payload = &kept;
        let mut writer = PayloadWriter::default();
        writer.push(&Planned {
            channel: 1.into(),
            index: 0,
            back: 0,
            age: 0,
            repeated: false,
            payload,
        });
        let mut body = Vec::new();
        assert_eq!(writer.write(0..1, Some(ModelMemory::Full), &mut body), Ok(CODED));
        body
    }

    /// All participants of a room share one batch.
    #[test]
    fn a_body_brings_nothing_of_the_body_before_it() {
        let body = coded(b"from one participant");
        let too_long = [100];
        for (kind, payload, is_whole) in [
            (BOTH, &too_long[..], false),
            (BOTH, &[], false),
            (PLAIN, &[], true),
            (NONE, &[], true),
        ] {
            let mut batch = Batch::default();
            let mut messages = PayloadReader::default().open(CODED, &body, &mut batch);
            let first = messages.next(100).unwrap().map(|message| message.bytes.to_vec());
            assert_eq!(first.as_deref(), Some(&b"from one participant"[..]));
            let mut messages = PayloadReader::default().open(kind, payload, &mut batch);
            let next = messages.next(100);
            assert!(if is_whole { matches!(next, Ok(None)) } else { next.is_err() });
            assert_eq!(messages.finish(Ok(())).is_ok(), is_whole);
        }
    }
}
