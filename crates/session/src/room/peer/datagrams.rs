//! The datagrams from and to a participant (wire W38 to W42).

use core::time::Duration;

use super::Peer;
use super::connection::Connection;
use super::publish::{Publisher, Reading};
use crate::link::Link;
use crate::room::accounting::Accounting;
use crate::room::api::Output;
use crate::room::common::Common;
use crate::room::delivery::{Compression, Delivery};
use crate::room::feed::RecordBuilder;
use crate::room::feed::downsampling::Downsampling;
use crate::room::feed::private_datagrams::Receiver;
use crate::room::log::Log;
use crate::room::timers::Timers;
use crate::{Error, ParticipantId};

impl Peer {
    /// Handles a received datagram. If it is malformed, it is only dropped and counted: the
    /// transport stays open (W38).
    pub(in crate::room) fn receive_datagram(
        &mut self,
        now: Duration,
        packet: &[u8],
        common: &mut Common,
    ) {
        common.accounting.count_received(packet.len());
        let before = common.accounting.stats.bytes_in_before;
        let is_read = self.read_datagram(now, packet, common);
        common.accounting.use_bytes(packet.len(), before);
        match is_read {
            true => self.flush_datagrams(now, common),
            false => common.accounting.stats.datagrams_unread += 1,
        }
    }

    /// Returns false if the beginning of the datagram is malformed.
    fn read_datagram(&mut self, now: Duration, packet: &[u8], common: &mut Common) -> bool {
        let Some(connection) = self.connection_mut() else { return true };
        connection.link.on_packet(now, packet.len());
        let way = connection.link.clock.way();
        let before = common.accounting.stats.messages_in;
        let packet = match self.take_acknowledged(now, packet, &mut common.delivery.groups) {
            Ok(Some(packet)) => packet,
            Ok(None) => return true,
            Err(_) => return false,
        };
        // A datagram from a participant far above its quota is dropped (W99).
        if self.account.check(now, &common.config.quotas).is_err() {
            return true;
        }
        let held = self.sender.held;
        let Some((mut publisher, connection, Reading { packing, batch })) =
            Publisher::new(now, self, common)
        else {
            return true;
        };
        let Connection { link, channels, .. } = connection;
        let Some(datagrams) = link.datagrams.as_mut() else { return true };
        let outcome = datagrams.read(now, packet, way, batch).and_then(|mut incoming| {
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
        common.accounting.inspector.received_datagram(now, self.id, packet.len(), private);
        common.accounting.stats.datagrams_unread += u64::from(outcome.is_err());
        self.tell_if_held(held, &common.log, &common.intake);
        if common.accounting.stats.messages_in > before {
            common.members.act(now, self.id, &mut common.timers);
        }
        true
    }

    /// Sends values that are released, and repeats and reports that are due, in datagrams until
    /// the transport accepts no more. Closes the transport if they cannot be coded.
    pub(in crate::room) fn flush_datagrams(&mut self, now: Duration, common: &mut Common) {
        let Common { log, timers, delivery, accounting, .. } = &mut *common;
        if let Err(error) = self.send_datagrams(now, log, timers, delivery, accounting) {
            self.fail(now, error, common);
        }
    }

    fn send_datagrams(
        &mut self,
        now: Duration,
        log: &Log,
        timers: &mut Timers,
        delivery: &mut Delivery,
        accounting: &mut Accounting,
    ) -> Result<(), Error> {
        let id = self.id;
        let Delivery { outputs, compression, .. } = delivery;
        loop {
            let Some(connection) = self.connection_mut() else { return Ok(()) };
            let has_news = connection.has_due_datagrams();
            let asks_at = connection.link.asks_at();
            let Some(datagrams) = connection.link.datagrams.as_mut() else { return Ok(()) };
            datagrams.ask_at(asks_at);
            let takes_news = has_news && datagrams.clear_at().is_none_or(|at| at <= now);
            if !datagrams.ready() || !(takes_news || datagrams.is_due(now)) {
                let clear = datagrams.clear_at().filter(|_| has_news && datagrams.ready());
                let due = datagrams.timeout(now).into_iter().chain(clear).min();
                connection.plan_datagrams(now, id, due, timers);
                return Ok(());
            }
            if takes_news {
                connection.fill_datagrams(now, id, log, compression, accounting);
            }
            let link = connection.id;
            let Some(datagrams) = connection.link.datagrams.as_mut() else { return Ok(()) };
            let made = datagrams.make(now, accounting.inspector.is_on())?;
            if made.is_empty() && !takes_news {
                connection.plan_datagrams(now, id, Some(now), timers);
                return Ok(());
            }
            for made in made {
                accounting.count_sent(made.bytes.len());
                accounting.inspector.sent_datagram(now, id, &made);
                outputs.push_back(Output::Datagram { link, packet: made.bytes, body: None });
            }
        }
    }
}

impl Connection {
    fn plan_datagrams(
        &mut self,
        now: Duration,
        id: ParticipantId,
        due: Option<Duration>,
        timers: &mut Timers,
    ) {
        if let Some(datagrams) = &mut self.datagrams {
            timers.plan_datagrams(now, id, &mut datagrams.planned, due);
        }
    }

    /// Moves the participant's next datagram to an earlier time if copies of transactions are due
    /// before it.
    pub(super) fn copies_are_due(&mut self, now: Duration, id: ParticipantId, timers: &mut Timers) {
        let datagrams = self.link.datagrams.as_ref();
        let Some(due) = datagrams.and_then(|datagrams| datagrams.timeout(now)) else { return };
        let planned = self.datagrams.as_ref().and_then(|datagrams| datagrams.planned);
        let due = planned.map_or(due, |before| before.min(due));
        self.plan_datagrams(now, id, Some(due), timers);
    }

    /// Hands the values that the participant still has to be sent to the datagrams that are made
    /// next.
    fn fill_datagrams(
        &mut self,
        now: Duration,
        id: ParticipantId,
        log: &Log,
        compression: &mut Compression,
        accounting: &mut Accounting,
    ) {
        let Compression { packing, forms, .. } = compression;
        let Connection { link, datagrams: feed, channels, rates, place, .. } = self;
        let Downsampling { limits, released } = rates;
        let Link { datagrams: Some(datagrams), choosing, .. } = link else { return };
        let Some(feed) = feed else { return };
        let covered = place.as_ref().and_then(|place| place.covered());
        let receiver = Receiver { id, channels, limits, covered };
        let builder = RecordBuilder { now, log, choosing, packing, forms };
        let added = feed.fill(datagrams, receiver, released, builder, &accounting.upstreams);
        // Measuring the link's rate needs a ping, which only the stream has.
        choosing.take_probe();
        accounting.count_delivered(added.messages, added.bytes);
    }
}
