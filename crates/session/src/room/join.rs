//! Joining and resuming, and opening channels (wire.md W5, W9 to W18, W31).

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

use super::class::Member;
use super::participant::{Connection, Fill, Fresh, Opened, Participant, Requests};
use super::shared::Membership;
use super::thinning::Slotted;
#[cfg(feature = "describe")]
use super::watched::Watched;
use super::{Channel, Event, HOUSEKEEPING, Output, Room};
use crate::contract::Tally;
use crate::datagrams::{Datagrams, Settings};
use crate::ids::{ChannelNo, Counter, LinkId, Order, ParticipantId, Position};
use crate::link::{Bodies, Link, error_frame};
use crate::seen::Seen;
use crate::wire::body::{BodyDecoder, BodyEncoder};
use crate::wire::capability;
use crate::wire::frame::{Access, Frame, Frames};
use crate::wire::handshake::{Hello, Opening, Outcome, Resume, Secret, Welcome, refusal};
use crate::wire::numbering::Numbering;
use crate::wire::record::Direction;
use crate::{Compress, Error, Grant, JoinRequest, Limits, OpenRequest, PresenceState, Qos};

/// What a client asks for when it opens a channel.
pub(super) struct OpenFrame<'a> {
    pub(super) reference: u32,
    pub(super) access: Access,
    pub(super) name: &'a str,
    pub(super) qos: Qos,
    pub(super) have: Position,
    pub(super) compress: Compress,
}

impl Room {
    pub(super) fn join(
        &mut self,
        now: Duration,
        link: LinkId,
        opening: &Opening<'_>,
        secret: Secret,
        max_datagram: usize,
    ) {
        match self.admit(now, link, &opening.hello, secret, max_datagram) {
            Ok(id) => {
                let outcome = self.read_opening(now, id, opening.rest);
                self.catch_up(id, true);
                match outcome {
                    Ok(()) => self.flush(now, id),
                    Err(error) => self.fail(now, id, error),
                }
            }
            Err(error) => {
                let packet = refusal(&error);
                let reason = Some(error.clone());
                self.outputs.push_back(Output::Close { link, packet, reason });
                self.outputs.push_back(Output::Event(Event::Refused { link, error }));
            }
        }
    }

