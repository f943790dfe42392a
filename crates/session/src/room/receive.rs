//! Taking packets in (wire.md W8, W17, W20, W28).

use alloc::string::ToString;
use core::time::Duration;

use super::change::Upstream;
use super::join::OpenFrame;
use super::journal::{Awareness, Stored};
use super::{Channel, Room};
use crate::compress::choice_of;
use crate::ids::{ChannelNo, ParticipantId, Position};
use crate::limits::MAX_PRESENCE;
use crate::link::Bodies;
#[cfg(feature = "describe")]
use crate::trace::Part;
#[cfg(feature = "describe")]
use crate::wire::body::account::part;
use crate::wire::body::{Form, Lane};
use crate::wire::contract;
use crate::wire::frame::{Frame, Frames};
use crate::wire::record::{Number, Record};
use crate::{Error, Overflow};

/// Positions and counters travel in 32 bits (W21).
const LAST_POSITION: Position = Position(u32::MAX as u64 - 1);

impl Room {
    pub(super) fn receive(
        &mut self,
        now: Duration,
        id: ParticipantId,
        packet: &[u8],
    ) -> Result<(), Error> {
        let limit = self.config.limits.max_packet;
        if packet.len() > limit {
            return Err(Error::TooLarge { what: "packet", size: packet.len(), limit });
        }
        self.stats.packets_in += 1;
        self.stats.bytes_in_after += packet.len() as u64;
        if let Some(connection) = self.connection(id) {
            connection.link.hear(now, packet.len());
        }
        let mut frames = Frames::new(packet);
        while let Some(frame) = frames.next()? {
            self.frame(now, id, frame)?;
            if self.connection(id).is_some_and(|connection| connection.link.is_flooded()) {
                return Err(Error::Stalled);
            }
        }
        Ok(())
    }

    fn frame(&mut self, now: Duration, id: ParticipantId, frame: Frame<'_>) -> Result<(), Error> {
        let Some(connection) = self.connection(id) else { return Ok(()) };
        match frame {
            Frame::PackedMessages(_) | Frame::PackedSnapshot(_)
                if !connection.link.choosing.blocks.are_agreed() =>
            {
                return Err(Error::malformed("PACKED: it was not agreed on"));
            }
            Frame::Messages(body) => return self.body(now, id, body, Form::Plain),
            Frame::Coded(body) => return self.body(now, id, body, Form::Coded),
            Frame::PackedMessages(body) => return self.body(now, id, body, Form::Packed),
            Frame::Open { reference, access, name, qos, have, compress } => {
                let open = OpenFrame { reference, access, name, qos, have, compress };
                return self.open(id, &open, false);
            }
            Frame::Shut { id: channel } => {
                self.leave_shared(id);
                let Some(connection) = self.connection(id) else { return Ok(()) };
                if connection.channels.remove(&channel).is_none() {
                    return Err(Error::UnknownChannel { channel: channel.get() });
                }
                connection.fills.retain(|fill| fill.channel != channel);
                connection.unsynced.remove(&channel);
                connection.thinned.remove(&channel);
            }
            Frame::Compress { id: channel, compress } => {
                self.leave_shared(id);
                let Some(connection) = self.connection(id) else { return Ok(()) };
                match connection.channels.get_mut(&channel) {
                    Some(opened) => opened.compress = compress,
                    None => return Err(Error::UnknownChannel { channel: channel.get() }),
                }
            }
            Frame::Change { id: channel, qos } if connection.link.stamps.agreed => {
                connection.requests.count(now, connection.channels.len())?;
                return self.change(now, id, channel, qos);
            }
            Frame::Rate { id: channel, rate } if connection.link.stamps.agreed => {
                connection.requests.count(now, connection.channels.len())?;
                return self.limit_rate(now, id, channel, rate);
            }
            Frame::Contract(octets) if connection.link.stamps.agreed => {
                let link = &mut connection.link;
                if let Some(stamp) = contract::read(octets, drop)? {
                    link.stamps.came(now, stamp, &link.clock);
                }
            }
            #[cfg(feature = "describe")]
            Frame::Standing(octets) => return connection.hear_standing(octets),
            Frame::Codecs { set } => self.reads(id, set),
            Frame::Presence(presence) => return self.set_presence(now, id, presence),
            Frame::Snapshot(chunk) => return self.take_chunk(id, &chunk, false),
            Frame::PackedSnapshot(chunk) => return self.take_chunk(id, &chunk, true),
            Frame::Ping { time } => connection.link.answer_ping(now, time),
            Frame::Pong { time, received, sent } => connection.link.pong(now, time, received, sent),
            Frame::Bye { .. } => self.say_goodbye(id),
            Frame::Error { code, fault, fatal, detail, .. } => {
                if fatal {
                    return Err(Error::Remote { code, fault, detail: detail.to_string() });
                }
            }
            Frame::Acknowledged { class, rest } => {
                return self.acknowledged(now, id, Lane::Stream, class, rest);
            }
            _ => {
                return Err(Error::malformed(
                    "frame: only a server sends this, or it was not agreed on",
                ));
            }
        }
        Ok(())
    }

    /// W46: a participant can read these codecs.
    pub(super) fn reads(&mut self, id: ParticipantId, set: u64) {
        if let Some(connection) = self.connection(id) {
            connection.link.choosing.reads(set);
        }
    }

