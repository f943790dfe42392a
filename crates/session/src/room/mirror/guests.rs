//! The room's end of participants whose transports are at mirrors: takes what mirrors pass on, and
//! tells participants what is for them alone.

use alloc::vec::Vec;
use core::time::Duration;

use super::down::{Admission, ToMirror};
use super::up::ToRoom;
use crate::room::Room;
use crate::room::api::Event;
use crate::room::common::Effect;
use crate::room::log::{Message, Part};
use crate::room::peer::{Answer, Peer, State};
use crate::wire::frame::{Frame, Frames};
use crate::wire::io::Reader;
use crate::wire::opening::Opening;
use crate::wire::record::Number;
use crate::{
    Access, ChannelNo, Error, Identity, Kind, LinkId, ParticipantId, Position, Qos, Secrets,
};

/// A participant whose transport is at a mirror.
pub(in crate::room) struct Guest {
    pub(in crate::room) peer: Peer,
    /// The mirror, and the number of the transport there.
    pub(super) mirror: LinkId,
    pub(super) seat: LinkId,
    /// Direct transactions for it up to this position went to the mirror.
    directs: Position,
}

impl Room {
    /// Takes a packet of a mirror.
    pub(in crate::room) fn on_mirror_packet(
        &mut self,
        now: Duration,
        link: LinkId,
        packet: &[u8],
        secrets: &dyn Secrets,
    ) {
        self.common.accounting.count_received(packet.len());
        let outcome = self.mirrors.join(link, packet).and_then(|frames| match frames {
            Some(frames) => self.take_frames(now, link, &frames, secrets),
            None => Ok(()),
        });
        if let Err(error) = outcome {
            self.end_mirror(now, link, Some(error));
        }
    }

    fn take_frames(
        &mut self,
        now: Duration,
        link: LinkId,
        frames: &[u8],
        secrets: &dyn Secrets,
    ) -> Result<(), Error> {
        let mut reader = Reader::new(frames, "frames of a mirror");
        while !reader.is_empty() && self.mirrors.has(link) {
            let before = reader.len();
            let frame = ToRoom::read(now, &mut reader)?;
            let size = before - reader.len();
            self.take_frame(now, link, (frame, size), secrets)?;
            self.carry_out_effects();
        }
        Ok(())
    }

