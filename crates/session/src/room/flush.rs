//! Sending a participant what is due, as far as its transport takes it. Encoded late: nothing stale is queued.

use alloc::vec::Vec;
use core::time::Duration;

use super::Room;
use super::journal::{Awareness, Journal, Stored, Transaction};
use super::outgoing::Maker;
use super::participant::{Connection, Download, Fresh};
use crate::ids::{ChannelNo, Counter, Order, ParticipantId, Position};
use crate::limits::MAX_PRESENCE;
use crate::link::{Bodies, PING_SIZE};
use crate::packing::Piece;
use crate::trace::Part;
use crate::wire::frame::{Frame, ParticipantEntry};
use crate::wire::record::{Number, Record};
use crate::{Compress, Error, PresenceState};

/// Octets of presence per packet; the rest waits for the next one.
const PRESENCE_PER_PACKET: usize = 16 << 10;

/// So many skipped positions are worth a frame, so that a later resume starts from here.
pub(super) const WORTH_A_POSITION: u64 = 128;

impl Room {
    pub(super) fn flush(&mut self, now: Duration, id: ParticipantId) {
        self.flush_shared(now, id);
        loop {
            let tail = self.journal.tail();
            let Some(connection) = self.connection(id) else { return };
            let is_member = connection.membership.is_member();
            if connection.download.is_none() && !is_member && connection.log_cursor < tail {
                // Too slow for the log: back in by the snapshot.
                self.catch_up(id, false);
            }
            let Some(connection) = self.connection(id) else { return };
            connection.say_synced();
            connection.feed_model();
            self.tell_changes(id);
            let Some(connection) = self.connection(id) else { return };
            if !connection.link.ready() || !connection.has_anything() {
                return;
            }
            let before = connection.progress();
            let mut packet = connection.link.begin(now);
            // What a body means depends on the control frames before it, so it never overtakes them.
            let mut sent = Ok(());
            if !connection.link.has_control() {
                self.add_participants(id, &mut packet);
                if !self.add_state(now, id, &mut packet) {
                    sent = self.add_body(now, id, &mut packet);
                }
            }
            if let Err(error) = sent {
                return self.fail(now, id, error);
            }
            let Some(connection) = self.connection(id) else { return };
            if packet.is_empty() {
                // All that was due was its own or not for it, unless a message fits no packet.
                if connection.progress() == before {
                    return;
                }
                continue;
            }
            connection.link.launched(packet.len());
            let link = connection.id;
            self.stats.packets_out += 1;
            self.stats.bytes_out_after += packet.len() as u64;
            #[cfg(feature = "describe")]
            self.describe_packet(now, id, packet.len());
            self.outputs.push_back(super::Output::Send { link, packet, body: None });
        }
    }

    pub(super) fn add_participants(&mut self, id: ParticipantId, packet: &mut Vec<u8>) {
        let Some(connection) = self.connection(id) else { return };
        if connection.changed.is_empty() && !connection.complete {
            return;
        }
        let complete = core::mem::take(&mut connection.complete);
        let mut changed = core::mem::take(&mut connection.changed);
        let mut list = Vec::new();
        let mut size = 0;
        let room = connection.link.room(packet).saturating_sub(MAX_PRESENCE + 64);
        while let Some(&other) = changed.first().filter(|_| size < PRESENCE_PER_PACKET.min(room)) {
            changed.pop_first();
            let (state, presence) = match self.participants.get(&other) {
                Some(participant) => (participant.presence_state, participant.presence.as_slice()),
                None => (PresenceState::Left, &[][..]),
            };
            size += presence.len() + 8;
            list.push(ParticipantEntry { id: other, state, presence });
        }
        let left: Vec<ParticipantId> = list
            .iter()
            .filter(|entry| entry.state == PresenceState::Left)
            .map(|entry| entry.id)
            .collect();
        Frame::Participants { complete, list }.write(packet);
        if let Some(connection) = self.connection(id) {
            connection.changed = changed;
            if let Some(bodies) = connection.link.bodies.as_mut() {
                left.into_iter().for_each(|other| bodies.encoder.numbering.forget(other));
            }
        }
    }

