//! Reads the payloads and the datagrams that bring messages, and the models of fan-out groups.

use core::time::Duration;

use super::contract::pass_missed;
use super::delivery::Delivery;
use super::phase::Joined;
use super::session::Session;
use crate::ids::{ChannelNo, GroupId};
use crate::packing::Packing;
use crate::wire::coding::PayloadForm;
use crate::wire::payload::Batch;
use crate::wire::record::Number;
use crate::{Error, Limits};

/// The state that is needed to read a packet, apart from the transport that it was received over.
pub(super) struct Reading<'a> {
    pub(super) now: Duration,
    pub(super) session: &'a mut Session,
    pub(super) packing: &'a mut Packing,
    /// Scratch memory for the messages of one payload.
    pub(super) batch: &'a mut Batch,
}

impl Joined {
    /// Delivers the records of a payload of the stream for this end alone.
    pub(super) fn on_payload(
        &mut self,
        reading: Reading<'_>,
        payload: &[u8],
        form: PayloadForm,
    ) -> Result<(), Error> {
        let Reading { now, session, packing, batch } = reading;
        session.count_payload(payload);
        let Joined { link, coders, datagrams, inbound, .. } = self;
        let (transit, datagrams) = (link.transit(), datagrams.as_ref());
        let mut delivery = Delivery { now, transit, session, inbound, datagrams };
        let decoder = &mut coders.decoder;
        let mut records = decoder.open(form, payload, packing, batch)?;
        let outcome = loop {
            let kind_of = |id: ChannelNo| delivery.inbound.numbers.kind(id);
            let record = match records.next(decoder, packing, kind_of) {
                Ok(Some(record)) => record,
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            };
            if let Err(error) = delivery.deliver(&record) {
                break Err(error);
            }
        };
        records.finish(outcome)
    }

    #[inline(never)] // At the boundary of the browser's core, see crates/wasm/second.txt.
    pub(super) fn on_shared(&mut self, reading: Reading<'_>, payload: &[u8]) -> Result<(), Error> {
        let Reading { now, session, packing, batch } = reading;
        session.count_payload(payload);
        let Joined { participant, link, datagrams, shared_stream, inbound, .. } = self;
        let (transit, datagrams) = (link.transit(), datagrams.as_ref());
        let delivery = Delivery { now, transit, session, inbound, datagrams };
        shared_stream.read(delivery, packing, batch, *participant, payload)
    }

    #[inline(never)] // At the boundary of the browser's core, see crates/wasm/second.txt.
    pub(super) fn on_group_payload(
        &mut self,
        reading: Reading<'_>,
        payload: (GroupId, &[u8]),
        transit: Duration,
        is_again: bool,
    ) {
        let Reading { now, session, packing, batch } = reading;
        // Payloads that come again over the stream count as headers, as the room's inspector counts
        // them.
        if !is_again {
            session.count_payload(payload.1);
        }
        let Joined { participant, datagrams, groups, inbound, .. } = self;
        let delivery = Delivery { now, transit, session, inbound, datagrams: datagrams.as_ref() };
        groups.read(delivery, packing, batch, *participant, payload, is_again);
    }

    /// W61: a piece of the model of a shared stream. With the last one, the payloads for this end
    /// alone begin anew.
    #[inline(never)] // At the boundary of the browser's core, see crates/wasm/second.txt.
    pub(super) fn on_stream_model(
        &mut self,
        limits: &Limits,
        group: GroupId,
        total: u32,
        offset: u32,
        piece: &[u8],
    ) -> Result<(), Error> {
        let (total, offset) = (total as usize, offset as usize);
        if self.shared_stream.add_model(group, total, offset, piece, limits.max_message)? {
            self.coders.decoder.restart();
        }
        Ok(())
    }

    /// W71: a piece of the model of a fan-out group's datagrams.
    #[inline(never)] // At the boundary of the browser's core, see crates/wasm/second.txt.
    pub(super) fn on_group_model(
        &mut self,
        limits: &Limits,
        group: GroupId,
        total: u32,
        offset: u32,
        piece: &[u8],
    ) -> Result<(), Error> {
        let answer = self.groups.add_model(group, total, offset, piece, limits.max_message)?;
        if let Some(answer) = answer {
            self.link.queue_raw(answer);
        }
        Ok(())
    }

    #[inline(never)] // At the boundary of the browser's core, see crates/wasm/second.txt.
    pub(super) fn on_datagram(&mut self, reading: Reading<'_>, packet: &[u8]) {
        let Reading { now, session, packing, batch } = reading;
        let Joined { link, datagrams: Some(datagrams), inbound, .. } = self else { return };
        let read = datagrams.read(now, packet, link.clock.way(), batch).and_then(|mut incoming| {
            let outcome = loop {
                let needs_of = |id: ChannelNo| inbound.numbers.needs(id);
                let record = match datagrams.next(now, &mut incoming, packing, needs_of) {
                    Ok(Some(record)) => record,
                    Ok(None) => break Ok(()),
                    Err(error) => break Err(error),
                };
                let mut delivery = Delivery {
                    now,
                    transit: Duration::ZERO,
                    session,
                    inbound,
                    datagrams: Some(datagrams),
                };
                let delivered = match record.number {
                    Number::Copy { .. } => delivery.deliver_copy(&record),
                    _ => delivery.deliver(&record),
                };
                if let Err(error) = delivered {
                    break Err(error);
                }
            };
            datagrams.finish(now, incoming, outcome)
        });
        if read.is_ok() {
            let payload = packet.len() - datagrams.before_body();
            session.stats.payload_bytes_in += payload as u64;
        }
        // W38: a datagram that cannot be read is only counted.
        session.stats.datagrams_unread += u64::from(read.is_err() && !packet.is_empty());
        datagrams.on_ordered(session.outbox.ordered);
        pass_missed(&mut session.channels, datagrams);
        self.say_received();
        self.heed_notices(now, session);
    }
}
