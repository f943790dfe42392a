//! The sessions of participants. A client with the session's secret can resume it.

use alloc::collections::{BTreeMap, VecDeque};

use crate::{Counter, ParticipantId};

/// A participant's session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::room) struct Session {
    /// The counter of the participant's last transaction in the log.
    pub(in crate::room) counter: Counter,
}

/// The session of a participant that left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Former {
    pub(super) participant: ParticipantId,
    pub(super) session: Session,
    /// When it left, as Unix time in seconds; 0 if the room is not told the time of day.
    pub(super) left: u64,
}

#[derive(Debug, Default)]
pub(super) struct Sessions {
    /// The sessions of participants that are here or away.
    present: BTreeMap<ParticipantId, Session>,
    /// The sessions of participants that left, by numbers that ascend in the order in which they
    /// left.
    former: BTreeMap<u64, Former>,
    /// The places of participants in `former`: all of a large room may come back at once.
    places: BTreeMap<ParticipantId, u64>,
    /// The number of the next participant that leaves.
    next: u64,
    /// The last number that was given to a participant.
    last: ParticipantId,
    /// In a stored room: the sessions of participants with a number up to this one are forgotten,
    /// except for those in the two lists. Participants with a higher number who are in no list have
    /// sent no transaction. `None` in a room that is not stored: only sessions in the lists are
    /// known.
    forgotten: Option<ParticipantId>,
}

impl Sessions {
    /// Begins a session, or makes one that ended present again.
    pub(super) fn begin(&mut self, participant: ParticipantId, session: Session) {
        if let Some(place) = self.places.remove(&participant) {
            self.former.remove(&place);
        }
        self.present.insert(participant, session);
        self.last = self.last.max(participant);
    }

    /// Ends a session at the time of day `left`. It can be resumed until `most` later sessions have
    /// ended.
    pub(super) fn end(&mut self, participant: ParticipantId, left: u64, most: usize) {
        let Some(session) = self.present.remove(&participant) else { return };
        if self.forgotten.is_some() && session.counter == Counter(0) {
            // It is known without an entry.
            return;
        }
        self.push(Former { participant, session, left });
        while self.former.len() > most {
            self.forget_oldest();
        }
    }

    /// Forgets the sessions that ended before this time of day.
    pub(super) fn forget_before(&mut self, left: u64) {
        while self.former.first_key_value().is_some_and(|(_, oldest)| oldest.left < left) {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        let Some((_, oldest)) = self.former.pop_first() else { return };
        self.places.remove(&oldest.participant);
        if let Some(forgotten) = &mut self.forgotten {
            *forgotten = (*forgotten).max(oldest.participant);
        }
    }

    fn push(&mut self, former: Former) {
        self.places.insert(former.participant, self.next);
        self.former.insert(self.next, former);
        self.next += 1;
    }

    pub(super) fn get(&self, participant: ParticipantId) -> Option<Session> {
        let former = || self.former.get(self.places.get(&participant)?);
        let known = self.present.get(&participant).copied();
        known.or_else(|| former().map(|former| former.session)).or_else(|| {
            let is_silent = self.forgotten? < participant && participant <= self.last;
            is_silent.then_some(Session { counter: Counter(0) })
        })
    }

    /// The sessions of a stored room that is loaded. `former` is in the order in which they ended.
    pub(super) fn stored(
        last: ParticipantId,
        forgotten: ParticipantId,
        former: VecDeque<Former>,
    ) -> Self {
        let mut sessions = Sessions { last, forgotten: Some(forgotten), ..Sessions::default() };
        former.into_iter().for_each(|one| sessions.push(one));
        sessions
    }

    /// In a stored room, the number up to which sessions outside of the lists are forgotten.
    pub(super) fn forgotten(&self) -> Option<ParticipantId> {
        self.forgotten
    }

    /// The session of a participant that is here or away.
    pub(super) fn present_mut(&mut self, participant: ParticipantId) -> Option<&mut Session> {
        self.present.get_mut(&participant)
    }

    /// The counter of the last transaction of a participant that is here or away.
    pub(super) fn counter(&self, participant: ParticipantId) -> Option<Counter> {
        self.present.get(&participant).map(|session| session.counter)
    }

    pub(super) fn last(&self) -> ParticipantId {
        self.last
    }

    pub(super) fn present(&self) -> impl Iterator<Item = (ParticipantId, &Session)> {
        self.present.iter().map(|(&participant, session)| (participant, session))
    }

    /// The remembered sessions that ended, in the order in which they ended.
    pub(super) fn former(&self) -> impl Iterator<Item = &Former> {
        self.former.values()
    }
}
