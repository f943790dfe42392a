//! The datagrams from and to a participant (wire W38 to W42).

use core::time::Duration;

use super::Peer;
use super::connection::Connection;
use super::publish::{Publisher, Reading};
use crate::link::Link;
use crate::room::api::Output;
use crate::room::common::Common;
use crate::room::feed::RecordBuilder;
use crate::room::feed::private_datagrams::Receiver;

impl Peer {
    /// Handles a received datagram. If it is malformed, it is only dropped and counted: the transport stays open (W38).
    pub(in crate::room) fn receive_datagram(
        &mut self,
        now: Duration,
        packet: &[u8],
        common: &mut Common,
    ) {
        common.stats.packets_in += 1;
        common.stats.bytes_in_after += packet.len() as u64;
        let before = common.stats.bytes_in_before;
        let is_read = self.read_datagram(now, packet, common);
        common.use_bytes(packet.len(), before);
        match is_read {
            true => self.flush_datagrams(now, common),
            false => common.stats.datagrams_unread += 1,
        }
    }

    /// Returns false if the beginning of the datagram is malformed.
    fn read_datagram(&mut self, now: Duration, packet: &[u8], common: &mut Common) -> bool {
        let Some(connection) = self.connection_mut() else { return true };
        connection.link.on_packet(now, packet.len());
        let one_way = connection.link.clock.one_way();
        let before = common.stats.messages_in;
        let packet = match self.take_acknowledged(now, packet, common) {
            Ok(Some(packet)) => packet,
            Ok(None) => return true,
            Err(_) => return false,
        };
        // A datagram from a participant far above its quota is dropped (W99).
        if self.account.check(now, &common.config.quotas).is_err() {
            return true;
        }
        let held = self.held;
        let Some((mut publisher, connection, Reading { packing, batch })) =
            Publisher::new(now, self, common)
        else {
            return true;
        };
        let Connection { link, channels, .. } = connection;
        let Some(datagrams) = link.datagrams.as_mut() else { return true };
        let outcome = datagrams.read(now, packet, one_way, batch).and_then(|mut incoming| {
            let mut publish_all = || {
                while let Some(record) = datagrams.next(now, &mut incoming, packing, |channel| {
                    publisher.needs_of(channels, channel)
                })? {
                    publisher.publish(&record)?;
                }
                Ok(())
            };
            let outcome = publish_all();
            datagrams.finish(now, incoming, outcome)
        });
        packing.tidy();
        let private = datagrams.before_body();
        common.inspector.received_datagram(now, self.id, packet.len(), private);
        common.stats.datagrams_unread += u64::from(outcome.is_err());
        self.tell_if_held(held, common);
        if common.stats.messages_in > before {
            common.act(now, self.id);
        }
        true
    }

    /// Sends values up to the last tick, and repeats and reports that are due, in datagrams until the transport accepts
    /// no more.
    pub(in crate::room) fn flush_datagrams(&mut self, now: Duration, common: &mut Common) {
        let id = self.id;
        loop {
            let Some(connection) = self.connection_mut() else { return };
            let has_news = connection.has_due_datagrams();
            let asks_at = connection.link.asks_at();
            let Some(datagrams) = connection.link.datagrams.as_mut() else { return };
            datagrams.ask_at(asks_at);
            let takes_news = has_news && datagrams.clear_at().is_none_or(|at| at <= now);
            if !datagrams.ready() || !(takes_news || datagrams.is_due(now)) {
                let clear = datagrams.clear_at().filter(|_| has_news && datagrams.ready());
                let due = datagrams.timeout(now).into_iter().chain(clear).min();
                return self.plan_datagrams(now, due, common);
            }
            if takes_news {
                connection.fill_datagrams(now, id, common);
            }
            let link = connection.id;
            let Some(datagrams) = connection.link.datagrams.as_mut() else { return };
            match datagrams.make(now, common.inspector.is_on()) {
                Ok(made) if made.is_empty() && !takes_news => {
                    return self.plan_datagrams(now, Some(now), common);
                }
                Ok(made) => {
                    for made in made {
                        common.stats.packets_out += 1;
                        common.stats.bytes_out_after += made.bytes.len() as u64;
                        common.inspector.sent_datagram(now, id, &made);
                        let packet = made.bytes;
                        common.outputs.push_back(Output::Datagram { link, packet, body: None });
                    }
                }
                Err(error) => return self.fail(now, error, common),
            }
        }
    }

    fn plan_datagrams(&mut self, now: Duration, due: Option<Duration>, common: &mut Common) {
        let id = self.id;
        if let Some(connection) = self.connection_mut() {
            common.timers.plan_datagrams(now, id, &mut connection.datagrams_at, due);
        }
    }

    /// Moves the participant's next datagram to an earlier time if copies of transactions are due before it.
    pub(super) fn copies_are_due(&mut self, now: Duration, common: &mut Common) {
        let Some(connection) = self.connection() else { return };
        let datagrams = connection.link.datagrams.as_ref();
        let Some(due) = datagrams.and_then(|datagrams| datagrams.timeout(now)) else { return };
        let due = connection.datagrams_at.map_or(due, |before| before.min(due));
        self.plan_datagrams(now, Some(due), common);
    }
}

impl Connection {
    /// Hands the values that the participant still has to be sent to the datagrams that are made next.
    fn fill_datagrams(&mut self, now: Duration, id: crate::ParticipantId, common: &mut Common) {
        let Common { log, packing, forms, upstreams, stats, .. } = common;
        let Connection { link, datagrams: feed, channels, limits, released, place, .. } = self;
        let Link { datagrams: Some(datagrams), choosing, .. } = link else { return };
        let Some(feed) = feed else { return };
        let covered = place.as_ref().and_then(|place| place.covered());
        let receiver = Receiver { id, channels, limits, covered };
        let builder = RecordBuilder { now, log, choosing, packing, forms };
        let added = feed.fill(datagrams, receiver, released, builder, upstreams);
        // Measuring the link's rate needs a ping, which only the stream has.
        choosing.take_probe();
        stats.deliveries += added.messages;
        stats.bytes_out_before += added.bytes;
    }
}
