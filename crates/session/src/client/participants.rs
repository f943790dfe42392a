//! The participants that the application was told of. After the room was loaded again, those who have not resumed yet stay in
//! the application's list for a time (wire W94).

use alloc::vec::Vec;
use core::time::Duration;

use super::event::{Event, ParticipantChange};
use super::session::Session;
use crate::PresenceState;

/// The participants that the application was told of; of each kind at most `max_participants` of [`Limits`](crate::Limits).
#[derive(Default)]
pub(super) struct Participants {
    /// Those whom the room announced last.
    known: Vec<ParticipantChange>,
    /// Those who were here before the room was loaded again, and whom it has not announced since.
    missing: Vec<ParticipantChange>,
    /// Until then the missing ones are away; after it they have left. `None` if there are none.
    pub(super) missing_until: Option<Duration>,
}

impl Session {
    /// Tells the application who came, changed or left.
    pub(super) fn on_participants(&mut self, complete: bool, mut changes: Vec<ParticipantChange>) {
        let limit = self.config.limits.max_participants;
        let Participants { known, missing, missing_until } = &mut self.participants;
        if complete {
            if missing_until.is_some() {
                missing.append(known);
                missing.truncate(limit);
            }
            known.clear();
        }
        let is_unchanged =
            |one: &ParticipantChange| changes.iter().all(|change| change.id != one.id);
        known.retain(is_unchanged);
        missing.retain(is_unchanged);
        let present = changes.iter().filter(|change| change.state != PresenceState::Left);
        known.extend(present.cloned());
        known.truncate(limit);
        if complete {
            missing.iter_mut().for_each(|one| one.state = PresenceState::Away);
            changes.extend_from_slice(missing);
        }
        self.emit(Event::Participants { complete, changes });
    }

    /// Tells the application that the participants have left whom a loaded room did not announce in time.
    pub(super) fn report_missing(&mut self, now: Duration) {
        let Participants { missing, missing_until, .. } = &mut self.participants;
        if missing_until.take_if(|until| now >= *until).is_none() || missing.is_empty() {
            return;
        }
        let mut changes = core::mem::take(missing);
        for change in &mut changes {
            change.state = PresenceState::Left;
            change.user = None;
            change.presence.clear();
        }
        self.emit(Event::Participants { complete: false, changes });
    }
}
