//! Streams that many receivers share (wire.md W60 to W66): what they all are sent is coded once.

mod audience;
mod send;
mod stream;

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::time::Duration;

pub(super) use audience::Membership;

use super::Room;
use super::participant::Connection;
use crate::Error;
use crate::ids::{GroupId, Order, ParticipantId, Position};
use crate::wire::body::Lane;
use crate::wire::frame::Frame;
use audience::{Member, StreamAudience};
use stream::{Cursors, Due, SharedStream};

/// Shared streams of a room, at most: each holds a model and the last bodies.
const MAX_STREAMS: usize = 8;

/// Between two models of a stream: making one takes all its members some milliseconds of work (gmc's compaction).
const MODEL_SPACING: Duration = Duration::from_secs(1);

/// Octets of a model in one frame, so that other frames fit beside it into the smallest packet.
const PIECE: usize = 4 << 10;

/// The shared streams of a room, by class.
#[derive(Default)]
pub(super) struct Shared {
    streams: BTreeMap<GroupId, SharedStream>,
    /// The last class given out.
    last: GroupId,
    /// What the streams stand for once they have coded all that is due.
    due: Cursors,
}

impl Shared {
    /// Octets of the bodies that are kept.
    pub(super) fn memory(&self) -> usize {
        self.streams.values().map(SharedStream::memory).sum()
    }
}

impl Room {
    /// Codes what a tick lets go, for every audience once.
    pub(super) fn share(&mut self, now: Duration, (awareness, log): (Order, Position)) {
        self.shared.due = Cursors { awareness, log, ..self.shared.due };
        self.encode_shared(now);
    }

    /// Codes values that have rested (W41).
    pub(super) fn share_rested(&mut self, now: Duration, rests: Order) {
        self.shared.due.rested = rests;
        self.encode_shared(now);
    }

    fn encode_shared(&mut self, now: Duration) {
        let Room { shared, journal, trace, .. } = self;
        let due = Due { now, journal, until: shared.due, traced: trace.is_on() };
        let mut broken = Vec::new();
        let mut is_all = true;
        for (&class, stream) in &mut shared.streams {
            match stream.encode(due) {
                Ok(done) => is_all &= done,
                Err(_) => broken.push(class),
            }
        }
        if !is_all {
            self.schedule_tick(now);
        }
        broken.into_iter().for_each(|class| self.dissolve(class));
    }

    /// Makes and ends shared streams, and lets in who has caught up with one.
    pub(super) fn review_shared(&mut self, now: Duration) {
        let audiences = self.count_audiences(now);
        self.end_streams(&audiences);
        self.begin_streams(&audiences);
        let classes: Vec<GroupId> = self.shared.streams.keys().copied().collect();
        for class in classes {
            if self.let_in(now, class).is_err() {
                self.dissolve(class);
            }
        }
    }

    fn count_audiences(&mut self, now: Duration) -> BTreeMap<Arc<StreamAudience>, usize> {
        let mut audiences = BTreeMap::new();
        for participant in self.participants.values_mut() {
            let connection = participant.connection.as_deref_mut();
            if let Some(audience) =
                connection.and_then(|one| one.find_audience(now, &self.channels))
            {
                *audiences.entry(Arc::clone(audience)).or_insert(0) += 1;
            }
        }
        audiences
    }

    /// Ends streams that have become small, with some slack so that nobody goes in and out at the bound.
    fn end_streams(&mut self, audiences: &BTreeMap<Arc<StreamAudience>, usize>) {
        let least = self.config.share_stream_above / 2;
        let size = |stream: &SharedStream| audiences.get(&stream.audience).copied().unwrap_or(0);
        let small = self.shared.streams.iter().filter(|(_, stream)| size(stream) <= least);
        let small: Vec<GroupId> = small.map(|(&class, _)| class).collect();
        small.into_iter().for_each(|class| self.dissolve(class));
    }

    /// Begins streams for the largest audiences that have none.
    fn begin_streams(&mut self, audiences: &BTreeMap<Arc<StreamAudience>, usize>) {
        let above = self.config.share_stream_above;
        let streams = &self.shared.streams;
        let has_none = |audience: &Arc<StreamAudience>| {
            streams.values().all(|stream| stream.audience != *audience)
        };
        let mut wanted: Vec<_> = audiences
            .iter()
            .filter(|(audience, size)| **size > above && has_none(audience))
            .map(|(audience, size)| (*size, Arc::clone(audience)))
            .collect();
        wanted.sort_unstable_by_key(|(size, _)| Reverse(*size));
        for (size, audience) in wanted {
            if self.shared.streams.len() >= MAX_STREAMS {
                let sizes = self.shared.streams.iter().map(|(&class, stream)| {
                    (audiences.get(&stream.audience).copied().unwrap_or(0), class)
                });
                match sizes.min() {
                    // The slack of another kind: a little larger is no reason.
                    Some((smallest, class)) if smallest * 2 <= size => self.dissolve(class),
                    _ => return,
                }
            }
            self.shared.last = GroupId(self.shared.last.get().wrapping_add(1));
            let stream = SharedStream::new(audience, self.shared.due);
            self.shared.streams.insert(self.shared.last, stream);
        }
    }

