//! The store of a simulated room. The caller decides when changes become durable. A crash loses all
//! other changes.

use std::collections::VecDeque;

use groupwire_session::room::{RESERVED_AT_ONCE, Stored, Write};
use groupwire_session::{ParticipantId, Position};

/// The stored state of a room, and the changes to it.
#[derive(Debug, Default)]
pub(crate) struct Disk {
    /// The room as it is on the disk. `None` before its first change.
    stored: Option<Stored>,
    /// Changes that are not durable yet, oldest first.
    waiting: VecDeque<Write>,
}

impl Disk {
    /// Takes a change, which is not durable yet.
    pub(crate) fn put(&mut self, write: Write) {
        self.waiting.push_back(write);
    }

    /// The number of changes that are not durable yet.
    pub(crate) fn waiting(&self) -> u32 {
        self.waiting.len() as u32
    }

    /// The durable position and the reserved participant number, for
    /// [`groupwire_session::room::Input::Durable`].
    pub(crate) fn durable(&self) -> (Position, ParticipantId) {
        self.stored.as_ref().map_or_else(Default::default, |one| (one.head, one.reserved))
    }

    /// Crashes the server. The first `kept` waiting changes became durable before, and the others
    /// are lost.
    pub(crate) fn crash(&mut self, kept: u32, incarnation: u64) {
        self.waiting.truncate(kept as usize);
        while !self.waiting.is_empty() {
            self.apply(incarnation);
        }
    }

    /// The room as a server loads it, which reserves further numbers of participants first.
    pub(crate) fn load(&mut self) -> Option<Stored> {
        let stored = self.stored.as_mut()?;
        let last_participant = stored.reserved;
        stored.reserved = ParticipantId(last_participant.get() + RESERVED_AT_ONCE);
        Some(Stored { last_participant, ..stored.clone() })
    }

    /// Makes the oldest waiting change durable.
    pub(crate) fn apply(&mut self, incarnation: u64) {
        let Some(write) = self.waiting.pop_front() else { return };
        let stored = self.stored.get_or_insert_with(|| Stored { incarnation, ..Stored::default() });
        stored.apply(write);
    }
}