    fn say_goodbye(&mut self, id: ParticipantId) {
        if let Some(connection) = self.connection(id) {
            let link = connection.id;
            let packet = alloc::vec::Vec::new();
            self.outputs.push_back(super::Output::Close { link, packet, reason: None });
        }
        self.leave(id);
    }

    pub(super) fn set_presence(
        &mut self,
        now: Duration,
        id: ParticipantId,
        presence: &[u8],
    ) -> Result<(), Error> {
        if presence.len() > MAX_PRESENCE {
            let (what, size, limit) = ("presence", presence.len(), MAX_PRESENCE);
            return Err(Error::TooLarge { what, size, limit });
        }
        if let Some(participant) = self.participants.get_mut(&id)
            && participant.presence != presence
        {
            participant.presence = presence.to_vec();
            self.announce(now, id);
        }
        Ok(())
    }

    fn body(
        &mut self,
        now: Duration,
        id: ParticipantId,
        body: &[u8],
        form: Form,
    ) -> Result<(), Error> {
        #[cfg(feature = "describe")]
        let is_traced = self.trace.is_on();
        let Some(connection) = self.connection(id) else { return Ok(()) };
        let one_way = connection.link.transit();
        let opened = core::mem::take(&mut connection.channels);
        let Some(mut bodies) = connection.link.bodies.take() else { return Ok(()) };
        let channels = core::mem::take(&mut self.channels);
        let mut packing = core::mem::take(&mut self.packing);
        let kind_of = |channel: ChannelNo| match opened.get(&channel) {
            None => Err(Error::UnknownChannel { channel: channel.get() }),
            Some(opened) if !opened.access.publish => {
                Err(Error::NotAllowed { what: "publishing on this channel" })
            }
            Some(_) => Ok(channels[channel.place()].qos.kind),
        };
        let each = |record: Record<'_>| {
            self.publish(now, id, &channels[record.channel.place()], one_way, &record)
        };
        let Bodies { decoder, .. } = &mut bodies;
        #[cfg(feature = "describe")]
        decoder.keep_account(is_traced);
        let outcome = decoder.read_body(form, body, &mut packing, kind_of, each);
        packing.tidy();
        self.packing = packing;
        self.channels = channels;
        if let Some(connection) = self.connection(id) {
            connection.channels = opened;
            connection.link.bodies = Some(bodies);
        }
        outcome
    }

    pub(super) fn publish(
        &mut self,
        now: Duration,
        id: ParticipantId,
        channel: &Channel,
        one_way: Duration,
        record: &Record<'_>,
    ) -> Result<(), Error> {
        let Some(participant) = self.participants.get_mut(&id) else { return Ok(()) };
        let message = Stored {
            channel: record.channel,
            sender: id,
            key: record.key.map(Into::into),
            priority: record.priority,
            text: record.text,
            bytes: record.bytes.into(),
            born: now.saturating_sub(record.age).saturating_sub(one_way),
        };
        #[cfg(feature = "describe")]
        self.trace.note(|| Part {
            age: now.saturating_sub(message.born),
            sender: id,
            ..part(record)
        });
        let limits = &self.config.limits;
        match record.number {
            Number::Awareness { index, after } => {
                let conflates = channel.qos.overflow == Overflow::Conflate;
                let key = conflates.then(|| record.key.unwrap_or_default());
                if !participant.seen.is_news(ParticipantId(0), record.channel, key, index) {
                    self.trace.note_repeated();
                    return Ok(());
                }
                let age = record.age + one_way;
                match participant.upstream.get_mut(&record.channel) {
                    Some(upstream) => upstream.came(now, index, age, &channel.qos),
                    None => {
                        let upstream = Upstream::at(index, message.born);
                        participant.upstream.insert(record.channel, upstream);
                    }
                }
                let pairs = channel.qos.outruns(self.config.timing.tick).then_some(self.ticked);
                let value = Awareness::new(message, index, after);
                let replaced = self.journal.push_awareness(now, &channel.qos, value, pairs, limits);
                self.stats.conflated += u64::from(replaced);
            }
            Number::Transaction { counter, .. } | Number::Copy { counter, .. } => {
                if counter <= participant.counter {
                    // W28: the room has it; it was sent again after a break.
                    self.trace.note_repeated();
                    return Ok(());
                }
                if counter != participant.counter.next() {
                    if matches!(record.number, Number::Copy { .. }) {
                        // W83: the stream brings it in its turn.
                        return Ok(());
                    }
                    return Err(Error::malformed("record: transactions are missing"));
                }
                if self.journal.head() >= LAST_POSITION {
                    let limit = LAST_POSITION.get() as usize;
                    return Err(Error::TooMany { what: "transactions in this room's life", limit });
                }
                participant.counter = counter;
                self.journal.push_transaction(message, counter, limits);
            }
            Number::Fill { .. } => return Err(Error::malformed("record")),
        }
        #[cfg(feature = "describe")]
        self.recorder.push(now, one_way, id, record);
        if let Some(packed) = record.packed.filter(|packed| packed.len() < record.bytes.len())
            && let Some(choice) = packed.first().and_then(|&first| choice_of(first))
        {
            self.forms.put(self.journal.order(), choice, Some(packed));
        }
        self.stats.messages_in += 1;
        self.stats.bytes_in_before += record.bytes.len() as u64;
        self.schedule_tick(now);
        Ok(())
    }
}
