//! Reads datagrams: the header, then one record after the other (wire W39, W67 and W81).

use core::time::Duration;

use groupwire_afec::Arrival;

use super::body::{BodyMessage, Messages, REPEATED, is_coded};
use super::copies;
use super::hash::key_of;
use super::leg::{ACKNOWLEDGES, KIND, Leg, QUESTION};
use super::share::{Needs, reserve_behind};
use crate::clock::Way;
use crate::ids::{ChannelNo, Position};
use crate::limits::{MAX_UNPACKED, RECORD_OVERHEAD};
use crate::packing::Packing;
use crate::wire::coding::Coding;
use crate::wire::io::Reader;
use crate::wire::numbering::Numbering;
use crate::wire::payload::Batch;
use crate::wire::record::{self, Number, Record};
use crate::{Error, Kind};

/// The most bytes of gmc's acknowledgement (wire W40).
const MAX_ACKNOWLEDGEMENT: usize = 140;

/// A datagram that is being read.
pub(crate) struct Incoming<'p> {
    messages: Messages<'p>,
    /// The time that the datagram took from the other end, including the time in queues.
    transit: Duration,
    /// The unpacked size of the datagram's packed messages so far, in bytes.
    unpacked: usize,
}

impl Leg {
    /// Begins to read a datagram: reads its header. What afec measures of the time that it took
    /// begins anew after some seconds, and does not show that the path has become longer for good.
    /// `way`, the comparison of clocks, does.
    pub(super) fn read<'p>(
        &mut self,
        now: Duration,
        packet: &'p [u8],
        way: Way,
        batch: &'p mut Batch,
    ) -> Result<Incoming<'p>, Error> {
        let header = self.endpoint.receive_header(now, packet);
        let header = header.map_err(|_| Error::malformed("datagram: its header"))?;
        let mut reader = Reader::new(header.rest, "datagram");
        if header.bits & ACKNOWLEDGES != 0 {
            self.writer.acknowledge(reader.bytes(MAX_ACKNOWLEDGEMENT, "acknowledgement")?);
        }
        let kind = header.bits & KIND;
        if is_coded(kind) {
            if self.settings.coded.is_none() {
                return Err(Error::malformed("datagram: coding was not agreed on"));
            }
            self.acknowledging.on_coded(now);
        }
        let payload = reader.rest();
        if kind == QUESTION && payload.is_empty() {
            self.on_asked(now);
        }
        self.before_body = packet.len() - payload.len();
        let messages = self.reader.open(kind, payload, batch);
        let transit = header.way.unwrap_or(way.least) + header.queued;
        let transit = transit.max(way.taken(now, header.sent));
        Ok(Incoming { messages, transit, unpacked: 0 })
    }

    /// The next record of a datagram, with its age at `now`. `None` after the last one.
    pub(super) fn next<'r>(
        &mut self,
        now: Duration,
        incoming: &'r mut Incoming<'_>,
        packing: &'r mut Packing,
        needs_of: impl Fn(ChannelNo) -> Result<Needs, Error>,
    ) -> Result<Option<Record<'r>>, Error> {
        let max_message = self.settings.max_message;
        let takes = self.settings.sends.opposite();
        let Incoming { messages, transit, unpacked } = incoming;
        let Some(message) = messages.next(max_message + RECORD_OVERHEAD)? else {
            return Ok(None);
        };
        let BodyMessage { fields, bytes: payload, coding } = message;
        let [channel, sender, flags, leg_index, index, age, stamp, back] = fields;
        let needs = needs_of(ChannelNo(channel))?;
        let qos = needs.qos;
        let repeated = flags & REPEATED != 0;
        let flags = flags & !REPEATED;
        let is_copy = qos.kind == Kind::Transaction;
        if is_copy && !self.settings.copies {
            return Err(Error::malformed("datagram: a transaction"));
        }
        let numbers = [channel, sender, flags, index, stamp, back];
        // A copy has no leg index: the field contains the check of the copy (wire W81).
        if is_copy && copies::check(numbers, payload) != leg_index {
            return Err(Error::malformed("datagram: a damaged copy"));
        }
        let fields = [channel, sender, flags, index, age, stamp];
        let packing = (coding == Coding::Alone).then_some(packing);
        let numbering = &mut Numbering::absolute();
        // The packed messages of one body together may unpack to MAX_UNPACKED bytes (wire W48).
        let limit = match record::is_packed(&fields) {
            true => max_message.min(MAX_UNPACKED - *unpacked),
            false => max_message,
        };
        let record = record::read(fields, payload, qos.kind, takes, numbering, limit, packing)?;
        if record.packed.is_some() {
            *unpacked += record.bytes.len();
        }
        let record = Record { age: record.age + *transit, coding, ..record };
        if is_copy {
            return Ok(Some(Record { number: copied_number(&record, back)?, ..record }));
        }
        self.open(ChannelNo(channel), needs, false);
        let key = key_of(&record, &qos).map(|key| (key, back));
        let age = record.age + reserve_behind(&qos, takes);
        let arrival =
            Arrival { channel: channel.into(), index: leg_index as u16, key, age, repeated };
        let _ = self.endpoint.on_message(now, &arrival);
        Ok(Some(record))
    }

    /// Ends reading a datagram. If the datagram could not be decoded to its end, returns that
    /// error, else `outcome`.
    pub(super) fn finish(
        &mut self,
        now: Duration,
        incoming: Incoming<'_>,
        outcome: Result<(), Error>,
    ) -> Result<(), Error> {
        self.endpoint.expire(now);
        incoming.messages.finish(outcome)
    }
}

/// The number of a copied transaction whose predecessor is `back` positions before it (wire W81).
fn copied_number(record: &Record<'_>, back: u32) -> Result<Number, Error> {
    match record.number {
        Number::Transaction { counter, position } if !record.state => {
            let previous = Position(position.get().saturating_sub(u64::from(back)));
            Ok(Number::Copy { counter, position, previous })
        }
        _ => Err(Error::malformed("datagram: an older transaction")),
    }
}
