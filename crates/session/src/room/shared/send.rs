//! Sending members what their stream holds: the same octets to all, behind what is for one alone.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use super::Shared;
use super::stream::SharedBody;
use crate::ids::{Order, ParticipantId, Position};
use crate::room::flush::WORTH_A_POSITION;
use crate::room::participant::Connection;
use crate::room::{Output, Room, Stats};
use crate::trace::{Packet, Trace, Way};
use crate::wire::frame::Frame;

impl Room {
    /// Lets everything go up to this order and position, and news of these participants, and sends the newest body to all
    /// members that take it as it is, which is nearly all of them at every tick. Returns who is left.
    pub(in crate::room) fn send_shared(
        &mut self,
        now: Duration,
        due: (Order, Position),
        changed: &BTreeSet<ParticipantId>,
    ) -> Vec<ParticipantId> {
        let Room { participants, shared, journal, outputs, stats, trace, .. } = self;
        let mut left = Vec::new();
        for (&id, participant) in participants {
            let Some(connection) = participant.connection.as_deref_mut() else { continue };
            connection.due = due;
            connection.changed.extend(changed.iter().filter(|&&other| other != id));
            connection.open_slots(now, id, journal);
            match connection.take_plain(shared) {
                Plain::Nothing => {}
                Plain::Body(body) => {
                    note(now, id, connection, body, 0, stats, trace);
                    connection.link.launched(body.octets.len());
                    stats.packets_out += 1;
                    stats.bytes_out_after += body.octets.len() as u64;
                    let (link, packet) = (connection.id, Vec::new());
                    outputs.push_back(Output::Send {
                        link,
                        packet,
                        body: Some(body.octets.clone()),
                    });
                }
                Plain::No => left.push(id),
            }
        }
        left
    }

    /// Sends a member what its stream holds, as far as its transport takes it. What is left is for it alone.
    pub(in crate::room) fn flush_shared(&mut self, now: Duration, id: ParticipantId) {
        while self.has_shared(id) {
            self.tell_changes(id);
            let Some(connection) = self.connection(id) else { return };
            connection.say_position();
            let mut packet = connection.link.begin(now);
            self.add_participants(id, &mut packet);
            let Room { participants, shared, outputs, stats, trace, .. } = self;
            let participant = participants.get_mut(&id);
            let Some(connection) = participant.and_then(|one| one.connection.as_deref_mut()) else {
                return;
            };
            let Some((stream, mut next)) = connection.membership.stream(shared) else { return };
            let room = connection.link.max_packet();
            let mut last: Option<&SharedBody> = None;
            // More than one: all but the last are told their length.
            while let Some(one) = stream.body(next) {
                let before = last.map_or(0, |last| last.octets.len() + LENGTH);
                if packet.len() + before + one.octets.len() > room {
                    break;
                }
                if let Some(last) = last.replace(one) {
                    last.write(&mut packet);
                }
                next += 1;
                note(now, id, connection, one, packet.len(), stats, trace);
            }
            let body = last.map(|last| Arc::clone(&last.octets));
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

    /// Whether a member can be sent something of its stream. One that is too far behind leaves.
    fn has_shared(&mut self, id: ParticipantId) -> bool {
        let Room { participants, shared, .. } = self;
        let participant = participants.get_mut(&id);
        let Some(connection) = participant.and_then(|one| one.connection.as_deref_mut()) else {
            return false;
        };
        let Some((stream, next)) = connection.membership.stream(shared) else { return false };
        if next < stream.first() {
            connection.leave_shared();
            return false;
        }
        connection.link.ready() && next < stream.end()
    }
}

/// Octets of a frame's length, at most.
const LENGTH: usize = 3;

/// What a member is to be sent at a tick.
enum Plain<'a> {
    Nothing,
    /// This, and nothing before it.
    Body(&'a SharedBody),
    /// It needs a closer look.
    No,
}

impl Connection {
    /// Whether a member was sent all that there is for it over the stream.
    pub(in crate::room) fn has_all(&self, shared: &Shared) -> bool {
        let stream = self.membership.stream(shared);
        self.joining.is_none()
            && !self.has_anything()
            && stream.is_some_and(|(stream, next)| next == stream.end())
    }

    fn take_plain<'a>(&mut self, shared: &'a Shared) -> Plain<'a> {
        // Datagrams of a class have gone already, and what is to be said again has a time of its own.
        let is_plain = !self.has_fresh() && !self.has_anything();
        let Some((stream, next)) = self.membership.stream(shared).filter(|_| is_plain) else {
            return Plain::No;
        };
        if next == stream.end() {
            // What the tick let go is not for its audience.
            self.served_shared(stream.at.awareness, stream.at.log, stream.at.rested);
            return if self.owes_position() { Plain::No } else { Plain::Nothing };
        }
        match stream.body(next).filter(|_| next + 1 == stream.end() && self.link.ready()) {
            Some(body) if !self.owes_position() => Plain::Body(body),
            _ => Plain::No,
        }
    }

    fn served_shared(&mut self, awareness: Order, log: Position, rested: Order) {
        self.log_cursor = log;
        if !self.membership.has_private() {
            self.awareness_cursor = awareness;
            if let Some(fresh) = self.fresh.as_mut() {
                fresh.rested = rested;
            }
        }
        self.membership.served_to(awareness, rested);
    }

    /// So many transactions were of channels that it has not open that a later resume is to start behind them.
    fn owes_position(&self) -> bool {
        let told = self.membership.told().unwrap_or(self.log_cursor);
        self.log_cursor.get().saturating_sub(told.get()) >= WORTH_A_POSITION
    }

    fn say_position(&mut self) {
        if self.owes_position() {
            self.link.queue(&Frame::Position(self.log_cursor));
            self.membership.tell(self.log_cursor);
        }
    }
}

/// A body goes to a member, behind so many octets.
fn note(
    now: Duration,
    id: ParticipantId,
    connection: &mut Connection,
    body: &SharedBody,
    private: usize,
    stats: &mut Stats,
    trace: &mut Trace,
) {
    let counts = body.counts(id);
    stats.deliveries += counts.messages;
    stats.bytes_out_before += counts.bytes;
    connection.served_shared(body.after.awareness, body.after.log, body.after.rested);
    connection.membership.sent(body.position);
    if trace.is_on() {
        trace.push(Packet {
            at: now,
            participant: id,
            out: true,
            way: Way::Stream,
            class: connection.membership.class(),
            epoch: None,
            octets: private + body.octets.len(),
            private,
            feedback: 0,
            parts: body.parts.clone(),
        });
    }
}
