//! Lets visitors in, and keeps them while they come again.

use core::time::Duration;

use super::{Seat, Tidings, Visit, check_name};
use crate::room::Room;
use crate::room::api::Event;
use crate::room::peer::{Peer, State};
use crate::wire::handshake::Outcome;
use crate::{Error, ParticipantId};

impl Room {
    /// Makes a program a participant, or keeps it one for [`Timing::away`](crate::Timing::away)
    /// from now on. The caller calls [`Room::handle_input`] afterwards, as after all changes.
    ///
    /// ```
    /// use core::time::Duration;
    /// use groupwire_session::{AllowAll, Identity};
    /// use groupwire_session::room::{Config, Room, Visit};
    ///
    /// let mut room = Room::new(Config::new("demo", 1), Box::new(AllowAll));
    /// let ann = Identity { subject: b"ann".to_vec(), rights: Vec::new() };
    /// let visit = Visit { identity: &ann, name: "" };
    /// let first = room.visit(Duration::ZERO, &visit).unwrap();
    /// assert_eq!(room.visit(Duration::from_secs(1), &visit), Ok(first));
    /// ```
    ///
    /// # Errors
    /// The room is full, takes nobody at present, or is a mirror; the participant is far above its
    /// quota; or the name is too long.
    pub fn visit(&mut self, now: Duration, visit: &Visit<'_>) -> Result<ParticipantId, Error> {
        let Visit { identity, name } = *visit;
        check_name(name)?;
        self.common.now = now;
        if self.common.upward.is_some() {
            return Err(Error::NotNow { what: "another server has the room" });
        }
        let name = (identity.subject.clone(), name.into());
        if let Some(&id) = self.visitors.by_name.get(&name)
            && let Some(peer) = self.peers.get_mut(&id)
        {
            peer.account.check(now, &self.common.config.quotas)?;
            if peer.identity != *identity {
                peer.identity.clone_from(identity);
                peer.renew_quota(&self.common.permissions, self.common.config.quotas.participant);
            }
            peer.state = State::Away { since: now };
            return Ok(id);
        }
        let limit = self.common.config.limits.max_participants;
        if self.peers.len() + self.mirrors.guests.len() >= limit {
            return Err(Error::TooMany { what: "participants in this room", limit });
        }
        if !self.common.permits_newcomer() {
            return Err(Error::NotNow { what: "the store is behind, and takes nobody new" });
        }
        self.end_skipping();
        let Room { peers, common, visitors, .. } = self;
        let id = common.log.begin_session();
        let mut peer = Peer::new(id);
        common.attention.resting.enter(id, &mut peer.rest);
        peer.identity.clone_from(identity);
        peer.renew_quota(&common.permissions, common.config.quotas.participant);
        peer.state = State::Away { since: now };
        peers.insert(id, peer);
        common.members.roster.enter(id, identity.user(), &[]);
        common.members.announce(now, id, &mut common.timers);
        common.accounting.stats.count_join(Outcome::New, false);
        common.delivery.outputs.emit(Event::Visits { participant: id });
        let seat =
            Seat { name: name.clone(), indices: Default::default(), not_before: Duration::ZERO };
        visitors.by_name.insert(name, id);
        visitors.seats.insert(id, seat);
        Ok(id)
    }

    /// True if this participant is a visitor.
    pub fn is_visitor(&self, participant: ParticipantId) -> bool {
        self.visitors.seats.contains_key(&participant)
    }

    /// A number that differs each time the room is made or loaded. The orders and versions of
    /// another load mean nothing.
    pub fn load_number(&self) -> u64 {
        self.common.config.load
    }

    /// Changes when there is something new to read.
    pub fn tidings(&self) -> Tidings {
        let log = &self.common.log;
        (log.durable(), log.order(), self.common.members.roster.version())
    }
}
