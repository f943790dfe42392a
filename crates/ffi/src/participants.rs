//! The participants of a room, as its events tell.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use groupwire_client::{ParticipantChange, ParticipantId, PresenceState};

use crate::event::{Change, Event, Participant, Presence};

/// The other participants, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Participants {
    others: BTreeMap<u32, Participant>,
}

impl Participants {
    /// Takes in a list of changes, or with `complete` a list of all, and appends an event for each
    /// difference.
    pub(crate) fn apply(
        &mut self,
        complete: bool,
        changes: Vec<ParticipantChange>,
        events: &mut VecDeque<Event>,
    ) {
        self.apply_all(complete, changes.into_iter().map(participant).collect(), events);
    }

    fn apply_all(
        &mut self,
        complete: bool,
        changes: Vec<Participant>,
        events: &mut VecDeque<Event>,
    ) {
        if complete {
            let there: BTreeSet<u32> = changes.iter().map(|change| change.id).collect();
            let stays = |id: &u32| there.contains(id);
            let gone: Vec<u32> = self.others.keys().filter(|id| !stays(id)).copied().collect();
            for id in gone {
                self.leave(id, events);
            }
        }
        for participant in changes {
            if participant.state == Presence::Left {
                self.leave(participant.id, events);
                continue;
            }
            let before = self.others.insert(participant.id, participant.clone());
            if before.as_ref() == Some(&participant) {
                continue;
            }
            let change = if before.is_some() { Change::Changed } else { Change::Came };
            events.push_back(Event::Participant { participant, change });
        }
    }

    pub(crate) fn list(&self) -> Vec<Participant> {
        self.others.values().cloned().collect()
    }

    /// The numbers of the participants, each with true if it is here and false if it is away.
    pub(crate) fn presences(&self) -> impl Iterator<Item = (ParticipantId, bool)> {
        let presence = |one: &Participant| (ParticipantId(one.id), one.state == Presence::Here);
        self.others.values().map(presence)
    }

    fn leave(&mut self, id: u32, events: &mut VecDeque<Event>) {
        if let Some(mut participant) = self.others.remove(&id) {
            participant.state = Presence::Left;
            events.push_back(Event::Participant { participant, change: Change::Left });
        }
    }
}

pub(crate) fn participant(change: ParticipantChange) -> Participant {
    Participant {
        id: change.id.get(),
        state: match change.state {
            PresenceState::Left => Presence::Left,
            PresenceState::Here => Presence::Here,
            PresenceState::Away => Presence::Away,
        },
        user: change.user,
        presence: change.presence,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Applies changes to participants, given as numbers, states and presences, and returns the
    /// events in short.
    fn apply(
        participants: &mut Participants,
        complete: bool,
        changes: &[(u32, Presence, &str)],
    ) -> Vec<(u32, Change)> {
        let mut events = VecDeque::new();
        let changes = changes.iter().map(|(id, state, presence)| Participant {
            id: *id,
            state: *state,
            user: None,
            presence: presence.as_bytes().to_vec(),
        });
        participants.apply_all(complete, changes.collect(), &mut events);
        let short = |event| match event {
            Event::Participant { participant, change } => (participant.id, change),
            other => panic!("{other:?}"),
        };
        events.into_iter().map(short).collect()
    }

    #[test]
    fn each_difference_is_one_event() {
        let mut all = Participants::default();
        let came = apply(&mut all, true, &[(1, Presence::Here, "a"), (2, Presence::Here, "b")]);
        assert_eq!(came, [(1, Change::Came), (2, Change::Came)]);
        assert_eq!(apply(&mut all, false, &[(1, Presence::Here, "a")]), []);
        assert_eq!(apply(&mut all, false, &[(1, Presence::Away, "a")]), [(1, Change::Changed)]);
        assert_eq!(apply(&mut all, false, &[(3, Presence::Left, "")]), []);
        assert_eq!(apply(&mut all, false, &[(2, Presence::Left, "")]), [(2, Change::Left)]);
        assert_eq!(all.list().len(), 1);
    }

    #[test]
    fn who_is_not_in_a_complete_list_has_left() {
        let mut all = Participants::default();
        apply(&mut all, true, &[(1, Presence::Here, "a"), (2, Presence::Here, "b")]);
        let changes = apply(&mut all, true, &[(2, Presence::Here, "b"), (4, Presence::Here, "")]);
        assert_eq!(changes, [(1, Change::Left), (4, Change::Came)]);
    }
}
