//! Reads the records of a payload one by one.

use super::batch::Batch;
use super::decoder::PayloadDecoder;
use crate::ids::ChannelNo;
use crate::limits::{MAX_BLOCK, MAX_RECORDS, MAX_UNPACKED, RECORD_OVERHEAD};
use crate::packing::Packing;
use crate::wire::coding::{Coding, PayloadForm};
use crate::wire::io::Reader;
use crate::wire::record::{self, FIELDS, Record};
use crate::{Error, Kind};

/// Reads the records of one payload one by one.
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
    /// Begins to read a payload. Call [`Records::next`] until it returns `None` or fails, then
    /// [`Records::finish`].
    ///
    /// # Errors
    /// The payload is coded though the ends did not agree on coded payloads, or it cannot be
    /// unpacked.
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
                let unpacked = packing.unpack(payload, MAX_BLOCK)?;
                plain(batch.hold(unpacked), Coding::Shared)
            }
            PayloadForm::Coded => {
                self.decode(payload, batch)?;
                Records { source: Source::Decoded { batch, next: 0 } }
            }
        })
    }

    /// Begins to read a payload that all receivers of a fan-out group share, like
    /// [`PayloadDecoder::open`]. A payload without records sets all last numbers to 0 (wire W63).
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
    /// The next record, or `None` after the last one. `kind_of` returns the kind of a channel, or
    /// the reason to refuse its messages.
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
                    return Err(Error::TooMany {
                        what: "records in a payload",
                        limit: MAX_RECORDS,
                    });
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
                // The total size of the unpacked messages of a payload is limited (wire W48).
                let limit = max_message.min(MAX_UNPACKED - *unpacked);
                let packing = (*coding == Coding::Alone).then_some(packing);
                let record = decoder.read(fields, content, &kind_of, limit, packing)?;
                *unpacked += record.bytes.len();
                Ok(Some(Record { coding: *coding, ..record }))
            }
        }
    }

    /// The result for the whole payload: the error that stopped decoding, if there was one, else
    /// `outcome`, which is the result of reading the records.
    pub(crate) fn finish(self, outcome: Result<(), Error>) -> Result<(), Error> {
        match self.source {
            Source::Decoded { batch, .. } => batch.error().cloned().map_or(outcome, Err),
            Source::Plain { .. } => outcome,
        }
    }
}
