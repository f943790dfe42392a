//! The mirror's end of joining: a client waits until the room has admitted it.

use core::time::Duration;

use super::MIRRORS;
use super::down::Admission;
use super::up::ToRoom;
use super::upward::{Pending, Upward};
use crate::room::admission::Admitted;
use crate::room::api::{Event, Input, Output};
use crate::room::common::Common;
use crate::room::peer::Peer;
use crate::room::{Room, Served};
use crate::wire::handshake::Outcome;
use crate::wire::opening::{Opening, goodbye, refusal};
use crate::{Counter, Error, Identity, LinkId, ParticipantId, Position};

impl Room {
    /// Carries out an input of a mirror that only mirrors handle so. Returns false if it is one
    /// like those of all rooms.
    pub(in crate::room) fn take_as_mirror(&mut self, now: Duration, input: &Input<'_>) -> bool {
        let Some(upward) = self.common.upward.as_deref_mut() else { return false };
        upward.at(now);
        match *input {
            Input::Join { link, opening, identity, max_datagram, .. } => {
                self.ask_to_join(link, opening, identity, max_datagram);
                true
            }
            Input::Packet { link, packet } if link == upward.owner => {
                self.on_room_packet(now, packet);
                true
            }
            Input::Packet { link, packet } => {
                let Some(pending) = upward.pending.get_mut(&link) else { return false };
                if let Err(error) = pending.keep(packet) {
                    self.refuse_pending(link, error);
                }
                true
            }
            Input::Sent { link } if link == upward.owner => {
                upward.handled();
                true
            }
            Input::Fail { link, ref error } if upward.pending.contains_key(&link) => {
                self.refuse_pending(link, error.clone());
                true
            }
            Input::Closed { link } if link == upward.owner => {
                upward.has_ended = true;
                true
            }
            Input::Closed { link } if upward.pending.remove(&link).is_some() => {
                upward.tell(&ToRoom::Closed { seat: link, error: None });
                true
            }
            Input::Renewed { link, identity } => {
                let identity = identity.clone();
                upward.tell(&ToRoom::Renewed { seat: link, identity });
                false
            }
            Input::Shutdown { retry, .. } => {
                while let Some((link, _)) = upward.pending.pop_first() {
                    let (packet, reason) = (goodbye(retry), None);
                    let close = Output::Close { link, packet, reason };
                    self.common.delivery.outputs.push_back(close);
                }
                upward.has_ended = true;
                false
            }
            _ => false,
        }
    }

    /// Ends what the present input has left to do in a mirror.
    pub(in crate::room) fn end_input_of_mirror(&mut self) {
        if !self.is_mirror() {
            return;
        }
        let Room { peers, common, .. } = self;
        let Some(upward) = common.upward.as_deref_mut() else { return };
        upward.settled(&mut common.log.directs);
        for id in upward.take_gone() {
            // It may have come back in the same packet of the room.
            if peers.get(&id).is_none_or(|peer| peer.connection().is_some()) {
                continue;
            }
            if let Some(peer) = peers.remove(&id) {
                common.attention.resting.leave(id, peer.rest);
                common.log.end_copied_session(id);
            }
        }
    }

    /// True once a mirror has lost its room, or the room broke the rules: its clients come back to
    /// another server, or to another mirror.
    pub fn has_ended(&self) -> bool {
        self.common.upward.as_ref().is_some_and(|upward| upward.has_ended)
    }

    /// True if a mirror of the room is at this transport.
    pub fn has_mirror(&self, link: LinkId) -> bool {
        self.mirrors.has(link)
    }

    /// The number of participants with a transport, at this server or at a mirror.
    pub fn count_here(&self) -> usize {
        self.connections().count() + self.mirrors.guests.len()
    }

    /// True if the transport of a participant is at a mirror.
    pub fn is_at_mirror(&self, participant: ParticipantId) -> bool {
        self.mirrors.guests.contains_key(&participant)
    }

    /// True if the room is a mirror of one at another server.
    pub fn is_mirror(&self) -> bool {
        MIRRORS && self.common.upward.is_some()
    }

