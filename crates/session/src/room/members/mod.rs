//! The participants of a room as the others are told of them, and their transports.

pub(super) mod news;
pub(super) mod roster;

use alloc::collections::BTreeMap;
use core::time::Duration;

use super::timers::Timers;
use crate::{LinkId, ParticipantId};
use roster::Roster;

/// See the [module](self).
pub(super) struct Members {
    pub(super) roster: Roster,
    /// The transports of the room, and the participant that each one belongs to.
    pub(super) links: BTreeMap<LinkId, ParticipantId>,
    /// The number of participants whose transports are at mirrors of the room.
    pub(super) guests: usize,
}

impl Members {
    /// No members yet. The room becomes large with more participants than `everybody_up_to`.
    pub(super) fn new(everybody_up_to: usize) -> Self {
        Members { roster: Roster::new(everybody_up_to), links: BTreeMap::new(), guests: 0 }
    }

    /// The number of participants with a transport, at this server or at a mirror.
    pub(super) fn count_here(&self) -> u64 {
        (self.links.len() + self.guests) as u64
    }

    /// Plans to send this participant's state to the others at the next tick. In a large room, only
    /// if it acted lately.
    pub(super) fn announce(
        &mut self,
        now: Duration,
        participant: ParticipantId,
        timers: &mut Timers,
    ) {
        if self.roster.announce(participant) || self.roster.has_changed() {
            timers.schedule_tick(now);
        }
        timers.begin_housekeeping(now);
    }

    /// Notes that the participant acted: in a large room, others are told of it before its message
    /// (wire W104).
    pub(super) fn act(&mut self, now: Duration, participant: ParticipantId, timers: &mut Timers) {
        if self.roster.act(participant) {
            timers.schedule_tick(now);
        }
    }
}
