//! Awareness as datagrams, both ways (wire.md W38 to W42).

use core::time::Duration;

use super::journal::Journal;
use super::outgoing::Maker;
use super::participant::Connection;
use super::{Output, Room};
use crate::datagrams::Datagrams;
use crate::wire::record::{Number, Record};
use crate::{Error, Kind};

impl Room {
    /// W38: what is wrong with a datagram costs nothing but itself.
    pub(super) fn receive_datagram(&mut self, now: Duration, id: u32, packet: &[u8]) {
        self.stats.packets_in += 1;
        self.stats.bytes_in_after += packet.len() as u64;
        let Some(connection) = self.connection(id) else { return };
        connection.link.hear(now, packet.len());
        let one_way = connection.link.clock.one_way();
        let Some(mut datagrams) = connection.link.datagrams.take() else { return };
        let opened = core::mem::take(&mut connection.channels);
        let channels = core::mem::take(&mut self.channels);
        let mut packing = core::mem::take(&mut self.packing);
        let kind_of = |channel: u32| match opened.get(&channel) {
            Some(opened) if opened.access.publish => {
                match channels[channel as usize - 1].qos.kind {
                    Kind::Awareness => Ok(Kind::Awareness),
                    Kind::Transaction => Err(Error::malformed("datagram: a transaction")),
                }
            }
            _ => Err(Error::UnknownChannel { channel }),
        };
        let each = |record: Record<'_>| {
            self.publish(now, id, &channels[record.channel as usize - 1], one_way, &record)
        };
        let outcome = datagrams.receive(now, packet, &mut packing, kind_of, each);
        packing.tidy();
        self.packing = packing;
        self.stats.datagrams_unread += u64::from(outcome.is_err());
        self.channels = channels;
        if let Some(connection) = self.connection(id) {
            connection.channels = opened;
            connection.link.datagrams = Some(datagrams);
        }
        self.flush_datagrams(now, id);
    }

    /// Sends what the last tick left, as far as the transport takes it.
    pub(super) fn flush_datagrams(&mut self, now: Duration, id: u32) {
        loop {
            let Room { participants, journal, channels, stats, outputs, packing, forms, .. } = self;
            let Some(connection) =
                participants.get_mut(&id).and_then(|one| one.connection.as_mut())
            else {
                return;
            };
            let Some(mut datagrams) = connection.link.datagrams.take() else { return };
            let has_news = connection.fresh.is_some_and(|fresh| fresh.cursor < connection.due.0);
            if !datagrams.ready() || !(has_news || datagrams.must_answer(now)) {
                connection.link.datagrams = Some(datagrams);
                return;
            }
            let start = datagrams.begin(now);
            let mut choosing = core::mem::take(&mut connection.link.choosing);
            let maker = Maker { now, channels, choosing: &mut choosing, packing, forms };
            let added = connection.add_fresh(id, &mut datagrams, journal, maker);
            // Only the stream has pings.
            choosing.take_probe();
            connection.link.choosing = choosing;
            let made = datagrams.finish(start);
            let link = connection.id;
            connection.link.datagrams = Some(datagrams);
            stats.deliveries += added.messages;
            stats.bytes_out_before += added.bytes;
            match made {
                Ok(packets) if packets.is_empty() && !has_news => return,
                Ok(packets) => {
                    for packet in packets {
                        stats.packets_out += 1;
                        stats.bytes_out_after += packet.len() as u64;
                        outputs.push_back(Output::Datagram { link, packet });
                    }
                }
                Err(error) => return self.fail(now, id, error),
            }
        }
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
        id: u32,
        datagrams: &mut Datagrams,
        journal: &Journal,
        mut maker: Maker<'_>,
    ) -> Added {
        let mut added = Added::default();
        let Some(mut fresh) = self.fresh else { return added };
        let due = self.due.0;
        let values = journal.awareness_after(fresh.cursor).take_while(|(order, _)| *order <= due);
        let mut is_all = true;
        for (order, one) in values {
            let message = &one.message;
            let is_late = one.expires.is_some_and(|expires| expires <= maker.now);
            let key = message.key.as_ref().map_or(0, |key| key.len());
            if message.sender != id
                && !is_late
                && let Some(opened) = self.subscription(message.channel)
                && datagrams.takes(message.bytes.len(), key)
            {
                let coding = maker.coding(message.channel, opened.compress);
                if !datagrams.encoder.takes(coding) || !datagrams.may_fit(message.bytes.len()) {
                    is_all = false;
                    break;
                }
                let number = Number::Awareness { index: one.index, after: one.after };
                let record = maker.record(message, order, number, opened.compress);
                datagrams.encoder.push(&record);
                added.messages += 1;
                added.bytes += message.bytes.len() as u64;
            }
            fresh.cursor = order;
        }
        if is_all {
            fresh.cursor = fresh.cursor.max(due);
        }
        self.fresh = Some(fresh);
        added
    }
}
