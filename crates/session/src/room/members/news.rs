//! The news of a tick about participants, coded once for all receivers of the same news (wire W34,
//! W103).

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use crate::room::members::roster::{Presence, Roster};
use crate::wire::frame::{Frame, ParticipantEntry};
use crate::{ParticipantId, PresenceState};

/// The most bytes of presence and users in one packet. Further participants wait for the next
/// packet.
pub(in crate::room) const PRESENCE_PER_PACKET: usize = 16 << 10;

/// The most bytes of an entry of PARTICIPANTS without its presence and its user: its number, its
/// state and two lengths.
pub(in crate::room) const ENTRY_OVERHEAD: usize = 10;

/// The changes of participants since the last tick, and the number of participants.
#[derive(Debug)]
pub(in crate::room) struct News {
    pub(in crate::room) changed: BTreeSet<ParticipantId>,
    /// True if the frames contain the number of participants.
    pub(in crate::room) counts: bool,
    /// The participants in `changed` that left.
    pub(in crate::room) left: Vec<ParticipantId>,
    /// The encoded COUNT and PARTICIPANTS frames.
    pub(in crate::room) frames: Vec<u8>,
}

impl News {
    /// Codes the changes. Returns `None` if they fit no packet: then each receiver's packets are
    /// made for it alone.
    pub(in crate::room) fn new(
        changed: &BTreeSet<ParticipantId>,
        counts: bool,
        roster: &Roster,
    ) -> Option<Self> {
        let list: Vec<ParticipantEntry<'_>> = changed.iter().map(|&id| entry(id, roster)).collect();
        if list.iter().map(size).sum::<usize>() > PRESENCE_PER_PACKET {
            return None;
        }
        let left = list.iter().filter(|entry| entry.state == PresenceState::Left);
        let left = left.map(|entry| entry.id).collect();
        let mut frames = Vec::new();
        if counts {
            roster.count_frame().write(&mut frames);
        }
        if !list.is_empty() {
            Frame::Participants { complete: false, list }.write(&mut frames);
        }
        Some(News { changed: changed.clone(), counts, left, frames })
    }
}

/// The present entry of a participant in PARTICIPANTS.
pub(in crate::room) fn entry(id: ParticipantId, roster: &Roster) -> ParticipantEntry<'_> {
    match roster.get(id) {
        Some(Presence { state, user, bytes, .. }) => {
            ParticipantEntry { id, state: *state, user: user.as_deref(), presence: bytes }
        }
        None => ParticipantEntry { id, state: PresenceState::Left, user: None, presence: &[] },
    }
}

/// The most bytes of an entry.
pub(in crate::room) fn size(entry: &ParticipantEntry<'_>) -> usize {
    entry.presence.len() + entry.user.map_or(0, str::len) + ENTRY_OVERHEAD
}
