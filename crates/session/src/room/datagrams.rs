//! Awareness as datagrams, both ways (wire.md W38 to W42).

use core::time::Duration;

use groupwire_afec::code::Code;
use groupwire_afec::stats::{ReceiverStats, SenderStats};

use super::journal::{Awareness, Journal};
use super::outgoing::Maker;
use super::participant::Connection;
use super::{Output, Room};
use crate::datagrams::{Datagrams, Made};
use crate::ids::{ChannelNo, Order, ParticipantId};
use crate::wire::record::{Number, Record};
use crate::{Error, trace};

/// Between two looks at what is due: nothing is decided more finely.
const SOONEST: Duration = Duration::from_millis(1);

impl Room {
    /// W38: what is wrong with a datagram costs nothing but itself.
    pub(super) fn receive_datagram(&mut self, now: Duration, id: ParticipantId, packet: &[u8]) {
        self.stats.packets_in += 1;
        self.stats.bytes_in_after += packet.len() as u64;
        let Some(connection) = self.connection(id) else { return };
        connection.link.hear(now, packet.len());
        let one_way = connection.link.clock.one_way();
        let packet = match self.take_acknowledged(now, id, packet) {
            Ok(Some(packet)) => packet,
            Ok(None) => return self.flush_datagrams(now, id),
            Err(_) => {
                self.stats.datagrams_unread += 1;
                return;
            }
        };
        let Some(connection) = self.connection(id) else { return };
        let Some(mut datagrams) = connection.link.datagrams.take() else { return };
        let opened = core::mem::take(&mut connection.channels);
        let channels = core::mem::take(&mut self.channels);
        let mut packing = core::mem::take(&mut self.packing);
        let needs_of = |channel: ChannelNo| match opened.get(&channel) {
            Some(opened) if opened.access.publish => Ok(channels[channel.place()].needs()),
            _ => Err(Error::UnknownChannel { channel: channel.get() }),
        };
        let each = |record: Record<'_>| {
            self.publish(now, id, &channels[record.channel.place()], Duration::ZERO, &record)
        };
        let outcome = datagrams.receive(now, packet, one_way, &mut packing, needs_of, each);
        packing.tidy();
        #[cfg(feature = "describe")]
        self.describe_datagram(now, id, packet.len(), datagrams.before_body());
        self.packing = packing;
        self.stats.datagrams_unread += u64::from(outcome.is_err());
        self.channels = channels;
        if let Some(connection) = self.connection(id) {
            connection.channels = opened;
            connection.link.datagrams = Some(datagrams);
        }
        self.flush_datagrams(now, id);
    }

    /// Sends what the last tick left and what is to be said again, as far as the transport takes it.
    pub(super) fn flush_datagrams(&mut self, now: Duration, id: ParticipantId) {
        loop {
            let Room {
                participants, journal, channels, stats, outputs, packing, forms, trace, ..
            } = self;
            let Some(connection) =
                participants.get_mut(&id).and_then(|one| one.connection.as_deref_mut())
            else {
                return;
            };
            let Some(mut datagrams) = connection.link.datagrams.take() else { return };
            let has_news = connection.has_fresh();
            let takes_news = has_news && datagrams.clear_at().is_none_or(|at| at <= now);
            if !datagrams.ready() || !(takes_news || datagrams.is_due(now)) {
                let clear = datagrams.clear_at().filter(|_| has_news && datagrams.ready());
                let due = datagrams.timeout(now).into_iter().chain(clear).min();
                connection.link.datagrams = Some(datagrams);
                return self.datagrams_are_due(now, id, due);
            }
            if takes_news {
                let mut choosing = core::mem::take(&mut connection.link.choosing);
                let maker = Maker { now, channels, choosing: &mut choosing, packing, forms };
                let added = connection.add_fresh(id, &mut datagrams, journal, maker);
                // Only the stream has pings.
                choosing.take_probe();
                connection.link.choosing = choosing;
                stats.deliveries += added.messages;
                stats.bytes_out_before += added.bytes;
            }
            let made = datagrams.make(now, trace.is_on());
            let link = connection.id;
            connection.link.datagrams = Some(datagrams);
            match made {
                Ok(packets) if packets.is_empty() && !takes_news => {
                    return self.datagrams_are_due(now, id, Some(now));
                }
                Ok(packets) => {
                    for made in packets {
                        stats.packets_out += 1;
                        stats.bytes_out_after += made.octets.len() as u64;
                        if trace.is_on() {
                            trace.push(describe(now, id, &made));
                        }
                        let packet = made.octets;
                        outputs.push_back(Output::Datagram { link, packet, body: None });
                    }
                }
                Err(error) => return self.fail(now, id, error),
            }
        }
    }

    pub(super) fn datagrams_are_due(
        &mut self,
        now: Duration,
        id: ParticipantId,
        due: Option<Duration>,
    ) {
        let Some(connection) = self.connection(id) else { return };
        let due = due.map(|at| at.max(now + SOONEST));
        let before = core::mem::replace(&mut connection.datagrams_at, due);
        if before != due {
            before.map(|at| self.datagrams_due.remove(&(at, id)));
            due.map(|at| self.datagrams_due.insert((at, id)));
        }
    }

    /// Sends the datagrams whose time has come: repeats, acknowledgements, reports.
    pub(super) fn flush_due_datagrams(&mut self, now: Duration) {
        while let Some(&(at, id)) = self.datagrams_due.first().filter(|(at, _)| *at <= now) {
            self.datagrams_due.pop_first();
            // Of a connection that is gone, a time may be left.
            if let Some(connection) = self.connection(id).filter(|one| one.datagrams_at == Some(at))
            {
                connection.datagrams_at = None;
                self.flush_datagrams(now, id);
            }
        }
    }

    /// What was sent as datagrams of a channel (by its number) to a participant, and what came from it.
    pub fn path(
        &self,
        id: ParticipantId,
        channel: ChannelNo,
    ) -> Option<(SenderStats, Code, ReceiverStats)> {
        let connection = self.participants.get(&id)?.connection.as_deref()?;
        let (sent, code, received) = connection.link.datagrams.as_ref()?.stats(channel)?;
        Some((sent, code, *received))
    }
}

