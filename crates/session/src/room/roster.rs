//! The participants of a room as everybody is told of them.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::{ParticipantId, PresenceState};

/// See the [module](self).
#[derive(Debug, Default)]
pub(super) struct Roster {
    entries: BTreeMap<ParticipantId, Presence>,
    /// The participants of whom everybody is to be told at the next tick.
    changed: BTreeSet<ParticipantId>,
}

/// What everybody is told of a participant.
#[derive(Debug)]
pub(super) struct Presence {
    pub(super) state: PresenceState,
    /// What the participant shows of itself, as its application wrote it.
    pub(super) bytes: Vec<u8>,
}

impl Roster {
    /// The participant is here and shows this of itself.
    pub(super) fn enter(&mut self, participant: ParticipantId, bytes: &[u8]) {
        let presence = Presence { state: PresenceState::Here, bytes: bytes.to_vec() };
        self.entries.insert(participant, presence);
    }

    /// Returns whether the participant shows something else of itself now.
    pub(super) fn set(&mut self, participant: ParticipantId, bytes: &[u8]) -> bool {
        let entry = self.entries.get_mut(&participant).filter(|entry| entry.bytes != bytes);
        entry.map(|entry| entry.bytes = bytes.to_vec()).is_some()
    }

    /// The participant's transport is gone.
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

    /// The participants of whom everybody is to be told, since the last call.
    pub(super) fn take_changed(&mut self) -> BTreeSet<ParticipantId> {
        core::mem::take(&mut self.changed)
    }

    /// What everybody is told of a participant; `None` if it left.
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
