//! The participants of a room as the other participants see them: their state, verified user and presence data.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::{ParticipantId, PresenceState};

/// See the [module](self).
#[derive(Debug, Default)]
pub(super) struct Roster {
    entries: BTreeMap<ParticipantId, Presence>,
    /// The participants whose changes are sent to all others at the next tick.
    changed: BTreeSet<ParticipantId>,
}

/// The state of a participant that all others are sent.
#[derive(Debug)]
pub(super) struct Presence {
    pub(super) state: PresenceState,
    /// The user that the server verified (wire W100).
    pub(super) user: Option<Box<str>>,
    /// The presence data that the participant's application wrote.
    pub(super) bytes: Vec<u8>,
}

impl Roster {
    /// Adds a participant, or one that comes back, with its user and presence data.
    pub(super) fn enter(&mut self, participant: ParticipantId, user: Option<&str>, bytes: &[u8]) {
        let (user, bytes) = (user.map(|user| user.to_owned().into()), bytes.to_vec());
        let presence = Presence { state: PresenceState::Here, user, bytes };
        self.entries.insert(participant, presence);
    }

    /// Sets a participant's presence data. Returns true if it changed.
    pub(super) fn set(&mut self, participant: ParticipantId, bytes: &[u8]) -> bool {
        let entry = self.entries.get_mut(&participant).filter(|entry| entry.bytes != bytes);
        entry.map(|entry| entry.bytes = bytes.to_vec()).is_some()
    }

    /// Notes that the participant's transport is gone.
    pub(super) fn set_away(&mut self, participant: ParticipantId) {
        if let Some(entry) = self.entries.get_mut(&participant) {
            entry.state = PresenceState::Away;
        }
    }

    pub(super) fn leave(&mut self, participant: ParticipantId) {
        self.entries.remove(&participant);
        self.changed.insert(participant);
    }

    pub(super) fn announce(&mut self, participant: ParticipantId) {
        self.changed.insert(participant);
    }

    /// True if changes have to be sent.
    pub(super) fn has_changed(&self) -> bool {
        !self.changed.is_empty()
    }

    /// The participants whose changes have to be sent to all others, since the last call.
    pub(super) fn take_changed(&mut self) -> BTreeSet<ParticipantId> {
        core::mem::take(&mut self.changed)
    }

    /// The state and presence of a participant; `None` if it left.
    pub(super) fn get(&self, participant: ParticipantId) -> Option<&Presence> {
        self.entries.get(&participant)
    }

    /// All participants but this one.
    pub(super) fn others(
        &self,
        participant: ParticipantId,
    ) -> impl Iterator<Item = ParticipantId> + '_ {
        self.entries.keys().copied().filter(move |&other| other != participant)
    }
}
