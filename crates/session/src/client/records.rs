//! Passes messages that are due to the encoder of their carrier.

use core::time::Duration;

use super::channel::Channel;
use super::due::Due;
use super::outbox::{Item, Outbox};
use super::phase::Joined;
use super::session::Session;
use super::values::SentValue;
use crate::Qos;
use crate::datagrams::Needs;
use crate::ids::{Order, Position};
use crate::packing::Packing;
use crate::trace::Carrier;
use crate::wire::coding::Coding;
use crate::wire::piece::Piece;
use crate::wire::record::{Number, Record};

impl Joined {
    /// Passes as many messages of `due` to the carrier's encoder as it takes: for the stream as
    /// many as fit into one payload, all with the same coding. `remaining`: bytes that a packet of
    /// the stream may still take.
    pub(super) fn add_records(
        &mut self,
        session: &mut Session,
        packing: &mut Packing,
        now: Duration,
        due: &[(Order, Due)],
        remaining: usize,
        carrier: Carrier,
    ) {
        let Session { outbox, channels, transports, stats, .. } = session;
        for &(order, due) in due {
            let Some((at, size)) = find(outbox, channels, order, due) else { continue };
            let channel = &mut channels[at];
            let coding = channel.coding();
            if !self.takes(carrier, coding, size, remaining) {
                break;
            }
            let Some(id) = channel.id else { break };
            let mut value = None;
            let (item, number, piece) = match due {
                Due::Transaction(at) => {
                    let counter = outbox.send(at);
                    let pending = &outbox.pending[at];
                    let number = Number::Transaction { counter, position: Position(0) };
                    (&pending.item, number, pending.piece)
                }
                Due::Awareness(_) | Due::Settled(_) => {
                    let is_settled = matches!(due, Due::Settled(_));
                    let Some((item, index)) = channel.values.take_value(order, is_settled) else {
                        continue;
                    };
                    let number = Number::Awareness { index, after: item.after };
                    (&*value.insert(item), number, Piece::Whole)
                }
            };
            let packed = self.link.choosing.pack(channel.compress, &item.bytes, packing, None);
            let (choice, packed) = packed.unzip();
            let record = Record { piece, packed, ..item.record(now, id, number, coding) };
            if !matches!(due, Due::Settled(_)) {
                channel.use_slot(now);
                channel.stats.sent.count(&record, choice);
                stats.messages_out += 1;
                stats.bytes_out_before += item.bytes.len() as u64;
            }
            self.push(now, carrier, &record, &channel.qos);
            if let (Some(item), Number::Awareness { index, .. }) = (value, number) {
                let (transport, sent, has_arrived) = (transports.opened, now, false);
                let value = SentValue { carrier, transport, item, index, sent, has_arrived };
                channel.values.keep_sent(&channel.qos, order, value);
            }
        }
    }

    /// True if the encoder of the carrier takes a message of `size` bytes.
    fn takes(&self, carrier: Carrier, coding: Coding, size: usize, remaining: usize) -> bool {
        let Joined { coders, datagrams, .. } = self;
        match carrier {
            Carrier::Stream => coders.encoder.takes(coding) && coders.encoder.fits(size, remaining),
            Carrier::Datagrams => {
                datagrams.as_ref().is_some_and(|datagrams| datagrams.can_submit())
            }
        }
    }

    /// Hands a record to the encoder of the carrier. A whole transaction on the stream travels in
    /// datagrams as well, as a copy (W81).
    fn push(&mut self, now: Duration, carrier: Carrier, record: &Record<'_>, qos: &Qos) {
        let Joined { coders, datagrams, inbound, .. } = self;
        if carrier == Carrier::Stream {
            coders.encoder.push(record);
            coders.encoder.note_qos(qos);
        }
        let Some(datagrams) = datagrams else { return };
        match (carrier, record.number) {
            (Carrier::Datagrams, _) => {
                let needs = inbound.numbers.needs(record.channel);
                datagrams.submit(now, record, needs.unwrap_or(Needs { qos: *qos, upstream: None }));
            }
            (Carrier::Stream, Number::Transaction { .. }) if record.piece == Piece::Whole => {
                datagrams.add_copy(now, record, Position(0), qos);
            }
            (Carrier::Stream, _) => {}
        }
    }
}

/// The place of a message's channel, and the bytes of the message. `None` if it does not wait any
/// more.
fn find(outbox: &Outbox, channels: &[Channel], order: Order, due: Due) -> Option<(usize, usize)> {
    let (at, item): (usize, Option<&Item>) = match due {
        Due::Transaction(at) => (outbox.pending[at].channel, Some(&outbox.pending[at].item)),
        Due::Awareness(at) => (at, channels[at].values.queue.get(order)),
        Due::Settled(at) => (at, channels[at].values.sent.get(order).map(|value| &value.item)),
    };
    Some((at, item?.bytes.len()))
}
