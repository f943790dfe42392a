//! Lets clients join a room or resume a session (wire W5, W9 to W14).

use alloc::boxed::Box;
use core::time::Duration;

use super::Room;
use super::api::{Config, Event, Output, Stats};
use super::common::Common;
use super::feed::directs::DirectFeed;
use super::feed::group::GroupMembership;
use super::feed::participants::ParticipantsFeed;
use super::feed::private_stream::PrivateStream;
use super::feed::shared_stream::Sharing;
use super::inspector::Quality;
use super::log::Log;
use super::peer::{Connection, Peer, State};
use crate::agreed::Agreed;
use crate::datagrams::{Datagrams, Settings};
use crate::events::event;
use crate::link::{Coders, Link};
use crate::wire::frame::Frame;
use crate::wire::handshake::{Hello, Outcome, Resume, Secret, Welcome};
use crate::wire::numbering::Numbering;
use crate::wire::opening::{Opening, refusal};
use crate::wire::payload::{PayloadDecoder, PayloadEncoder};
use crate::wire::record::Direction;
use crate::{
    Counter, Durability, Error, Identity, Limits, LinkId, ParticipantId, Position, Secrets,
    SessionName,
};

/// The participant that [`Room::admit`] let in, and from where it goes on.
pub(super) struct Admitted {
    pub(super) id: ParticipantId,
    pub(super) secret: Secret,
    pub(super) outcome: Outcome,
    /// The participant has the log up to this position, and knows that its own transactions up to
    /// the counter `confirmed` are in the log.
    pub(super) position: Position,
    pub(super) confirmed: Counter,
    /// The counter of the participant's last transaction that the room has.
    pub(super) counter: Counter,
    /// True if the client was in this incarnation of the room before: only then do its positions
    /// and counters mean something.
    pub(super) has_been_here: bool,
}

impl Room {
    /// Makes the client of a new transport a participant, or refuses it.
    pub(super) fn join(
        &mut self,
        now: Duration,
        link: LinkId,
        opening: &Opening<'_>,
        identity: &Identity,
        secrets: &dyn Secrets,
        max_datagram: usize,
    ) {
        self.end_skipping();
        let admitted = match self.admit(link, &opening.hello, identity, secrets) {
            Ok(admitted) => admitted,
            Err(error) => {
                let packet = refusal(&error);
                let reason = Some(error.clone());
                self.common.delivery.outputs.push_back(Output::Close { link, packet, reason });
                self.common.delivery.outputs.emit(Event::Refused { link, error });
                return;
            }
        };
        self.absent.remove(&admitted.id);
        self.common.accounting.stats.count_join(admitted.outcome, admitted.has_been_here);
        self.enter(now, link, opening, &admitted, max_datagram);
    }

    /// Serves a participant that was let in.
    pub(super) fn enter(
        &mut self,
        now: Duration,
        link: LinkId,
        opening: &Opening<'_>,
        admitted: &Admitted,
        max_datagram: usize,
    ) {
        self.welcome(now, link, &opening.hello, admitted, max_datagram);
        let Room { peers, common, .. } = self;
        let Some(peer) = peers.get_mut(&admitted.id) else { return };
        let outcome = peer.receive_opening(now, opening, admitted.has_been_here, common);
        peer.remind_anew(now, common);
        if let Some(connection) = peer.connection_mut() {
            let stats = &mut common.accounting.stats;
            connection.catch_up(admitted.id, true, &common.log, stats);
        }
        match outcome {
            Ok(()) => peer.flush(now, common),
            Err(error) => peer.fail(now, error, common),
        }
    }

