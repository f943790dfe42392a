//! Reads the records of a body.

use alloc::string::ToString;
use alloc::vec::Vec;

use groupwire_gmc as gmc;

use super::{Coding, Form, Lane};
use crate::limits::{MAX_BLOCK, MAX_RECORDS, MAX_UNPACKED, RECORD_OVERHEAD};
use crate::packing::Packing;
use crate::wire::io::Reader;
use crate::wire::numbering::Numbering;
use crate::wire::record::{self, Direction, FIELDS, Record};
use crate::{Error, Kind};

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

    /// Calls `each` for every record of a body until one fails.
    pub(crate) fn read_body(
        &mut self,
        form: Form,
        body: &[u8],
        packing: &mut Packing,
        kind_of: impl Fn(u32) -> Result<Kind, Error>,
        mut each: impl FnMut(Record<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match form {
            Form::Plain => self.plain(body, Some(packing), kind_of, each),
            Form::Coded => self.coded(body, kind_of, each),
            Form::Packed => {
                let body = packing.unpack(body, MAX_BLOCK)?.to_vec();
                let each = |record: Record<'_>| each(Record { coding: Coding::Shared, ..record });
                self.plain(&body, None, kind_of, each)
            }
        }
    }

    /// Calls `each` for every record of a plain body, unpacked, until one fails. `None`: none may be packed.
    pub(crate) fn plain(
        &mut self,
        body: &[u8],
        mut packing: Option<&mut Packing>,
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
            let record = self.read(fields, payload, &kind_of, limit, packing.as_deref_mut())?;
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