fn describe(now: Duration, id: ParticipantId, made: &Made) -> trace::Packet {
    trace::Packet {
        at: now,
        participant: id,
        out: true,
        way: trace::Way::Datagram,
        class: None,
        epoch: None,
        octets: made.octets.len(),
        private: made.private,
        feedback: made.feedback,
        parts: made.parts.clone(),
    }
}

/// What went into a datagram.
#[derive(Default)]
struct Added {
    messages: u64,
    bytes: u64,
}

impl Connection {
    fn add_fresh(
        &mut self,
        id: ParticipantId,
        datagrams: &mut Datagrams,
        journal: &Journal,
        mut maker: Maker<'_>,
    ) -> Added {
        let mut added = Added::default();
        let Some(mut fresh) = self.fresh else { return added };
        while let Some(&order) = self.slotted.datagrams.first() {
            if let Some(one) = journal.awareness(order)
                && !self.add_value(order, one, datagrams, &mut maker, &mut added)
            {
                return added;
            }
            self.slotted.datagrams.pop_first();
        }
        let due = self.due.0;
        let values = journal.awareness_after(fresh.cursor).take_while(|(order, _)| *order <= due);
        let mut is_all = true;
        for (order, one) in values {
            let message = &one.message;
            let is_late = one.expires.is_some_and(|expires| expires <= maker.now);
            let key = message.key.as_ref().map_or(0, |key| key.len());
            if message.sender != id
                && !self.is_served(message.channel, message.bytes.len() + key)
                && !is_late
                && !self.postpones(message.channel)
                && datagrams.takes(message.channel, message.bytes.len(), key)
                && !self.add_value(order, one, datagrams, &mut maker, &mut added)
            {
                is_all = false;
                break;
            }
            fresh.cursor = order;
        }
        if is_all {
            fresh.cursor = fresh.cursor.max(due);
        }
        self.fresh = Some(fresh);
        added
    }

    /// `false`: it does not fit what is being filled.
    fn add_value(
        &self,
        order: Order,
        one: &Awareness,
        datagrams: &mut Datagrams,
        maker: &mut Maker<'_>,
        added: &mut Added,
    ) -> bool {
        let message = &one.message;
        let Some(opened) = self.subscription(message.channel) else { return true };
        if !datagrams.has_room() {
            return false;
        }
        let number = Number::Awareness { index: one.index, after: one.after };
        let needs = maker.channels[message.channel.place()].needs();
        let now = maker.now;
        let record = maker.record(message, order, number, opened.compress);
        datagrams.submit(now, &record, needs);
        added.messages += 1;
        added.bytes += message.bytes.len() as u64;
        true
    }
}