    /// Checks the client's HELLO and finds the session that it resumes, or begins a new one.
    pub(super) fn admit(
        &mut self,
        link: LinkId,
        hello: &Hello<'_>,
        identity: &Identity,
        secrets: &dyn Secrets,
    ) -> Result<Admitted, Error> {
        let common = &mut self.common;
        let Common { config, log, .. } = &mut *common;
        check_sizes(hello, &config.limits)?;
        let resume = hello.resume.filter(|resume| resume.incarnation == log.incarnation());
        if resume.is_some_and(|resume| resume.position > log.durable()) {
            return Err(Error::malformed("HELLO: a position the room has not reached"));
        }
        let known = match resume {
            Some(resume) => common.find(&resume, &identity.subject, secrets)?,
            None => None,
        };
        let guest = known.and_then(|id| self.mirrors.guests.get(&id)).map(|guest| &guest.peer);
        if let Some(peer) = guest.or_else(|| known.and_then(|id| self.peers.get(&id))) {
            peer.account.check(common.now, &common.config.quotas)?;
        }
        if let (Some(_), Some(id)) = (guest, known) {
            self.replace_guest(self.common.now, id);
        }
        let Room { peers, common, mirrors, .. } = self;
        let takes_newcomers = common.permits_newcomer();
        let Common { config, log, .. } = &mut *common;
        let limit = config.limits.max_participants;
        let (id, outcome) = match known {
            Some(id) => {
                log.resume_session(id);
                (id, Outcome::Resumed)
            }
            None if peers.len() + mirrors.guests.len() >= limit => {
                return Err(Error::TooMany { what: "participants in this room", limit });
            }
            None if !takes_newcomers => {
                return Err(Error::NotNow { what: "the store is behind, and takes nobody new" });
            }
            None => {
                let outcome = if hello.resume.is_some() { Outcome::Lost } else { Outcome::New };
                (log.begin_session(), outcome)
            }
        };
        if let (Outcome::Lost, Some(resume)) = (outcome, &hello.resume) {
            log_lost(id, resume, log);
        }
        let secret = secrets.secret(&common.session_name(id, &identity.subject));
        let peer = peers.entry(id).or_insert_with(|| Peer::new(id));
        common.attention.resting.enter(id, &mut peer.rest);
        peer.identity.clone_from(identity);
        peer.renew_quota(&common.permissions, common.config.quotas.participant);
        let Common { members, intake, delivery, .. } = common;
        peer.detach(link, members, &mut intake.pieces, &mut delivery.outputs);
        let position = resume.map_or(Position(0), |resume| resume.position);
        let resumed = resume.filter(|_| outcome == Outcome::Resumed);
        let confirmed = resumed.map_or(Counter(0), |resume| resume.counter);
        let has_been_here = resume.is_some();
        let counter = common.log.session(id).map(|session| session.counter).unwrap_or_default();
        Ok(Admitted { id, secret, outcome, position, confirmed, counter, has_been_here })
    }

    /// Answers HELLO with WELCOME and sets up the participant's connection.
    fn welcome(
        &mut self,
        now: Duration,
        link_id: LinkId,
        hello: &Hello<'_>,
        admitted: &Admitted,
        max_datagram: usize,
    ) {
        let Room { peers, common, .. } = self;
        let is_mirror = common.upward.is_some();
        let Common { config, log, members, delivery, timers, .. } = &mut *common;
        let (roster, packing) = (&mut members.roster, &delivery.compression.packing);
        let &Admitted { id, secret, outcome, position, confirmed, counter, .. } = admitted;
        let limits = &config.limits;
        let offered = Agreed::offered(config.compress, packing.set(), max_datagram);
        let offered = offered.with_small_models();
        let agreed = offered.common(Agreed::from_capabilities(hello.capabilities));
        let up = Numbering::new(ParticipantId(0), counter, Position(0));
        let down = Numbering::new(id, confirmed, position);
        let mut link = open_link(now, &agreed, config, max_datagram);
        link.limit_packets(hello.max_packet);
        link.coders = Some(Coders {
            encoder: PayloadEncoder::new(Direction::ToClient, down, agreed.models()),
            decoder: PayloadDecoder::new(
                Direction::ToServer,
                up,
                agreed.models(),
                limits.max_message,
            ),
        });
        link.queue(&Frame::Welcome(Welcome {
            capabilities: agreed.capabilities(),
            max_packet: limits.max_packet,
            max_message: limits.max_message,
            max_snapshot: limits.max_snapshot,
            incarnation: log.incarnation(),
            participant: id,
            secret,
            outcome,
            counter,
            position: log.durable(),
            timing: config.timing,
        }));
        if config.durability != Durability::Memory {
            link.queue(&Frame::Room { durability: config.durability, load: config.load });
        }
        let Some(peer) = peers.get_mut(&id) else { return };
        // The others at a mirror learn of it from the room.
        if !is_mirror {
            roster.enter(id, peer.identity.user(), hello.presence);
        }
        let listed = roster.list_for(id);
        let is_large = roster.is_large();
        if is_large {
            link.queue(&roster.count_frame());
        }
        if packing.set() != 0 {
            link.queue(&Frame::Codecs { set: packing.set() });
        }
        // The participant may lack some receipts of its last transport, so all that the room keeps
        // are sent again (W116).
        for (counter, receipt) in log.directs.receipts(id) {
            link.queue(&Frame::Receipt { counter, receipt });
        }
        link.ping(now);
        // Newcomers of a large room are sent what all others were sent by the last tick, so that it
        // can be the same for all of them. The rest comes with the next tick.
        let end = if is_large { timers.released } else { log.end() };
        let takes_groups = agreed.groups && link.datagrams.is_some();
        let directs = DirectFeed::new(position, log.directs.last_of(id).min(log.durable()));
        let stream = PrivateStream::new(position, end, directs);
        let participants = ParticipantsFeed::new(listed, is_large.then(|| log.order()));
        peer.state = State::Here(Box::new(Connection {
            place: takes_groups.then(GroupMembership::default),
            sharing: Sharing::new(agreed.shared_streams),
            quality: Quality::new(agreed.quality),
            ..Connection::new(link_id, link, stream, end, participants)
        }));
        members.links.insert(link_id, id);
        common.intake.has_new_subscriptions = true;
        common.timers.begin_housekeeping(now);
        if !is_mirror {
            common.members.announce(now, id, &mut common.timers);
        }
        let resumed = outcome == Outcome::Resumed;
        common.delivery.outputs.emit(Event::Joined { participant: id, link: link_id, resumed });
    }
}