    /// Adds a chunk of a snapshot on its way. `true`: bodies have to wait until it is there.
    fn add_state(&mut self, now: Duration, id: ParticipantId, packet: &mut Vec<u8>) -> bool {
        let Room { participants, packing, chunks, trace, .. } = self;
        let Some(connection) =
            participants.get_mut(&id).and_then(|one| one.connection.as_deref_mut())
        else {
            return false;
        };
        let Some(download) = connection.download.as_mut() else { return false };
        let Download { snapshot, counter, offset } = download;
        let (as_of, counter, snapshot) = (snapshot.as_of, *counter, &snapshot.bytes[..]);
        let from = *offset;
        let (at, link) = (packet.len(), &mut connection.link);
        let room = link.room(packet).saturating_sub(PING_SIZE);
        let piece = Piece { as_of, counter, snapshot, offset: *offset };
        *offset += piece.write(now, room, &mut link.choosing, packing, Some(chunks), packet);
        trace.note(|| Part::of_snapshot(from, *offset - from, packet.len() - at));
        link.probe(now, packet, at);
        packing.tidy();
        if download.offset == download.snapshot.bytes.len() {
            let (as_of, counter) = (download.snapshot.as_of, download.counter);
            connection.download = None;
            connection.enter(id, as_of, counter);
        }
        true
    }

    fn add_body(
        &mut self,
        now: Duration,
        id: ParticipantId,
        packet: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let Room { participants, journal, channels, stats, packing, forms, .. } = self;
        let Some(connection) =
            participants.get_mut(&id).and_then(|one| one.connection.as_deref_mut())
        else {
            return Ok(());
        };
        // The coders are taken out so that the rest of the connection can be changed beside them.
        let Some(mut bodies) = connection.link.bodies.take() else { return Ok(()) };
        #[cfg(feature = "describe")]
        bodies.encoder.keep_account(self.trace.is_on());
        let mut choosing = core::mem::take(&mut connection.link.choosing);
        let mut body = Body {
            room: connection.link.room(packet),
            bodies: &mut bodies,
            maker: Maker { now, channels, choosing: &mut choosing, packing, forms },
            messages: 0,
            bytes: 0,
        };
        let (from, told) = (connection.log_cursor, body.bodies.encoder.numbering.position());
        if connection.add_fills(&mut body, journal)
            && connection.add_rested(id, &mut body, journal)
            && connection.add_slotted(&mut body, journal)
        {
            connection.add_news(id, &mut body, journal);
        }
        connection.copy_news(id, (from, told), journal, &mut body.maker);
        stats.deliveries += body.messages;
        stats.bytes_out_before += body.bytes;
        connection.link.choosing = choosing;
        let at = packet.len();
        let outcome = match bodies.encoder.is_empty() {
            true => Ok(()),
            false => {
                let choosing = &mut connection.link.choosing;
                bodies.encoder.finish(choosing, packing, packet)
            }
        };
        connection.link.probe(now, packet, at);
        connection.link.stamp(now, packet, at);
        let skipped =
            connection.log_cursor.get().saturating_sub(bodies.encoder.numbering.position().get());
        let is_worth_it = skipped >= WORTH_A_POSITION && connection.fills.is_empty();
        if is_worth_it && !connection.membership.is_member() {
            connection.link.queue(&Frame::Position(connection.log_cursor));
            bodies.encoder.numbering.advance(connection.log_cursor);
        }
        connection.link.bodies = Some(bodies);
        packing.tidy();
        self.copies_are_due(now, id);
        outcome
    }
}

/// A body being filled.
pub(super) struct Body<'a> {
    /// Octets left in the packet.
    room: usize,
    bodies: &'a mut Bodies,
    maker: Maker<'a>,
    messages: u64,
    bytes: u64,
}