    /// Carries out a frame, which took `size` bytes.
    ///
    /// # Errors
    /// The mirror broke the rules. What a participant did wrong is no error here.
    fn take_frame(
        &mut self,
        now: Duration,
        link: LinkId,
        (frame, size): (ToRoom<'_>, usize),
        secrets: &dyn Secrets,
    ) -> Result<(), Error> {
        let limit = self.common.config.limits.max_message;
        match frame {
            ToRoom::Join { seat, identity, opening } => {
                return self.join_at_mirror(now, (link, seat), opening, &identity, secrets);
            }
            ToRoom::Transaction { seat, counter, message } => {
                check_size(&message, limit)?;
                self.common.log.check_channel(message.channel, Kind::Transaction)?;
                let number = Number::Transaction { counter, position: Position(0) };
                self.publish_of_guest(now, (link, seat), (number, &message, size));
            }
            ToRoom::Value { seat, index, after, message } => {
                check_size(&message, limit)?;
                self.common.log.check_channel(message.channel, Kind::Awareness)?;
                let number = Number::Awareness { index, after };
                self.publish_of_guest(now, (link, seat), (number, &message, size));
            }
            ToRoom::Closed { seat, error } => {
                if let Some(id) = self.guest_at(link, seat) {
                    self.guest_away(now, id, error);
                }
            }
            ToRoom::Left { seat } => {
                if let Some(id) = self.guest_at(link, seat) {
                    self.recall(now, id);
                    self.leave(id);
                }
            }
            ToRoom::Open { seat, access, name, qos } => {
                if let Some(id) = self.guest_at(link, seat)
                    && let Some(guest) = self.mirrors.guests.get(&id)
                {
                    let identity = guest.peer.identity.clone();
                    self.add_channel(&identity, (name, access, qos));
                    self.tell_mirrors(now);
                    self.mirrors.tell(now, link, &ToMirror::Opened { seat });
                }
            }
            ToRoom::Change { seat, channel, access, qos } => {
                self.check_channels([channel])?;
                self.change_for_guest(now, (link, seat), (channel, access, qos));
            }
            ToRoom::Presence { seat, presence } => {
                let set = |peer: &mut Peer, room: &mut Self| {
                    peer.set_presence(now, presence, &mut room.common);
                    room.common
                        .accounting
                        .use_bytes(size, room.common.accounting.stats.bytes_in_before);
                    let mut answer = Answer::default();
                    peer.charge_as_guest(now, &mut room.common, &mut answer);
                    Ok(answer)
                };
                self.with_guest(now, (link, seat), set);
            }
            ToRoom::Renewed { seat, identity } => {
                let renew = |peer: &mut Peer, room: &mut Self| {
                    peer.renew(&identity, &room.common)?;
                    Ok(Answer::default())
                };
                self.with_guest(now, (link, seat), renew);
            }
            ToRoom::Settled { to, position, receipt } => {
                let guest = self.mirrors.guests.get(&to);
                if guest.is_some_and(|guest| guest.mirror == link) {
                    self.common.log.directs.settle_at(to, position, receipt);
                }
            }
            ToRoom::Receivers { receivers } => {
                self.check_channels(receivers.iter().map(|(channel, _)| *channel))?;
                if let Some(mirror) = self.mirrors.mirrors.get_mut(&link) {
                    mirror.receivers = receivers.into_iter().collect();
                }
                self.common.intake.has_new_subscriptions = true;
            }
            ToRoom::Offered { channels } => {
                self.check_channels(channels.iter().copied())?;
                if let Some(mirror) = self.mirrors.mirrors.get_mut(&link) {
                    mirror.offered = channels.into_iter().collect();
                }
                self.common.intake.has_new_subscriptions = true;
            }
            ToRoom::Part(part) => return self.take_part(part),
        }
        Ok(())
    }

    /// # Errors
    /// One of the channels does not exist.
    fn check_channels(&self, channels: impl IntoIterator<Item = ChannelNo>) -> Result<(), Error> {
        let unknown = |channel: &ChannelNo| !self.common.log.has_channel(*channel);
        match channels.into_iter().find(unknown) {
            Some(channel) => Err(Error::UnknownChannel { channel: channel.get() }),
            None => Ok(()),
        }
    }

    /// A client at a mirror joins.
    fn join_at_mirror(
        &mut self,
        now: Duration,
        (link, seat): (LinkId, LinkId),
        opening: &[u8],
        identity: &Identity,
        secrets: &dyn Secrets,
    ) -> Result<(), Error> {
        if self.guest_at(link, seat).is_some() {
            return Err(Error::malformed("frame of a mirror: a connection joins twice"));
        }
        let admitted = Opening::read(opening)
            .and_then(|opening| self.admit_guest(now, (link, seat), &opening, identity, secrets));
        match admitted {
            Ok(id) => self.tell_what_waits(now, id),
            Err(error) => {
                self.mirrors.tell(now, link, &ToMirror::Refused { seat, error: error.clone() });
                self.common.delivery.outputs.emit(Event::Refused { link, error });
            }
        }
        Ok(())
    }

    fn admit_guest(
        &mut self,
        now: Duration,
        (link, seat): (LinkId, LinkId),
        opening: &Opening<'_>,
        identity: &Identity,
        secrets: &dyn Secrets,
    ) -> Result<ParticipantId, Error> {
        self.end_skipping();
        let hello = &opening.hello;
        let admitted = self.admit(link, hello, identity, secrets)?;
        let (id, outcome) = (admitted.id, admitted.outcome);
        self.absent.remove(&id);
        self.common.accounting.stats.count_join(outcome, admitted.has_been_here);
        let mut frames = Frames::new(opening.rest);
        let mut has_new_channels = false;
        while let Ok(Some(frame)) = frames.next() {
            if let Frame::Open { name, access, qos, .. } = frame {
                self.add_channel(identity, (name, access, qos));
                let channel = self.common.log.find_channel(name);
                has_new_channels |= channel.is_some_and(|it| !self.mirrors.told.knows(it));
            }
        }
        let Room { peers, common, mirrors, .. } = self;
        let Some(mut peer) = peers.remove(&id) else {
            return Err(Error::NotNow { what: "the participant is gone" });
        };
        common.attention.resting.leave(id, peer.rest.take());
        (peer.state, peer.is_skipped) = (State::Away { since: now }, false);
        peer.forget_hold();
        common.members.roster.enter(id, peer.identity.user(), hello.presence);
        mirrors.guests.insert(id, Guest { peer, mirror: link, seat, directs: Position(0) });
        common.members.guests = mirrors.guests.len();
        if let Some(mirror) = mirrors.mirrors.get_mut(&link) {
            mirror.seats.insert(seat, id);
        }
        common.timers.begin_housekeeping(now);
        common.members.announce(now, id, &mut common.timers);
        // The mirror has to be as far as its client, and to know the client's channels.
        if has_new_channels || self.mirrors.told.cursor.log < admitted.position {
            self.tell_mirrors(now);
        }
        self.tell_directs(now, id, self.common.log.durable());
        let Room { common, mirrors, .. } = self;
        let counter = common.log.session(id).map(|session| session.counter).unwrap_or_default();
        let admission = Admission {
            participant: id,
            secret: admitted.secret,
            outcome,
            counter,
            confirmed: common.log.counter_at(id, mirrors.told.cursor.log),
            has_been_here: admitted.has_been_here,
        };
        mirrors.tell(now, link, &ToMirror::Admitted { seat, admission });
        let resumed = outcome == crate::wire::handshake::Outcome::Resumed;
        common.delivery.outputs.emit(Event::Joined { participant: id, link, resumed });
        Ok(id)
    }

    /// Tells a guest that has just joined what its last transport may not have brought: receipts,
    /// and that it is to hold transactions back.
    fn tell_what_waits(&mut self, now: Duration, id: ParticipantId) {
        let receipts: Vec<_> = self.common.log.directs.receipts(id).collect();
        for (counter, receipt) in receipts {
            let mut frame = Vec::new();
            Frame::Receipt { counter, receipt }.write(&mut frame);
            self.tell_guest(now, id, &frame);
        }
        self.remind_guest(now, id);
    }

    /// Sends the mirror of a guest the direct transactions for it up to this position.
    pub(in crate::room) fn tell_directs(
        &mut self,
        now: Duration,
        id: ParticipantId,
        until: Position,
    ) {
        let Room { common, mirrors, .. } = self;
        let Some(guest) = mirrors.guests.get_mut(&id) else { return };
        let (mirror, after) = (guest.mirror, guest.directs);
        guest.directs = until;
        let waiting = common.log.directs.waiting(id, after);
        for one in waiting.take_while(|one| one.position <= until) {
            let (position, counter, message) = (one.position, one.counter, one.message.clone());
            mirrors.tell(now, mirror, &ToMirror::Direct { position, counter, message });
        }
    }

    /// Sends a control frame to a guest. Returns false if the participant is none.
    pub(in crate::room) fn tell_guest(
        &mut self,
        now: Duration,
        id: ParticipantId,
        frame: &[u8],
    ) -> bool {
        let Some(guest) = self.mirrors.guests.get(&id) else { return false };
        let (mirror, seat) = (guest.mirror, guest.seat);
        self.mirrors.tell(now, mirror, &ToMirror::Tell { seat, frame });
        true
    }

    /// Asks limited guests to hold transactions back.
    pub(in crate::room) fn remind_guests(&mut self, now: Duration) {
        let limited: Vec<ParticipantId> = self.mirrors.limited.iter().copied().collect();
        limited.into_iter().for_each(|id| self.remind_guest(now, id));
    }

    fn remind_guest(&mut self, now: Duration, id: ParticipantId) {
        let Room { common, mirrors, .. } = self;
        let Some(guest) = mirrors.guests.get_mut(&id) else { return };
        let frame = guest.peer.hold_frame(now, common);
        if !guest.peer.account.is_limited() {
            mirrors.limited.remove(&id);
        }
        if let Some(frame) = frame {
            self.tell_guest(now, id, &frame);
        }
    }

    /// Counts the awareness that guests have sent since the last call (W80).
    pub(in crate::room) fn count_upstream_of_guests(&mut self, now: Duration) {
        let Room { common, mirrors, .. } = self;
        let (guests, upstreams) = (&mut mirrors.guests, &mut common.accounting.upstreams);
        mirrors.senders.retain(|id| {
            let Some(guest) = guests.get_mut(id) else { return false };
            let mut is_over = true;
            for (&channel, upstream) in &mut guest.peer.sender.upstream {
                upstreams.add(channel, upstream.take(now));
                is_over &= upstream.is_over();
            }
            !is_over
        });
    }

    /// Closes the transport of a guest because of this error. Returns false if the participant is
    /// none.
    pub(in crate::room) fn close_guest(
        &mut self,
        now: Duration,
        id: ParticipantId,
        error: Error,
    ) -> bool {
        let Some((mirror, seat)) = self.recall(now, id) else { return false };
        self.mirrors.tell(now, mirror, &ToMirror::Close { seat, error: error.clone() });
        self.is_away(now, id, Some(error));
        true
    }

    /// The session of a guest goes on over another transport.
    pub(in crate::room) fn replace_guest(&mut self, now: Duration, id: ParticipantId) {
        if let Some((mirror, seat)) = self.recall(now, id) {
            self.mirrors.tell(now, mirror, &ToMirror::Close { seat, error: Error::Replaced });
        }
    }

    /// The transport of a guest is gone.
    pub(super) fn guest_away(&mut self, now: Duration, id: ParticipantId, error: Option<Error>) {
        if self.recall(now, id).is_some() {
            self.is_away(now, id, error);
        }
    }

    fn is_away(&mut self, now: Duration, id: ParticipantId, error: Option<Error>) {
        let members = &mut self.common.members;
        members.roster.set_away(id);
        self.common.delivery.outputs.emit(Event::Away { participant: id, error });
        members.announce(now, id, &mut self.common.timers);
    }

    /// Makes a guest a participant without a transport. Returns its mirror, and the number of its
    /// transport there.
    pub(super) fn recall(&mut self, now: Duration, id: ParticipantId) -> Option<(LinkId, LinkId)> {
        let Room { peers, common, mirrors, .. } = self;
        let Guest { mut peer, mirror, seat, .. } = mirrors.guests.remove(&id)?;
        common.members.guests = mirrors.guests.len();
        if let Some(mirror) = mirrors.mirrors.get_mut(&mirror) {
            mirror.seats.remove(&seat);
        }
        mirrors.limited.remove(&id);
        mirrors.senders.remove(&id);
        peer.state = State::Away { since: now };
        common.attention.resting.enter(id, &mut peer.rest);
        common.intake.end_transport(id);
        peers.insert(id, peer);
        Some((mirror, seat))
    }

    fn guest_at(&self, link: LinkId, seat: LinkId) -> Option<ParticipantId> {
        self.mirrors.mirrors.get(&link)?.seats.get(&seat).copied()
    }

    /// Lets a participant do something, and tells it the answer. A connection that is not known has
    /// been closed, and its mirror does not know that yet.
    fn with_guest(
        &mut self,
        now: Duration,
        (link, seat): (LinkId, LinkId),
        serve: impl FnOnce(&mut Peer, &mut Self) -> Result<Answer, Error>,
    ) {
        let Some(id) = self.guest_at(link, seat) else { return };
        // It is taken out, so that the whole room can be handed on.
        let Some(mut guest) = self.mirrors.guests.remove(&id) else { return };
        let served = serve(&mut guest.peer, self);
        if guest.peer.account.is_limited() {
            self.mirrors.limited.insert(id);
        }
        self.mirrors.guests.insert(id, guest);
        match served {
            Ok(Answer { frames, delay }) => {
                for frame in &frames {
                    self.mirrors.tell(now, link, &ToMirror::Tell { seat, frame });
                }
                if let Some(time) = delay {
                    self.mirrors.tell(now, link, &ToMirror::Delay { seat, time });
                }
            }
            Err(error) => _ = self.close_guest(now, id, error),
        }
    }

    fn publish_of_guest(
        &mut self,
        now: Duration,
        at: (LinkId, LinkId),
        (number, message, size): (Number, &Message, usize),
    ) {
        let publish = |peer: &mut Peer, room: &mut Self| {
            let answer = peer.publish_as_guest(now, (number, message, size), &mut room.common);
            if !peer.sender.upstream.is_empty() {
                room.mirrors.senders.insert(peer.id);
            }
            answer
        };
        self.with_guest(now, at, publish);
    }

    fn change_for_guest(
        &mut self,
        now: Duration,
        (link, seat): (LinkId, LinkId),
        (channel, access, qos): (ChannelNo, Access, Qos),
    ) {
        let mut is_changed = false;
        let change = |peer: &mut Peer, room: &mut Self| {
            let refused = peer.change_qos(now, (channel, access, qos), &mut room.common);
            is_changed = refused.is_none();
            Ok(Answer { frames: refused.into_iter().collect(), delay: None })
        };
        self.with_guest(now, (link, seat), change);
        if is_changed {
            self.tell_mirrors(now);
            self.mirrors.tell(now, link, &ToMirror::Renewed { seat, channel });
        }
    }

    /// Adds a channel for a participant that may open it, if there is none of this name. If the
    /// room does not, the mirror finds the reason itself.
    fn add_channel(&mut self, identity: &Identity, (name, access, qos): (&str, Access, Qos)) {
        let log = &mut self.common.log;
        if name.is_empty() || log.find_channel(name).is_some() {
            return;
        }
        let granted = self.common.permissions.may_open(identity, name, access, qos, log);
        let Ok(granted) = granted else { return };
        if log.check_channels().is_err() || granted.qos.validate().is_err() {
            return;
        }
        log.add_channel(name, granted.qos);
        let (name, qos) = (name.into(), granted.qos);
        self.common.delivery.outputs.emit(Event::Channel { name, qos });
    }

    /// Keeps a part of the snapshot that a participant at a mirror has made.
    fn take_part(&mut self, part: Part) -> Result<(), Error> {
        let log = &mut self.common.log;
        let Part { name, channels, as_of, bytes, .. } = part;
        for &channel in &channels {
            log.check_channel(channel, Kind::Transaction)?;
        }
        let (size, limit) = (bytes.len(), log.max_part());
        if size > limit {
            return Err(Error::TooLarge { what: "part of the snapshot", size, limit });
        }
        if channels.is_empty()
            || name.starts_with('\0')
            || as_of > log.durable()
            || log.splits(&channels, as_of)
        {
            return Err(Error::malformed("part of a mirror"));
        }
        if log.permits_part(&name, &channels) && log.set_part(&name, &channels, as_of, bytes) {
            self.common.delivery.outputs.emit(Event::Snapshot { part: name, as_of, size });
            self.common.effects.push(Effect::SnapshotCame);
        }
        Ok(())
    }
}

fn check_size(message: &Message, limit: usize) -> Result<(), Error> {
    let size = message.bytes.len();
    match size <= limit {
        true => Ok(()),
        false => Err(Error::TooLarge { what: "message of a mirror", size, limit }),
    }
}
