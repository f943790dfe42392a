//! Sends the payloads of a shared stream to its members: the same bytes to all, after the frames
//! that are for one member alone.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use super::Peer;
use super::connection::Connection;
use super::stage::Stage;
use super::stream::WORTH_A_POSITION;
use crate::events::event;
use crate::room::accounting::Accounting;
use crate::room::api::{Output, SharedPacket};
use crate::room::delivery::Delivery;
use crate::room::delivery::outputs::share;
use crate::room::feed::shared_stream::{Member, SharedPayload, SharedStream, SharedStreams};
use crate::room::log::{Cursor, Log};
use crate::room::members::roster::Roster;
use crate::trace::Carrier;
use crate::wire::frame::Frame;
use crate::{GroupId, ParticipantId};

/// The most bytes of the length field of a frame.
const LENGTH: usize = 3;

/// What a member is to be sent of its shared stream at a tick.
pub(in crate::room) enum Plain<'a> {
    Nothing,
    /// This payload alone.
    Payload(&'a SharedPayload),
    /// Something else, which [`Peer::flush`] has to find out.
    No,
}

impl Peer {
    /// Sends the newest payload of the shared stream if the member needs nothing else, which is the
    /// case for nearly all members at every tick. If the transport keeps no packet, it is added to
    /// `shared`, the packets that several transports are sent. `members`: the number of
    /// participants with a transport. Returns false if the participant has to be served by
    /// [`Peer::flush`].
    pub(in crate::room) fn send_plain(
        &mut self,
        now: Duration,
        members: usize,
        delivery: &mut Delivery,
        accounting: &mut Accounting,
        shared: &mut Vec<SharedPacket>,
    ) -> bool {
        let id = self.id;
        let Some(connection) = self.connection_mut() else { return true };
        let Delivery { outputs, streams, .. } = delivery;
        match connection.take_plain(streams) {
            Plain::Nothing => true,
            Plain::No => false,
            Plain::Payload(payload) => {
                connection.note_sent(now, id, payload, 0, accounting);
                accounting.count_sent(payload.bytes.len());
                let link = connection.id;
                if connection.link.is_idle() {
                    share(shared, &[link], &payload.bytes, members);
                    return true;
                }
                connection.link.launched(payload.bytes.len());
                let body = Some(Arc::clone(&payload.bytes));
                outputs.push_back(Output::Send { link, packet: Vec::new(), body });
                true
            }
        }
    }

    /// Sends a member the payloads of its shared stream until its transport accepts no more, each
    /// packet beginning with control frames that only this member is sent.
    pub(super) fn send_shared(
        &mut self,
        now: Duration,
        log: &Log,
        roster: &Roster,
        delivery: &mut Delivery,
        accounting: &mut Accounting,
    ) {
        let id = self.id;
        let Delivery { outputs, streams, .. } = delivery;
        let Some(connection) = self.connection_mut() else { return };
        while connection.has_shared(id, streams) {
            connection.tell_changes(log);
            connection.say_position();
            let mut packet = connection.link.begin(now);
            connection.participants.add_changes(&mut packet, &mut connection.link, roster);
            let Some((stream, mut next)) =
                connection.member().and_then(|member| member.stream(streams))
            else {
                return;
            };
            let room = connection.link.max_packet();
            let mut last: Option<&SharedPayload> = None;
            // A packet may have several payloads: all but the last are written as frames with a
            // length. Payloads wait until the receiver knows their senders.
            let is_told = !connection.participants.has_changes();
            while let Some(one) = stream.payload(next).filter(|_| is_told) {
                let before = last.map_or(0, |last| last.bytes.len() + LENGTH);
                if packet.len() + before + one.bytes.len() > room {
                    break;
                }
                if let Some(last) = last.replace(one) {
                    last.write(&mut packet);
                }
                next += 1;
                connection.note_sent(now, id, one, packet.len(), accounting);
            }
            let body = last.map(|last| Arc::clone(&last.bytes));
            let size = packet.len() + body.as_ref().map_or(0, |body| body.len());
            if size == 0 {
                return;
            }
            connection.link.launched(size);
            accounting.count_sent(size);
            outputs.push_back(Output::Send { link: connection.id, packet, body });
        }
    }
}

impl Connection {
    /// True if the participant is a member of a shared stream and there is nothing more to send to
    /// it over the stream.
    pub(in crate::room) fn has_all(&self, streams: &SharedStreams) -> bool {
        let stream = self.member().and_then(|member| member.stream(streams));
        !self.has_anything() && stream.is_some_and(|(stream, next)| next == stream.end())
    }

    /// True if the participant can become a member of this stream: it has been sent exactly what
    /// the stream has coded, and nothing else waits to be sent to it.
    pub(in crate::room) fn may_enter(&self, now: Duration, stream: &SharedStream) -> bool {
        let Cursor { log, awareness, settled } = self.stream.feed.cursor;
        let settled = if self.datagrams.is_some() { settled } else { stream.feed.cursor.settled };
        matches!(self.stage, Stage::Live(None))
            && self.sharing.wants(now, &stream.key)
            && Cursor { log, awareness, settled } == stream.feed.cursor
            && self.stream.history.is_empty()
            && self.missing.unfilled.is_empty()
            && self.missing.reach.is_none()
            && !self.link.has_control()
            && self.link.ready()
    }