impl Body<'_> {
    /// A message of this order, for who wants it compressed so. `false`: it does not fit; it opens the next packet.
    pub(super) fn push(
        &mut self,
        message: &Stored,
        order: Order,
        number: Number,
        state: bool,
        compress: Compress,
    ) -> bool {
        if !self.takes(message, message.bytes.len(), compress) {
            return false;
        }
        let record = self.maker.record(message, order, number, compress);
        self.bodies.encoder.push(&Record { state, ..record });
        self.messages += 1;
        self.bytes += message.bytes.len() as u64;
        true
    }

    /// The same for a message of the receiver's own, which goes without its octets.
    fn push_own(
        &mut self,
        message: &Stored,
        number: Number,
        state: bool,
        compress: Compress,
    ) -> bool {
        if !self.takes(message, 0, compress) {
            return false;
        }
        let record = self.maker.own(message, number, compress);
        self.bodies.encoder.push(&Record { state, ..record });
        true
    }

    fn takes(&self, message: &Stored, bytes: usize, compress: Compress) -> bool {
        let encoder = &self.bodies.encoder;
        encoder.takes(self.maker.coding(message.channel, compress))
            && encoder.fits(bytes, self.room)
    }
}

impl Connection {
    /// The participant stands at `position` of the log without having read up to it.
    pub(super) fn enter(&mut self, id: ParticipantId, position: Position, counter: Counter) {
        self.log_cursor = self.log_cursor.max(position);
        if let Some(Bodies { encoder, .. }) = self.link.bodies.as_mut() {
            encoder.numbering.advance(position);
            encoder.numbering.counted(id, counter);
        }
    }

    /// Tells where the participant stands in the log, if it knows of an earlier place only.
    pub(super) fn say_place(&mut self) {
        let place = self.log_cursor;
        let Some(Bodies { encoder, .. }) = self.link.bodies.as_mut() else { return };
        if encoder.numbering.position() < place {
            encoder.numbering.advance(place);
            self.link.queue(&Frame::Position(place));
        }
    }

    /// Older transactions of channels opened late. `true`: all are sent.
    fn add_fills(&mut self, body: &mut Body<'_>, journal: &Journal) -> bool {
        while let Some(fill) = self.fills.front_mut() {
            let opened = self.channels.get(&fill.channel);
            let compress = opened.map_or(Compress::Template, |opened| opened.compress);
            let trimmed = journal.trimmed(fill.channel).min(fill.until);
            if fill.cursor < trimmed {
                // W33: part of what it wants is gone. The receiver's place in the log stays.
                fill.cursor = trimmed;
                let position = body.bodies.encoder.numbering.position();
                self.link.queue(&Frame::Gap { position, counter: Counter(0) });
            }
            let older = journal
                .transactions_after(fill.cursor)
                .take_while(|older| older.position <= fill.until);
            for Transaction { message, counter, position, order } in older {
                let number = Number::Fill { counter: *counter, position: *position };
                if message.channel == fill.channel
                    && !body.push(message, *order, number, true, compress)
                {
                    return false;
                }
                fill.cursor = *position;
            }
            let channel = fill.channel;
            self.fills.pop_front();
            self.link.queue(&Frame::Synced { channel });
        }
        true
    }

    /// W41: values that went as datagrams and were not followed by newer ones. `true`: all are sent.
    fn add_rested(&mut self, id: ParticipantId, body: &mut Body<'_>, journal: &Journal) -> bool {
        let Some(Fresh { rested, rests, .. }) = self.fresh else { return true };
        let values = journal.awareness_after(rested).take_while(|(order, _)| *order <= rests);
        for (order, one) in values {
            let number = Number::Awareness { index: one.index, after: one.after };
            if one.message.sender != id
                && one.expires.is_none()
                && let Some(opened) = self.subscription(one.message.channel)
                && !self.takes_stream(order, &one.message)
                && !self.membership.covers(one.message.channel)
            {
                if !body.push(&one.message, order, number, false, opened.compress) {
                    return false;
                }
                #[cfg(feature = "describe")]
                body.bodies.encoder.repeats();
            }
            self.rested(order);
        }
        self.rested(rests);
        true
    }