impl Stats {
    /// Counts messages of late-joiner state in a payload, which was coded or the same as one for
    /// another newcomer.
    pub(super) fn count_state(&mut self, messages: u64, is_coded: bool) {
        match is_coded {
            true => self.state_coded += messages,
            false => self.state_shared += messages,
        }
    }

    pub(super) fn count_join(&mut self, outcome: Outcome, has_been_here: bool) {
        self.joins += 1;
        match outcome {
            Outcome::New => {}
            Outcome::Resumed => self.resumed += 1,
            Outcome::Lost => {
                self.lost += 1;
                match has_been_here {
                    true => self.lost_sessions += 1,
                    false => self.lost_incarnations += 1,
                }
            }
        }
    }
}

impl Common {
    /// The participant whose session the client may resume; `None` if the session is forgotten or
    /// the secret is wrong.
    fn find(
        &self,
        resume: &Resume,
        subject: &[u8],
        secrets: &dyn Secrets,
    ) -> Result<Option<ParticipantId>, Error> {
        let Some(session) = self.log.session(resume.participant) else { return Ok(None) };
        let name = self.session_name(resume.participant, subject);
        if !secrets.permits(&name, &resume.secret) {
            return Ok(None);
        }
        if resume.counter > session.counter {
            return Err(Error::malformed("HELLO: a counter the room has not reached"));
        }
        Ok(Some(resume.participant))
    }

    /// False while no number for a new participant is durably reserved.
    pub(super) fn permits_newcomer(&self) -> bool {
        let next = self.log.last_participant().next();
        self.storing.as_ref().is_none_or(|storing| storing.permits(next))
    }

    fn session_name<'a>(
        &'a self,
        participant: ParticipantId,
        identity: &'a [u8],
    ) -> SessionName<'a> {
        let (room, incarnation) = (self.config.name.as_str(), self.log.incarnation());
        SessionName { room, incarnation, participant, identity }
    }
}

/// The link over a transport whose first packet was read, with what both ends agreed on.
fn open_link(now: Duration, agreed: &Agreed, config: &Config, max_datagram: usize) -> Link {
    let mut link = Link::new(now, max_datagram);
    if agreed.datagrams {
        link.datagrams = Datagrams::new(Settings {
            max: link.max_datagram,
            sends: Direction::ToClient,
            coded: agreed.models(),
            copies: agreed.copies,
            max_message: config.limits.max_message,
            redundancy: config.redundancy,
        });
    }
    if agreed.blocks {
        link.choosing.blocks.agree();
    }
    link.stamps.agreed = agreed.contracts;
    link.opening_was_read();
    link
}

/// Logs that a client could not resume its session, and is the new participant `participant`.
fn log_lost(participant: ParticipantId, resume: &Resume, log: &Log) {
    let before = resume.participant;
    let is_same = resume.incarnation == log.incarnation();
    let reason = if is_same { "it is not known" } else { "the incarnation changed" };
    event!(INFO, "session not resumed", %participant, %before, reason);
}

/// Refuses a client that does not accept messages or packets as large as the room's limits permit.
fn check_sizes(hello: &Hello<'_>, limits: &Limits) -> Result<(), Error> {
    if hello.max_message < limits.max_message {
        let (what, size, limit) =
            ("largest message of this room", limits.max_message, hello.max_message);
        return Err(Error::TooLarge { what, size, limit });
    }
    let needed = Limits::packet_for(limits.max_message);
    if hello.max_packet < needed {
        let (what, size, limit) = ("largest packet of this room", needed, hello.max_packet);
        return Err(Error::TooLarge { what, size, limit });
    }
    Ok(())
}
