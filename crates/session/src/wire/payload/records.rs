//! Reads the records of a payload one by one.

use alloc::string::ToString;
use alloc::vec::Vec;

use groupwire_gmc as gmc;

use super::{Coding, PayloadForm};
use crate::ids::ChannelNo;
use crate::limits::{MAX_BLOCK, MAX_RECORDS, MAX_UNPACKED, RECORD_OVERHEAD};
use crate::packing::Packing;
use crate::wire::io::Reader;
use crate::wire::payload::PayloadDecoder;
use crate::wire::record::{self, FIELDS, Record};
use crate::{Error, Kind};

/// The most bytes that stay allocated between two payloads: one packet of the default size ([`DEFAULT_MAX_PACKET`]).
///
/// [`DEFAULT_MAX_PACKET`]: crate::limits::DEFAULT_MAX_PACKET
const KEPT: usize = 64 << 10;

/// A buffer for the decoded messages of one payload, from which the records borrow. All connections of an end use the same
/// buffer, one payload at a time.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// The numbers of each message, one message after the other.
    fields: Vec<u32>,
    /// Where each message ends in `bytes`.
    ends: Vec<usize>,
    bytes: Vec<u8>,
    /// The error that stopped decoding after the last of these messages.
    error: Option<Error>,
}

impl Batch {
    fn begin(&mut self) {
        self.fields.clear();
        self.ends.clear();
        self.bytes.clear();
        self.error = None;
        if self.bytes.capacity() > KEPT {
            self.bytes = Vec::new();
        }
    }

    /// Decodes a gmc packet into the buffer. An error is not returned here: [`Batch::error`] tells it once the messages
    /// before it have been read.
    pub(crate) fn decode(&mut self, coder: &mut gmc::Decoder, payload: &[u8]) {
        self.begin();
        let Batch { fields, ends, bytes, .. } = self;
        let decoded = coder.decode_packet(payload, |message| {
            fields.extend_from_slice(message.fields);
            bytes.extend_from_slice(message.bytes);
            ends.push(bytes.len());
        });
        self.error = decoded.err().map(|error| Error::Compression { why: error.to_string() });
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The `N` numbers and the bytes of message `at`.
    pub(crate) fn message<const N: usize>(&self, at: usize) -> Option<([u32; N], &[u8])> {
        let fields = self.fields.get(at * N..(at + 1) * N)?.try_into().ok()?;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some((fields, &self.bytes[start..*self.ends.get(at)?]))
    }

    /// The error that stopped decoding. It takes precedence over an error in one of the messages.
    pub(crate) fn error(&self) -> Option<&Error> {
        self.error.as_ref()
    }
}

/// A payload that is being read.
pub(crate) struct Records<'p> {
    source: Source<'p>,
}

enum Source<'p> {
    Plain {
        reader: Reader<'p>,
        count: usize,
        /// The size of all packed messages so far, in bytes, after unpacking.
        unpacked: usize,
        /// With [`Coding::Alone`], messages may be packed one by one.
        coding: Coding,
    },
    Decoded {
        batch: &'p Batch,
        next: usize,
    },
}

impl PayloadDecoder {
    /// Begins to read a payload. For each record call [`Records::next`], then [`Records::finish`].
    ///
    /// # Errors
    /// The payload is coded though that was not agreed on, or it cannot be unpacked.
    pub(crate) fn open<'p>(
        &mut self,
        form: PayloadForm,
        payload: &'p [u8],
        packing: &mut Packing,
        batch: &'p mut Batch,
    ) -> Result<Records<'p>, Error> {
        let plain = |payload, coding| {
            let reader = Reader::new(payload, "MESSAGES");
            Records { source: Source::Plain { reader, count: 0, unpacked: 0, coding } }
        };
        Ok(match form {
            PayloadForm::Plain => plain(payload, Coding::Alone),
            PayloadForm::Packed => {
                batch.begin();
                batch.bytes.extend_from_slice(packing.unpack(payload, MAX_BLOCK)?);
                plain(&batch.bytes, Coding::Shared)
            }
            PayloadForm::Coded => {
                self.decode(payload, batch)?;
                Records { source: Source::Decoded { batch, next: 0 } }
            }
        })
    }

    /// As [`PayloadDecoder::open`], for a payload that a fan-out group shares. After a payload without records, the numbers
    /// count from 0 again (wire W63).
    pub(crate) fn open_shared<'p>(
        &mut self,
        payload: &[u8],
        batch: &'p mut Batch,
    ) -> Result<Records<'p>, Error> {
        self.decode(payload, batch)?;
        if batch.len() == 0 && batch.error().is_none() {
            self.restart_numbering();
        }
        Ok(Records { source: Source::Decoded { batch, next: 0 } })
    }
}

impl Records<'_> {
    /// The next record, or `None` after the last one. `kind_of` returns the kind of a channel, or the reason to refuse its
    /// messages.
    ///
    /// # Errors
    /// The record is malformed or too large, or `kind_of` refused it.
    pub(crate) fn next<'r>(
        &'r mut self,
        decoder: &mut PayloadDecoder,
        packing: &'r mut Packing,
        kind_of: impl Fn(ChannelNo) -> Result<Kind, Error>,
    ) -> Result<Option<Record<'r>>, Error> {
        let max_message = decoder.max_message();
        match &mut self.source {
            Source::Decoded { batch, next } => {
                let at = *next;
                *next += 1;
                if at >= batch.len() {
                    return Ok(None);
                }
                let message = batch.message::<FIELDS>(at);
                let (fields, bytes) = message.ok_or(Error::malformed("CODED"))?;
                let record = decoder.read(fields, bytes, &kind_of, max_message, None)?;
                Ok(Some(Record { coding: Coding::Shared, ..record }))
            }
            Source::Plain { reader, count, unpacked, coding } => {
                if reader.is_empty() {
                    return Ok(None);
                }
                *count += 1;
                if *count > MAX_RECORDS {
                    return Err(Error::TooMany { what: "records in a body", limit: MAX_RECORDS });
                }
                let mut fields = [0; FIELDS];
                for field in &mut fields {
                    *field = reader.varint_u32()?;
                }
                let content = reader.bytes(max_message + RECORD_OVERHEAD, "message")?;
                if !record::is_packed(&fields) {
                    let record = decoder.read(fields, content, &kind_of, max_message, None)?;
                    return Ok(Some(Record { coding: *coding, ..record }));
                }
                // The unpacked messages of a payload have a limit together (wire W48).
                let limit = max_message.min(MAX_UNPACKED - *unpacked);
                let packing = (*coding == Coding::Alone).then_some(packing);
                let record = decoder.read(fields, content, &kind_of, limit, packing)?;
                *unpacked += record.bytes.len();
                Ok(Some(Record { coding: *coding, ..record }))
            }
        }
    }

    /// The result for the whole payload: the error that stopped decoding, if there was one, else `outcome`, which is the
    /// result of reading the records.
    pub(crate) fn finish(self, outcome: Result<(), Error>) -> Result<(), Error> {
        match self.source {
            Source::Decoded { batch, .. } => batch.error().cloned().map_or(outcome, Err),
            Source::Plain { .. } => outcome,
        }
    }
}
