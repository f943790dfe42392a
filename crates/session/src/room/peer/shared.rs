//! Sending a member what its shared stream holds: the same bytes to all, behind what is for one alone.

use alloc::sync::Arc;
use core::time::Duration;

use super::Peer;
use super::connection::{Connection, Stage};
use super::stream::WORTH_A_POSITION;
use crate::events::event;
use crate::room::api::{Output, Stats};
use crate::room::common::Common;
use crate::room::feed::shared_stream::{Member, SharedPayload, SharedStream, SharedStreams};
use crate::room::inspector::Inspector;
use crate::room::log::Cursor;
use crate::trace::Carrier;
use crate::wire::frame::Frame;
use crate::{GroupId, ParticipantId};

/// The most bytes of a frame's length.
const LENGTH: usize = 3;

/// What a member is to be sent of its shared stream at a tick.
pub(in crate::room) enum Plain<'a> {
    Nothing,
    /// This payload, and nothing before it.
    Payload(&'a SharedPayload),
    /// The member needs a closer look.
    No,
}

impl Peer {
    /// Sends the newest payload of the shared stream if the member takes it as it is, which nearly all members do at every tick. Returns
    /// false if the participant needs a closer look.
    pub(in crate::room) fn send_plain(&mut self, now: Duration, common: &mut Common) -> bool {
        let id = self.id;
        let Some(connection) = self.connection_mut() else { return true };
        let Common { streams, outputs, stats, inspector, .. } = common;
        match connection.take_plain(streams) {
            Plain::Nothing => true,
            Plain::No => false,
            Plain::Payload(payload) => {
                connection.note_sent(now, id, payload, 0, stats, inspector);
                connection.link.launched(payload.bytes.len());
                stats.packets_out += 1;
                stats.bytes_out_after += payload.bytes.len() as u64;
                let (link, packet) = (connection.id, alloc::vec::Vec::new());
                let body = Some(Arc::clone(&payload.bytes));
                outputs.push_back(Output::Send { link, packet, body });
                true
            }
        }
    }

    /// Sends a member what its stream holds, as far as its transport takes it. The rest is for the member alone.
    pub(super) fn flush_shared(&mut self, now: Duration, common: &mut Common) {
        let id = self.id;
        while self.has_shared(common) {
            self.tell_changes(common);
            let Some(connection) = self.connection_mut() else { return };
            connection.say_position();
            let mut packet = connection.link.begin(now);
            self.add_participants(&mut packet, common);
            let Common { streams, outputs, stats, inspector, .. } = &mut *common;
            let Some(connection) = self.connection_mut() else { return };
            let Some((stream, mut next)) =
                connection.member().and_then(|member| member.stream(streams))
            else {
                return;
            };
            let room = connection.link.max_packet();
            let mut last: Option<&SharedPayload> = None;
            // Where there are several payloads, all but the last are frames with a length.
            while let Some(one) = stream.payload(next) {
                let before = last.map_or(0, |last| last.bytes.len() + LENGTH);
                if packet.len() + before + one.bytes.len() > room {
                    break;
                }
                if let Some(last) = last.replace(one) {
                    last.write(&mut packet);
                }
                next += 1;
                connection.note_sent(now, id, one, packet.len(), stats, inspector);
            }
            let body = last.map(|last| Arc::clone(&last.bytes));
            let size = packet.len() + body.as_ref().map_or(0, |body| body.len());
            if size == 0 {
                return;
            }
            connection.link.launched(size);
            stats.packets_out += 1;
            stats.bytes_out_after += size as u64;
            outputs.push_back(Output::Send { link: connection.id, packet, body });
        }
    }

    /// Whether a member can be sent something of its stream. A member that is too far behind leaves.
    fn has_shared(&mut self, common: &Common) -> bool {
        let id = self.id;
        let Some(connection) = self.connection_mut() else { return false };
        let member = connection.member();
        let Some((stream, next)) = member.and_then(|member| member.stream(&common.streams)) else {
            return false;
        };
        if next < stream.first() {
            connection.leave_stream(id);
            return false;
        }
        connection.link.ready() && next < stream.end()
    }
}

impl Connection {
    /// Whether a member was sent everything that there is for it over the stream.
    pub(in crate::room) fn has_all(&self, streams: &SharedStreams) -> bool {
        let stream = self.member().and_then(|member| member.stream(streams));
        !self.has_anything() && stream.is_some_and(|(stream, next)| next == stream.end())
    }

    /// Whether the participant can become a member of this stream: it has been sent everything that the stream stands for, and
    /// nothing that only it is sent is under way.
    pub(in crate::room) fn may_enter(&self, now: Duration, stream: &SharedStream) -> bool {
        let Cursor { log, awareness, settled } = self.stream.feed.cursor;
        let settled = if self.datagrams.is_some() { settled } else { stream.feed.cursor.settled };
        matches!(self.stage, Stage::Live(None))
            && self.sharing.wants(now, &stream.key)
            && Cursor { log, awareness, settled } == stream.feed.cursor
            && self.stream.history.is_empty()
            && !self.link.has_control()
            && self.link.ready()
    }

    /// Makes the participant a member of a stream that stands at `at`. `next`: the number of its next payload.
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
        let Cursor { awareness, settled, .. } = at;
        self.stage = Stage::Live(Some(Member { group, next, awareness, settled, told }));
        event!(DEBUG, "shared stream entered", %participant, %group);
    }

    /// The participant is sent its payloads alone again (W64).
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

    /// The same because what the participant is sent has changed: later it may share another stream.
    pub(in crate::room) fn leave_stream_for_good(&mut self, participant: ParticipantId) {
        self.leave_stream(participant);
        self.sharing.forget_key();
    }

    fn take_plain<'a>(&mut self, streams: &'a SharedStreams) -> Plain<'a> {
        // The datagrams of a group have gone already, and what is to be said again has a time of its own.
        let is_plain = !self.has_due_datagrams() && !self.has_anything();
        let member = self.member().filter(|_| is_plain);
        let Some((stream, next)) = member.and_then(|member| member.stream(streams)) else {
            return Plain::No;
        };
        if next == stream.end() {
            // What the tick let go is not for the members.
            self.served_shared(stream.feed.cursor);
            return if self.owes_position() { Plain::No } else { Plain::Nothing };
        }
        match stream.payload(next).filter(|_| next + 1 == stream.end() && self.link.ready()) {
            Some(payload) if !self.owes_position() => Plain::Payload(payload),
            _ => Plain::No,
        }
    }

    /// A payload goes to the member, behind `private` bytes for it alone.
    fn note_sent(
        &mut self,
        now: Duration,
        id: ParticipantId,
        payload: &SharedPayload,
        private: usize,
        stats: &mut Stats,
        inspector: &mut Inspector,
    ) {
        let counts = payload.contents.counts(id);
        stats.deliveries += counts.messages;
        stats.bytes_out_before += counts.bytes;
        self.served_shared(payload.after);
        if let Stage::Live(Some(member)) = &mut self.stage {
            member.sent(payload.contents.position);
            inspector.sent_shared(now, id, member.group, payload, private);
        }
    }

    /// The shared stream has served the member up to here.
    fn served_shared(&mut self, at: Cursor) {
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

    /// Whether the last transactions were all of channels that the member has not open, and are so many that a later resume is to
    /// start behind them.
    fn owes_position(&self) -> bool {
        let log = self.stream.feed.cursor.log;
        let told = self.member().map_or(log, |member| member.told);
        log.get().saturating_sub(told.get()) >= WORTH_A_POSITION
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