    /// Makes or finds the participant and answers HELLO.
    fn admit(
        &mut self,
        now: Duration,
        link_id: LinkId,
        hello: &Hello<'_>,
        secret: Secret,
        max_datagram: usize,
    ) -> Result<ParticipantId, Error> {
        let limits = self.config.limits.clone();
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
        let request = JoinRequest { room: &self.config.name, token: hello.token };
        let identity = self.authority.join(&request).map_err(|why| Error::Refused { why })?;
        let resume = hello.resume.filter(|resume| resume.incarnation == self.config.incarnation);
        if resume.is_some_and(|resume| resume.position > self.journal.head()) {
            return Err(Error::malformed("HELLO: a position the room has not reached"));
        }
        let known = match resume {
            Some(resume) => self.find(&resume)?,
            None => None,
        };
        let limit = limits.max_participants;
        let (id, counter, outcome) = match known {
            Some(id) => {
                self.detach(id);
                (id, self.participants[&id].counter, Outcome::Resumed)
            }
            None if self.participants.len() >= limit => {
                return Err(Error::TooMany { what: "participants in this room", limit });
            }
            None => {
                self.last_id = self.last_id.next();
                let outcome = if hello.resume.is_some() { Outcome::Lost } else { Outcome::New };
                self.participants.insert(self.last_id, new_participant(secret));
                (self.last_id, Counter(0), outcome)
            }
        };
        let resumed = outcome == Outcome::Resumed;
        let position = resume.map_or(Position(0), |resume| resume.position);
        let own = resume.filter(|_| resumed).map_or(Counter(0), |resume| resume.counter);
        let offered = capability::of_compression(self.config.compress, self.packing.set());
        let offered = offered | capability::of_datagrams(max_datagram, self.config.compress);
        let standings = if cfg!(feature = "describe") { capability::STANDINGS } else { 0 };
        let offered = offered | capability::CONTRACTS | standings;
        let capabilities = hello.capabilities & offered;
        let coded = capabilities & capability::CODED != 0;
        let mut link = Link::new(now, max_datagram);
        if capabilities & capability::DATAGRAMS != 0 {
            link.datagrams = Datagrams::new(Settings {
                max: link.max_datagram,
                sends: Direction::ToClient,
                coded,
                copies: capabilities & capability::COPIES != 0,
                max_message: limits.max_message,
                redundancy: self.config.redundancy,
            });
        }
        let takes_classes = capabilities & capability::DATAGRAM_CLASSES != 0;
        let member = (takes_classes && link.datagrams.is_some()).then(Member::default);
        let fresh = Fresh::at(self.journal.order());
        let fresh = link.datagrams.is_some().then_some(fresh);
        if capabilities & capability::BLOCKS != 0 {
            link.choosing.blocks.agree();
        }
        link.stamps.agreed = capabilities & capability::CONTRACTS != 0;
        link.opening_was_read();
        link.limit_packets(hello.max_packet);
        link.bodies = Some(Bodies {
            encoder: BodyEncoder::new(
                Direction::ToClient,
                Numbering::new(id, own, position),
                coded,
            ),
            decoder: BodyDecoder::new(
                Direction::ToServer,
                Numbering::new(ParticipantId(0), counter, Position(0)),
                coded,
                limits.max_message,
            ),
        });
        let participant = self.participants.get_mut(&id).ok_or(Error::malformed("session"))?;
        link.queue(&Frame::Welcome(Welcome {
            capabilities,
            max_packet: limits.max_packet,
            max_message: limits.max_message,
            max_snapshot: limits.max_snapshot,
            incarnation: self.config.incarnation,
            participant: id,
            secret: participant.secret,
            outcome,
            counter,
            position: self.journal.head(),
            timing: self.config.timing,
        }));
        if self.packing.set() != 0 {
            link.queue(&Frame::Codecs { set: self.packing.set() });
        }
        link.ping(now);
        participant.identity = identity;
        participant.presence = hello.presence.to_vec();
        participant.presence_state = PresenceState::Here;
        participant.connection = Some(Box::new(Connection {
            id: link_id,
            link,
            member,
            channels: BTreeMap::new(),
            awareness_cursor: Order(0),
            fresh,
            datagrams_at: None,
            log_cursor: position,
            due: (self.journal.order(), self.journal.head()),
            joining: Some((self.journal.order(), self.journal.head())),
            was_asked: false,
            present_from: self.journal.order(),
            fills: VecDeque::new(),
            unsynced: BTreeSet::new(),
            changed: BTreeSet::new(),
            complete: true,
            download: None,
            renewed: BTreeSet::new(),
            outlook: BTreeMap::new(),
            thinned: BTreeMap::new(),
            slotted: Slotted::default(),
            membership: Membership::new(capabilities & capability::SHARED_STREAMS != 0),
            #[cfg(feature = "describe")]
            watched: Watched::new(capabilities & capability::STANDINGS != 0),
            requests: Requests::default(),
        }));
        self.links.insert(link_id, id);
        let changed: BTreeSet<ParticipantId> =
            self.participants.keys().copied().filter(|&other| other != id).collect();
        if let Some(connection) = self.connection(id) {
            connection.changed = changed;
        }
        self.next_housekeeping.get_or_insert(now + HOUSEKEEPING);
        self.announce(now, id);
        let joined = Event::Joined { participant: id, link: link_id, resumed };
        self.outputs.push_back(Output::Event(joined));
        Ok(id)
    }

    /// The session that a client may resume; `None` if it is forgotten or the proof is wrong.
    fn find(&mut self, resume: &Resume) -> Result<Option<ParticipantId>, Error> {
        let id = resume.participant;
        let former = self.former.iter().position(|former| former.id == id);
        let (secret, counter) = match (self.participants.get(&id), former) {
            (Some(participant), _) => (participant.secret, participant.counter),
            (None, Some(at)) => (self.former[at].secret, self.former[at].counter),
            (None, None) => return Ok(None),
        };
        if !same(&secret, &resume.secret) {
            return Ok(None);
        }
        if resume.counter > counter {
            return Err(Error::malformed("HELLO: a counter the room has not reached"));
        }
        if let Some(former) = former.and_then(|at| self.former.remove(at)) {
            let participant = Participant { counter: former.counter, ..new_participant(secret) };
            self.participants.insert(id, participant);
        }
        Ok(Some(id))
    }

    /// The session comes back over another transport: the old one, if it still stands, is closed.
    fn detach(&mut self, id: ParticipantId) {
        let Some(connection) = self.connection(id) else { return };
        let link = connection.id;
        let mut packet = vec![];
        error_frame(&Error::Replaced, true, 0, &mut packet);
        self.links.remove(&link);
        self.outputs.push_back(Output::Close { link, packet, reason: Some(Error::Replaced) });
    }