    fn rested(&mut self, order: Order) {
        if let Some(fresh) = self.fresh.as_mut() {
            fresh.rested = order;
        }
    }

    /// Transactions and awareness up to the last tick, in the order in which they came.
    fn add_news(&mut self, id: ParticipantId, body: &mut Body<'_>, journal: &Journal) {
        let (due_order, due_position) = self.due;
        let mut transactions = journal
            .transactions_after(self.log_cursor)
            .take_while(|one| one.position <= due_position && !self.membership.is_member())
            .peekable();
        let mut awareness = journal
            .awareness_after(self.awareness_cursor)
            .take_while(|(order, _)| *order <= due_order)
            .peekable();
        loop {
            let log_first = match (transactions.peek(), awareness.peek()) {
                (Some(one), Some((order, _))) => one.order < *order,
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (None, None) => break,
            };
            if log_first {
                let Some(one) = transactions.next() else { break };
                if !self.add_transaction(id, body, one) {
                    return;
                }
                self.log_cursor = one.position;
            } else {
                let Some((order, one)) = awareness.next() else { break };
                if !self.add_awareness(id, body, order, one) {
                    return;
                }
                self.awareness_cursor = order;
            }
        }
        // What is left between the last value and the tick was replaced by newer ones.
        self.awareness_cursor = self.awareness_cursor.max(due_order);
        if !self.membership.is_member() {
            self.log_cursor = self.log_cursor.max(due_position);
        }
    }

    fn add_transaction(&self, id: ParticipantId, body: &mut Body<'_>, one: &Transaction) -> bool {
        let number = Number::Transaction { counter: one.counter, position: one.position };
        let state = self.joining.is_some_and(|(until, _)| one.order <= until);
        if one.message.sender == id {
            // Its channel may not be open on this transport.
            let opened = self.channels.get(&one.message.channel);
            let compress = opened.map_or(Compress::Template, |opened| opened.compress);
            return body.push_own(&one.message, number, state, compress);
        }
        match self.subscription(one.message.channel) {
            Some(opened) => body.push(&one.message, one.order, number, state, opened.compress),
            None => true,
        }
    }

    fn add_awareness(
        &self,
        id: ParticipantId,
        body: &mut Body<'_>,
        order: Order,
        one: &Awareness,
    ) -> bool {
        let late = one
            .expires
            .is_some_and(|expires| expires <= body.maker.now || order <= self.present_from);
        if one.message.sender == id
            || late
            || !self.takes_stream(order, &one.message)
            || self.membership.covers(one.message.channel)
        {
            return true;
        }
        let Some(opened) = self.subscription(one.message.channel) else { return true };
        if self.postpones(one.message.channel) {
            return true;
        }
        let number = Number::Awareness { index: one.index, after: one.after };
        let state = self.joining.is_some_and(|(until, _)| order <= until);
        body.push(&one.message, order, number, state, opened.compress)
    }

    /// Late-joiner state is complete once everything that was there at the join has been sent.
    fn say_synced(&mut self) {
        let Some((order, position)) = self.joining else { return };
        let served = self.awareness_cursor >= order
            && self.log_cursor >= position
            && self.download.is_none()
            && self.fills.is_empty()
            && self.slotted.stream.is_empty()
            && !self.complete
            && self.changed.is_empty();
        if served {
            self.joining = None;
            self.link.queue(&Frame::Synced { channel: ChannelNo(0) });
            for channel in core::mem::take(&mut self.unsynced) {
                self.link.queue(&Frame::Synced { channel });
            }
        }
    }
}
