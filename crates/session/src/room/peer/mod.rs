//! Peers: the participants of a room, here or away.
//!
//! A peer that is here has a [`Connection`]: its transport, its open channels, and the feeds that
//! send it messages. Each file of this folder handles one part of a peer's traffic: received
//! packets, published messages, channels, snapshots, the stream, datagrams.

mod account;
mod channels;
mod connection;
mod datagrams;
mod guest;
mod held;
mod publish;
mod quality;
mod receive;
mod requests;
mod rest;
mod sender;
mod shared;
mod snapshot;
mod stage;
mod stream;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;

pub(super) use connection::Connection;
pub(super) use guest::Answer;
pub(super) use rest::MEASURE_EVERY;
pub(super) use sender::Sender;
pub(super) use stage::SNAPSHOT_PATIENCE;

use account::Account;

use super::api::{Event, Output};
use super::attention::resting::Rest;
use super::common::Common;
use super::delivery::outputs::Outputs;
use super::intake::pieces::Pieces;
use super::members::Members;
use crate::events::event;
use crate::wire::frame::error_frame;
use crate::{Error, Identity, LinkId, ParticipantId, Quota};

/// A participant.
pub(super) struct Peer {
    pub(super) id: ParticipantId,
    /// The participant's identity from its last token.
    pub(super) identity: Identity,
    pub(super) sender: Sender,
    pub(super) account: Account,
    pub(super) state: State,
    /// How the participant rests; `None` if housekeeping looks at it next time.
    pub(super) rest: Option<Rest>,
    /// True if ticks skip the participant, so that its cursors are behind until [`Peer::end_skip`].
    pub(super) is_skipped: bool,
}

/// Whether a participant has a transport.
pub(super) enum State {
    /// It has had no transport since this time, and may come back.
    Away { since: Duration },
    /// It has a transport. Boxed, because a connection is large and maps are half empty.
    Here(Box<Connection>),
}

impl Peer {
    /// A participant without a transport.
    pub(super) fn new(id: ParticipantId) -> Self {
        Peer {
            id,
            identity: Identity::default(),
            sender: Sender::default(),
            account: Account::new(Quota::NONE),
            state: State::Away { since: Duration::ZERO },
            rest: None,
            is_skipped: false,
        }
    }

    pub(super) fn connection(&self) -> Option<&Connection> {
        match &self.state {
            State::Here(connection) => Some(connection),
            State::Away { .. } => None,
        }
    }

    pub(super) fn connection_mut(&mut self) -> Option<&mut Connection> {
        match &mut self.state {
            State::Here(connection) => Some(connection),
            State::Away { .. } => None,
        }
    }

    /// Closes the transport because of this error; the participant may come back.
    pub(super) fn fail(&mut self, now: Duration, error: Error, common: &mut Common) {
        let Some(connection) = self.connection() else { return };
        let link = connection.id;
        let mut packet = Vec::new();
        error_frame(&error, true, 0, &mut packet);
        common.members.links.remove(&link);
        common.delivery.outputs.push_back(Output::Close {
            link,
            packet,
            reason: Some(error.clone()),
        });
        self.away(now, Some(error), common);
    }

    /// Notes that the transport is gone. `error`: why the room closed it, if it did.
    pub(super) fn away(&mut self, now: Duration, error: Option<Error>, common: &mut Common) {
        self.wake(&mut common.attention);
        if let (Some(upward), Some(connection)) = (&mut common.upward, self.connection()) {
            upward.closed(self.id, connection.id, error.clone());
        }
        self.state = State::Away { since: now };
        common.intake.end_transport(self.id);
        common.delivery.outputs.emit(Event::Away { participant: self.id, error });
        if common.upward.is_some() {
            // The room says when others have to be told.
            return;
        }
        common.members.roster.set_away(self.id);
        common.members.announce(now, self.id, &mut common.timers);
    }

    /// The participant has left, at a mirror.
    pub(super) fn end_at_mirror(&mut self, now: Duration, common: &mut Common) {
        self.wake(&mut common.attention);
        self.state = State::Away { since: now };
        common.intake.end_transport(self.id);
    }

    /// Closes the transport, if there is one, because the session goes on over the transport `to`.
    pub(super) fn detach(
        &mut self,
        to: LinkId,
        members: &mut Members,
        pieces: &mut Pieces,
        outputs: &mut Outputs,
    ) {
        let Some(connection) = self.connection() else { return };
        let (participant, link) = (self.id, connection.id);
        event!(DEBUG, "transport switched", %participant, %link, %to);
        let mut packet = Vec::new();
        error_frame(&Error::Replaced, true, 0, &mut packet);
        members.links.remove(&link);
        pieces.forget(self.id);
        outputs.push_back(Output::Close { link, packet, reason: Some(Error::Replaced) });
    }
}