    fn read_opening(&mut self, now: Duration, id: ParticipantId, rest: &[u8]) -> Result<(), Error> {
        let mut frames = Frames::new(rest);
        while let Some(frame) = frames.next()? {
            match frame {
                Frame::Open { reference, access, name, qos, have, compress } => {
                    let open = OpenFrame { reference, access, name, qos, have, compress };
                    self.open(id, &open, true)?;
                }
                Frame::Presence(presence) => self.set_presence(now, id, presence)?,
                Frame::Codecs { set } => self.reads(id, set),
                _ => {
                    return Err(Error::malformed(
                        "opening: only OPEN, PRESENCE and CODECS may follow",
                    ));
                }
            }
        }
        Ok(())
    }

    /// `with_join`: it stands in the opening, so the join's SYNCED covers it.
    pub(super) fn open(
        &mut self,
        id: ParticipantId,
        open: &OpenFrame<'_>,
        with_join: bool,
    ) -> Result<(), Error> {
        match self.grant(id, open) {
            Ok((channel, access)) => {
                self.leave_shared(id);
                let qos = self.channels[channel.place()].qos;
                let Some(connection) = self.connection(id) else { return Ok(()) };
                connection.link.queue(&Frame::Channel {
                    reference: open.reference,
                    id: channel,
                    access,
                    name: open.name,
                    qos,
                });
                let opened = Opened { access, compress: open.compress };
                let before = connection.channels.insert(channel, opened);
                let is_new =
                    access.subscribe && !before.is_some_and(|before| before.access.subscribe);
                let (cursor, until) = (open.have, connection.log_cursor);
                connection.fills.retain(|fill| fill.channel != channel);
                if is_new && cursor < until {
                    // Its place in the log: what comes before is this filling, or was not for it.
                    connection.say_place();
                    connection.fills.push_back(Fill { channel, cursor, until });
                } else if connection.joining.is_none() {
                    connection.link.queue(&Frame::Synced { channel });
                } else if !with_join {
                    connection.unsynced.insert(channel);
                }
                Ok(())
            }
            Err(error @ (Error::Refused { .. } | Error::TooMany { .. })) => {
                let Some(connection) = self.connection(id) else { return Ok(()) };
                let mut frame = Vec::new();
                error_frame(&error, false, open.reference, &mut frame);
                connection.link.queue_raw(frame);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Finds or makes the channel, as the authority allows.
    fn grant(
        &mut self,
        id: ParticipantId,
        open: &OpenFrame<'_>,
    ) -> Result<(ChannelNo, Access), Error> {
        if open.name.is_empty() {
            return Err(Error::malformed("OPEN: the channel has no name"));
        }
        let Some(participant) = self.participants.get(&id) else {
            return Err(Error::malformed("session"));
        };
        let existing = self.channels.iter().position(|channel| channel.name == open.name);
        let request = OpenRequest {
            room: &self.config.name,
            identity: &participant.identity,
            channel: open.name,
            access: open.access,
            qos: open.qos,
            existing: existing.map(|at| self.channels[at].qos),
        };
        let Grant { access, qos } =
            self.authority.open(&request).map_err(|why| Error::Refused { why })?;
        let access = access.and(open.access);
        if let Some(at) = existing {
            return Ok((ChannelNo(at as u32 + 1), access));
        }
        let limit = self.config.limits.max_channels;
        if self.channels.len() >= limit {
            return Err(Error::TooMany { what: "channels in this room", limit });
        }
        qos.validate()?;
        self.channels.push(Channel {
            name: open.name.into(),
            qos,
            came: Tally::default(),
            upstream: None,
        });
        self.outputs.push_back(Output::Event(Event::Channel { name: open.name.into(), qos }));
        Ok((ChannelNo(self.channels.len() as u32), access))
    }
}

fn new_participant(secret: Secret) -> Participant {
    Participant {
        secret,
        identity: Vec::new(),
        presence: Vec::new(),
        counter: Counter(0),
        presence_state: PresenceState::Here,
        connection: None,
        away_since: Duration::ZERO,
        asked: None,
        upload: None,
        seen: Seen::default(),
        upstream: BTreeMap::new(),
    }
}

/// Compares without telling by its time how much was right.
fn same(one: &Secret, two: &Secret) -> bool {
    one.iter().zip(two).fold(0, |difference, (one, two)| difference | (one ^ two)) == 0
}
