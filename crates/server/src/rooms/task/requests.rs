//! The administration's requests to a room: to publish messages, to reset channels, to name a
//! participant's transport, to emulate its network, and to close its connection.

use std::time::Duration;

use groupwire_session::room::{NotReset, Publication, Published};
use groupwire_session::{Error, LinkId, ParticipantId, Position};
use tokio::sync::oneshot;

use super::{Driver, Refused};
use crate::ends::conn_info::{MIRROR, VISITOR};
use crate::ends::emulation::model::Settings;

impl Driver {
    /// Publishes a message of the room itself. Answers on `durable` when it has taken effect.
    pub(crate) fn publish(
        &mut self,
        now: Duration,
        publication: &Publication<'_>,
        durable: oneshot::Sender<()>,
    ) -> Result<Published, Refused> {
        if !self.publications.permits() {
            return Err(Refused::TooOften);
        }
        let published = self.room.publish(now, publication).map_err(Refused::Room)?;
        let position = match published {
            Published::Transaction { position, .. } => position,
            Published::Awareness => Position(0),
        };
        self.publications.wait_for(position, durable);
        Ok(published)
    }

    /// Resets channels. Answers on `durable` when that has taken effect.
    pub(crate) fn reset(
        &mut self,
        now: Duration,
        channels: &[String],
        durable: oneshot::Sender<()>,
    ) -> Result<Position, NotReset> {
        let position = self.room.reset(now, channels)?;
        self.publications.wait_for(position, durable);
        Ok(position)
    }

    /// Sends a participant's connection over an emulated network of its own. Returns false if the
    /// participant has no connection, or its transport cannot be emulated.
    pub(crate) fn emulate(&mut self, participant: ParticipantId, settings: Settings) -> bool {
        let Some(link) = self.room.link_of(participant) else { return false };
        if self
            .deliveries
            .connections
            .get(link)
            .is_none_or(|connection| connection.info.path.is_none())
        {
            return false;
        }
        self.emulated.entry(participant).or_default().set(settings);
        self.apply_path(participant, link);
        true
    }

    /// Closes a participant's connection with an error. Returns false if the participant has no
    /// connection.
    pub(crate) fn fail(&mut self, participant: ParticipantId, error: Error, now: Duration) -> bool {
        self.room.disconnect(now, participant, error)
    }

    /// The name of a participant's transport, while it has one.
    pub(crate) fn transport_of(&self, participant: ParticipantId) -> Option<&'static str> {
        if self.room.is_at_mirror(participant) {
            return Some(MIRROR);
        }
        if self.room.is_visitor(participant) {
            return Some(VISITOR);
        }
        let link = self.room.link_of(participant)?;
        self.deliveries.connections.get(link).map(|connection| connection.info.transport)
    }

    /// The settings of a participant's own emulated network, if it has one.
    pub(crate) fn emulated(&self, participant: ParticipantId) -> Option<Settings> {
        self.emulated.get(&participant).map(|path| path.settings())
    }

    /// Sets the emulated path of a participant's current connection, if it has one.
    pub(super) fn apply_path(&self, participant: ParticipantId, link: LinkId) {
        let slot = self
            .deliveries
            .connections
            .get(link)
            .and_then(|connection| connection.info.path.as_ref());
        if let (Some(slot), Some(path)) = (slot, self.emulated.get(&participant)) {
            slot.set(path);
        }
    }
}
