//! Awareness as datagrams, both ways (wire.md W38 to W42).

use core::time::Duration;

use super::journal::Journal;
use super::participant::Connection;
use super::{Channel, Output, Room};
use crate::datagrams::Datagrams;
use crate::wire::record::{Number, Record};
use crate::{Error, Kind};

impl Room {
    /// W38: what is wrong with a datagram costs nothing but itself.
    pub(super) fn receive_datagram(&mut self, now: Duration, id: u32, packet: &[u8]) {
        self.stats.packets_in += 1;
        self.stats.bytes_in_after += packet.len() as u64;
        let Some(connection) = self.connection(id) else { return };
        connection.link.hear(now);
        let one_way = connection.link.clock.one_way();
        let Some(mut datagrams) = connection.link.datagrams.take() else { return };
        let opened = core::mem::take(&mut connection.channels);
        let channels = core::mem::take(&mut self.channels);
        let kind_of = |channel: u32| match opened.get(&channel) {
            Some(access) if access.publish => match channels[channel as usize - 1].qos.kind {
                Kind::Awareness => Ok(Kind::Awareness),
                Kind::Transaction => Err(Error::malformed("datagram: a transaction")),
            },
            _ => Err(Error::UnknownChannel { channel }),
        };
        let each = |record: Record<'_>| {
            self.publish(now, id, &channels[record.channel as usize - 1], one_way, &record)
        };
        let outcome = datagrams.receive(now, packet, kind_of, each);
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
            let Room { participants, journal, channels, stats, outputs, .. } = self;
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
            let added = connection.add_fresh(now, id, &mut datagrams, journal, channels);
            let made = datagrams.finish(added.private, start);
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
    private: bool,
    messages: u64,
    bytes: u64,
}

impl Connection {
    fn add_fresh(
        &mut self,
        now: Duration,
        id: u32,
        datagrams: &mut Datagrams,
        journal: &Journal,
        channels: &[Channel],
    ) -> Added {
        let mut added = Added::default();
        let mut private = None;
        let Some(mut fresh) = self.fresh else { return added };
        let due = self.due.0;
        let values = journal.awareness_after(fresh.cursor).take_while(|(order, _)| *order <= due);
        let mut is_all = true;
        for (order, one) in values {
            let message = &one.message;
            let is_late = one.expires.is_some_and(|expires| expires <= now);
            let key = message.key.as_ref().map_or(0, |key| key.len());
            if message.sender != id
                && !is_late
                && self.subscribes(message.channel)
                && datagrams.takes(message.bytes.len(), key)
            {
                let is_private = channels[message.channel as usize - 1].qos.private;
                if *private.get_or_insert(is_private) != is_private
                    || !datagrams.may_fit(message.bytes.len())
                {
                    is_all = false;
                    break;
                }
                datagrams.encoder.push(&Record {
                    channel: message.channel,
                    sender: message.sender,
                    number: Number::Awareness { index: one.index, after: one.after },
                    own: false,
                    state: false,
                    age: now.saturating_sub(message.born),
                    text: message.text,
                    key: message.key.as_deref(),
                    priority: message.priority,
                    bytes: &message.bytes,
                });
                added.messages += 1;
                added.bytes += message.bytes.len() as u64;
            }
            fresh.cursor = order;
        }
        if is_all {
            fresh.cursor = fresh.cursor.max(due);
        }
        self.fresh = Some(fresh);
        added.private = private.unwrap_or(false);
        added
    }
}