    /// Who stands where the stream stands becomes a member. The model is made once for all of them.
    fn let_in(&mut self, now: Duration, class: GroupId) -> Result<(), Error> {
        let Some(stream) = self.shared.streams.get_mut(&class) else { return Ok(()) };
        stream.tidy()?;
        let entrants = self.participants.iter().filter(|(_, participant)| {
            participant.connection.as_deref().is_some_and(|one| one.may_enter(now, stream))
        });
        let entrants: Vec<ParticipantId> = entrants.map(|(&id, _)| id).collect();
        if !entrants.is_empty() && stream.makes_models(now) {
            let frames = model_frames(class, &stream.model(now + MODEL_SPACING)?)?;
            let (next, at) = (stream.end(), stream.at);
            for &id in &entrants {
                let participant = self.participants.get_mut(&id);
                if let Some(connection) = participant.and_then(|one| one.connection.as_deref_mut())
                {
                    connection.enter_shared(class, next, at);
                    frames.iter().for_each(|frame| connection.link.queue_raw(frame.clone()));
                }
            }
        }
        // The members are to hear of a new beginning, too.
        let ids: Vec<ParticipantId> = self.links.values().copied().collect();
        ids.into_iter().for_each(|id| self.flush(now, id));
        Ok(())
    }

    /// The participant is sent its bodies alone again (W64), and may share other ones later.
    pub(super) fn leave_shared(&mut self, id: ParticipantId) {
        let Some(connection) = self.connection(id) else { return };
        connection.leave_shared();
        connection.membership.audience = None;
    }

    /// Ends a stream: all its members leave.
    fn dissolve(&mut self, class: GroupId) {
        self.shared.streams.remove(&class);
        let connections =
            self.participants.values_mut().filter_map(|one| one.connection.as_deref_mut());
        let is_member = |one: &&mut Connection| one.membership.class() == Some(class);
        connections.filter(is_member).for_each(Connection::leave_shared);
    }
}

fn model_frames(class: GroupId, model: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
    let limit = crate::limits::MAX_MODEL;
    if model.len() > limit {
        return Err(Error::TooLarge { what: "model", size: model.len(), limit });
    }
    let total = model.len() as u32;
    // Of an empty one there is one piece, too.
    let offsets = (0..model.len().max(1)).step_by(PIECE);
    let pieces = offsets.map(|offset| {
        let rest = &model[offset..model.len().min(offset + PIECE)];
        let mut frame = Vec::new();
        let offset = offset as u32;
        Frame::Model { lane: Lane::Stream, class, total, offset, rest }.write(&mut frame);
        frame
    });
    Ok(pieces.collect())
}

impl Connection {
    /// Whether it has been sent all that the stream stands for, and nothing that only it is sent is under way.
    fn may_enter(&self, now: Duration, stream: &SharedStream) -> bool {
        let at = Cursors {
            awareness: self.awareness_cursor,
            log: self.log_cursor,
            rested: self.fresh.map_or(stream.at.rested, |fresh| fresh.rested),
        };
        self.membership.wants(now, &stream.audience)
            && at == stream.at
            && self.joining.is_none()
            && self.download.is_none()
            && self.fills.is_empty()
            && !self.link.has_control()
            && self.link.ready()
    }

    fn enter_shared(&mut self, class: GroupId, next: u64, at: Cursors) {
        let Some(bodies) = self.link.bodies.as_mut() else { return };
        let told = bodies.encoder.numbering.position();
        bodies.encoder.restart();
        let Cursors { awareness, rested, .. } = at;
        self.membership.enter(Member { class, next, awareness, rested, told });
    }

    fn leave_shared(&mut self) {
        let Some(member) = self.membership.leave() else { return };
        self.awareness_cursor = self.awareness_cursor.min(member.awareness);
        if let Some(fresh) = self.fresh.as_mut() {
            fresh.rested = fresh.rested.min(member.rested);
        }
        if let Some(bodies) = self.link.bodies.as_mut() {
            bodies.encoder.restart();
        }
        self.link.queue(&Frame::Leave { lane: Lane::Stream, class: member.class, rest: &[] });
    }
}