    /// Makes the participant a member of a stream. `next`: the number of the stream's next payload.
    /// `at`: the stream's place in the log.
    pub(in crate::room) fn enter_stream(
        &mut self,
        participant: ParticipantId,
        group: GroupId,
        next: u64,
        at: Cursor,
    ) {
        let Some(coders) = self.link.coders.as_mut() else { return };
        let told = coders.encoder.numbering.position();
        coders.encoder.restart();
        self.stream.model = None;
        let Cursor { awareness, settled, .. } = at;
        self.stage = Stage::Live(Some(Member { group, next, awareness, settled, told }));
        event!(DEBUG, "shared stream entered", %participant, %group);
    }

    /// Removes the participant from its shared stream, so that it has a private stream again (W64).
    /// Does nothing if it is in none.
    pub(in crate::room) fn leave_stream(&mut self, participant: ParticipantId) {
        let Stage::Live(member) = &mut self.stage else { return };
        let Some(member) = member.take() else { return };
        self.sharing.left();
        let cursor = &mut self.stream.feed.cursor;
        cursor.awareness = cursor.awareness.min(member.awareness);
        if self.datagrams.is_some() {
            cursor.settled = cursor.settled.min(member.settled);
        }
        if let Some(coders) = self.link.coders.as_mut() {
            coders.encoder.restart();
        }
        let group = member.group;
        self.link.queue(&Frame::Leave { carrier: Carrier::Stream, group, rest: &[] });
        event!(DEBUG, "shared stream left", %participant, %group);
    }

    /// Removes the participant from its shared stream because its channels, codecs or rate limits
    /// change. Which stream it can share is then determined anew.
    pub(in crate::room) fn leave_stream_for_good(&mut self, participant: ParticipantId) {
        self.leave_stream(participant);
        self.sharing.forget_key();
    }

    /// True if a payload of the shared stream can be sent to the member now. Removes the member
    /// from the stream if its next payload is no longer kept.
    fn has_shared(&mut self, id: ParticipantId, streams: &SharedStreams) -> bool {
        let Some((stream, next)) = self.member().and_then(|member| member.stream(streams)) else {
            return false;
        };
        if next < stream.first() {
            self.leave_stream(id);
            return false;
        }
        // Direct transactions go before later payloads of the shared stream (W114).
        !self.stream.directs.is_due() && self.link.ready() && next < stream.end()
    }

    fn take_plain<'a>(&mut self, streams: &'a SharedStreams) -> Plain<'a> {
        // Datagrams do not count here: those of a group were sent before, and repeats have timers
        // of their own.
        let is_plain = !self.has_due_datagrams() && !self.has_anything();
        let member = self.member().filter(|_| is_plain);
        let Some((stream, next)) = member.and_then(|member| member.stream(streams)) else {
            return Plain::No;
        };
        if next == stream.end() {
            // The stream has no message up to the last tick.
            self.served_shared(stream.feed.cursor);
            return if self.owes_position() { Plain::No } else { Plain::Nothing };
        }
        match stream.payload(next).filter(|_| next + 1 == stream.end() && self.link.ready()) {
            Some(payload) if !self.owes_position() => Plain::Payload(payload),
            _ => Plain::No,
        }
    }

    /// Counts a payload that is sent to the member after `private` bytes that only this member is
    /// sent.
    fn note_sent(
        &mut self,
        now: Duration,
        id: ParticipantId,
        payload: &SharedPayload,
        private: usize,
        accounting: &mut Accounting,
    ) {
        let counts = payload.contents.counts(id);
        accounting.count_delivered(counts.messages, counts.bytes);
        self.served_shared(payload.after);
        if let Stage::Live(Some(member)) = &mut self.stage {
            member.sent(payload.contents.position);
            accounting.inspector.sent_shared(now, id, member.group, payload, private);
        }
    }

    /// Moves the member's cursors to `at`, up to where the shared stream has sent it the log.
    pub(in crate::room) fn served_shared(&mut self, at: Cursor) {
        let cursor = &mut self.stream.feed.cursor;
        cursor.log = at.log;
        if !self.sharing.has_private() {
            cursor.awareness = at.awareness;
            if self.datagrams.is_some() {
                cursor.settled = at.settled;
            }
        }
        if let Stage::Live(Some(member)) = &mut self.stage {
            (member.awareness, member.settled) = (at.awareness, at.settled);
        }
    }

    /// True if a POSITION frame is worth its bytes: the member was not sent the last
    /// [`WORTH_A_POSITION`] or more transactions, as their channels are not open for it.
    pub(in crate::room) fn owes_position(&self) -> bool {
        let log = self.stream.feed.cursor.log;
        let told = self.member().map_or(log, |member| member.told);
        log.get().saturating_sub(told.get()) >= WORTH_A_POSITION
            || self.stream.directs.is_owed(told, log)
    }

    /// Queues a POSITION frame when a member has reached the places of its direct transactions
    /// (W114).
    pub(in crate::room) fn say_position_of_directs(&mut self, streams: &SharedStreams) {
        let Some(member) = self.member().filter(|member| member.told < self.stream.directs.last)
        else {
            return;
        };
        if let Some((stream, next)) = member.stream(streams)
            && next == stream.end()
        {
            self.served_shared(stream.feed.cursor);
        }
        let log = self.stream.feed.cursor.log;
        if let Stage::Live(Some(member)) = &mut self.stage
            && self.stream.directs.is_owed(member.told, log)
        {
            member.told = log;
            self.link.queue(&Frame::Position(log));
        }
    }

    fn say_position(&mut self) {
        if !self.owes_position() {
            return;
        }
        let log = self.stream.feed.cursor.log;
        self.link.queue(&Frame::Position(log));
        if let Stage::Live(Some(member)) = &mut self.stage {
            member.told = log;
        }
    }
}
