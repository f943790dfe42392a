//! The administration's requests about a room's connections: to name a participant's
//! transport, to emulate its network, and to close its connection.

use std::time::Duration;

use groupwire_session::room::Input;
use groupwire_session::{Error, LinkId, ParticipantId};

use super::Driver;
use crate::ends::emulation::model::Settings;

impl Driver {
    /// Sends a participant's connection over an emulated network of its own. Returns false if the participant has no
    /// connection, or its transport cannot be emulated.
    pub(crate) fn emulate(&mut self, participant: ParticipantId, settings: Settings) -> bool {
        let Some(link) = self.room.link_of(participant) else { return false };
        if self.connections.get(link).is_none_or(|connection| connection.info.path.is_none()) {
            return false;
        }
        self.emulated.entry(participant).or_default().set(settings);
        self.apply_path(participant, link);
        true
    }

    /// Closes a participant's connection with an error. Returns false if the participant has no connection.
    pub(crate) fn fail(&mut self, participant: ParticipantId, error: Error, now: Duration) -> bool {
        let Some(link) = self.room.link_of(participant) else { return false };
        self.room.handle_input(now, Input::Fail { link, error });
        true
    }

    /// The name of a participant's transport, while it has one.
    pub(crate) fn transport_of(&self, participant: ParticipantId) -> Option<&'static str> {
        let link = self.room.link_of(participant)?;
        self.connections.get(link).map(|connection| connection.info.transport)
    }

    /// The settings of a participant's own emulated network, if it has one.
    pub(crate) fn emulated(&self, participant: ParticipantId) -> Option<Settings> {
        self.emulated.get(&participant).map(|path| path.settings())
    }

    /// Sets the emulated path of a participant's current connection, if it has one.
    pub(super) fn apply_path(&self, participant: ParticipantId, link: LinkId) {
        let slot = self.connections.get(link).and_then(|connection| connection.info.path.as_ref());
        if let (Some(slot), Some(path)) = (slot, self.emulated.get(&participant)) {
            slot.set(path);
        }
    }
}