    fn ask_to_join(
        &mut self,
        link: LinkId,
        opening: &Opening<'_>,
        identity: &Identity,
        max_datagram: usize,
    ) {
        let Some(upward) = self.common.upward.as_deref_mut() else { return };
        let opening = opening.packet.to_vec();
        let identity = identity.clone();
        upward.tell(&ToRoom::Join { seat: link, identity: identity.clone(), opening: &opening });
        let early = Default::default();
        upward.pending.insert(link, Pending { opening, identity, max_datagram, early });
    }

    /// Refuses a client that waits.
    pub(super) fn refuse_pending(&mut self, link: LinkId, error: Error) {
        let Some(upward) = self.common.upward.as_deref_mut() else { return };
        if upward.pending.remove(&link).is_none() {
            return;
        }
        upward.tell(&ToRoom::Closed { seat: link, error: None });
        let (packet, reason) = (refusal(&error), Some(error.clone()));
        self.common.delivery.outputs.push_back(Output::Close { link, packet, reason });
        self.common.delivery.outputs.emit(Event::Refused { link, error });
    }

    /// The room has admitted a client.
    pub(super) fn on_admitted(
        &mut self,
        now: Duration,
        link: LinkId,
        admission: &Admission,
    ) -> Result<(), Error> {
        let Some(upward) = self.common.upward.as_deref_mut() else { return Ok(()) };
        // The client may be gone, which the room learns from a frame that is under way.
        let Some(pending) = upward.pending.remove(&link) else { return Ok(()) };
        let Pending { opening, identity, max_datagram, early } = pending;
        let opening = Opening::read(&opening)?;
        let admitted = self.seat(link, admission, &opening, identity);
        self.enter(now, link, &opening, &admitted, max_datagram);
        for packet in early {
            self.handle_packet(now, link, &packet);
        }
        Ok(())
    }

    /// Makes the client a participant of this mirror.
    fn seat(
        &mut self,
        link: LinkId,
        admission: &Admission,
        opening: &Opening<'_>,
        identity: Identity,
    ) -> Admitted {
        self.end_skipping();
        let &Admission { participant: id, secret, outcome, counter, confirmed, has_been_here } =
            admission;
        let Room { peers, common, .. } = self;
        common.log.begin_copied_session(id, confirmed);
        let peer = peers.entry(id).or_insert_with(|| Peer::new(id));
        common.attention.resting.enter(id, &mut peer.rest);
        peer.identity = identity;
        peer.sender = Default::default();
        peer.sender.passed_on = counter;
        let (members, outputs) = (&mut common.members, &mut common.delivery.outputs);
        peer.detach(link, members, &mut common.intake.pieces, outputs);
        let resume = opening.hello.resume.filter(|_| has_been_here);
        let position = resume.map_or(Position(0), |resume| resume.position);
        let resumed = resume.filter(|_| outcome == Outcome::Resumed);
        let confirmed = resumed.map_or(Counter(0), |resume| resume.counter);
        Admitted { id, secret, outcome, position, confirmed, counter, has_been_here }
    }

    /// The room has decided on the channel that a participant asked for.
    pub(super) fn on_opened(&mut self, now: Duration, link: LinkId) {
        let upward = self.common.upward.as_deref_mut();
        if let Some(frame) = upward.and_then(|upward| upward.take_open(link)) {
            let open = |peer: &mut Peer, common: &mut Common| {
                peer.open_decided(&frame, common).map_or_else(Served::Failed, |()| Served::Flush)
            };
            self.serve(link, open, now);
        }
    }

    /// Leaves the mirror, in which the participant's transport ends.
    pub(in crate::room) fn leave_mirror(&mut self, id: ParticipantId) {
        let now = self.common.now;
        let Room { peers, common, .. } = self;
        let Some(peer) = peers.get_mut(&id) else { return };
        let Some(link) = peer.connection().map(|connection| connection.id) else { return };
        common.members.links.remove(&link);
        if let Some(upward) = common.upward.as_deref_mut() {
            upward.left(id, link);
        }
        peer.end_at_mirror(now, common);
        common.delivery.outputs.emit(Event::Left { participant: id });
    }
}

impl Upward {
    /// True while clients wait to be admitted.
    pub(in crate::room) fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }
}
