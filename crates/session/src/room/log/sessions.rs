//! The sessions of participants. A client that knows a session's secret can resume the session.

use alloc::collections::{BTreeMap, VecDeque};

use crate::wire::handshake::Secret;
use crate::{Counter, ParticipantId};

/// A participant's session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::room) struct Session {
    /// A client proves with it that it may resume the session (wire W13).
    pub(in crate::room) secret: Secret,
    /// The counter of the participant's last transaction in the log.
    pub(in crate::room) counter: Counter,
}

#[derive(Debug, Default)]
pub(super) struct Sessions {
    /// The sessions of participants that are here or away.
    present: BTreeMap<ParticipantId, Session>,
    /// The sessions of participants that left, in the order in which they left.
    former: VecDeque<(ParticipantId, Session)>,
    /// The last number that was given to a participant.
    last: ParticipantId,
}

impl Sessions {
    /// Begins a session, or makes one that ended present again.
    pub(super) fn begin(&mut self, participant: ParticipantId, session: Session) {
        if participant <= self.last {
            self.former.retain(|(former, _)| *former != participant);
        }
        self.present.insert(participant, session);
        self.last = self.last.max(participant);
    }

    /// Ends a session. It can be resumed until `most` later sessions have ended.
    pub(super) fn end(&mut self, participant: ParticipantId, most: usize) {
        let Some(session) = self.present.remove(&participant) else { return };
        self.former.push_back((participant, session));
        if self.former.len() > most {
            self.former.pop_front();
        }
    }

    pub(super) fn get(&self, participant: ParticipantId) -> Option<&Session> {
        let former = || self.former.iter().find(|(former, _)| *former == participant);
        self.present.get(&participant).or_else(|| former().map(|(_, session)| session))
    }

    /// The session of a participant that is here or away.
    pub(super) fn present_mut(&mut self, participant: ParticipantId) -> Option<&mut Session> {
        self.present.get_mut(&participant)
    }

    pub(super) fn last(&self) -> ParticipantId {
        self.last
    }

    pub(super) fn set_last(&mut self, last: ParticipantId) {
        self.last = last;
    }

    pub(super) fn present(&self) -> impl Iterator<Item = (ParticipantId, &Session)> {
        self.present.iter().map(|(&participant, session)| (participant, session))
    }

    /// The remembered sessions that ended, in the order in which they ended.
    pub(super) fn former(&self) -> impl Iterator<Item = (ParticipantId, &Session)> {
        self.former.iter().map(|(participant, session)| (*participant, session))
    }
}
