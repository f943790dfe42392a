//! The participants that the application knows. After the room was loaded again, participants that
//! have not resumed yet stay in this list for a time (wire W94). A large room has further
//! participants, which are not in the list (wire W103).

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use super::api::Output;
use super::channel_id::ChannelId;
use super::event::{Event, Incoming, ParticipantChange};
use crate::wire::frame::ParticipantEntry;
use crate::{ParticipantId, PresenceState};

/// The most messages that wait until their senders are known (wire W104): PARTICIPANTS comes about
/// a round trip after them.
const MOST_HELD: usize = 256;

/// The participants that the application knows. Each list has at most `max_participants` of
/// [`Limits`](crate::Limits).
#[derive(Default)]
pub(super) struct Participants {
    /// The participants that the room announced, in the order of their numbers.
    known: Vec<ParticipantChange>,
    /// Participants from before the room's last load that the room has not announced since.
    missing: Vec<ParticipantChange>,
    /// The participants in `missing` count as away until this time, and as left after it. `None`:
    /// the room was not loaded lately.
    pub(super) missing_until: Option<Duration>,
    /// Awareness whose sender is not known, and when it came: datagrams may overtake the frames
    /// that name and remove participants.
    held: VecDeque<(Duration, Incoming)>,
}

impl Participants {
    /// True if awareness of this sender has to wait until the room announces the sender. `limit`:
    /// the most known participants.
    pub(super) fn lacks(&self, sender: ParticipantId, limit: usize) -> bool {
        self.known.len() < limit && sender != ParticipantId(0) && self.find(sender).is_err()
    }

    /// Keeps a message that came at the time `at` until its sender is known.
    pub(super) fn hold(&mut self, at: Duration, message: Incoming) {
        if self.held.len() >= MOST_HELD {
            self.held.pop_front();
        }
        self.held.push_back((at, message));
    }

    /// A channel is closed: it brings its newest awareness anew when it is opened again.
    pub(super) fn forget_held(&mut self, channel: ChannelId) {
        self.held.retain(|(_, message)| message.channel != channel);
    }

    fn find(&self, id: ParticipantId) -> Result<usize, usize> {
        self.known.binary_search_by_key(&id, |one| one.id)
    }

    fn note(&mut self, change: &ParticipantChange, limit: usize) {
        match self.find(change.id) {
            Ok(at) if change.state == PresenceState::Left => _ = self.known.remove(at),
            Ok(at) => self.known[at] = change.clone(),
            Err(at) if change.state != PresenceState::Left && self.known.len() < limit => {
                self.known.insert(at, change.clone());
            }
            Err(_) => {}
        }
    }

    /// Takes in PARTICIPANTS (W34). `outputs` gets the events: the participants that came, changed
    /// or left, and the messages whose senders are known now. `limit`: the most known participants.
    pub(super) fn update(
        &mut self,
        now: Duration,
        complete: bool,
        mut changes: Vec<ParticipantChange>,
        limit: usize,
        outputs: &mut VecDeque<Output>,
    ) {
        if complete {
            if self.missing_until.is_some() {
                self.missing.append(&mut self.known);
                self.missing.truncate(limit);
            }
            self.known.clear();
        }
        self.missing.retain(|one| changes.iter().all(|change| change.id != one.id));
        changes.iter().for_each(|change| self.note(change, limit));
        if complete {
            self.missing.iter_mut().for_each(|one| one.state = PresenceState::Away);
            changes.extend_from_slice(&self.missing);
        }
        outputs.push_back(Output::Event(Event::Participants { complete, changes }));
        for (at, mut message) in core::mem::take(&mut self.held) {
            if self.find(message.sender).is_err() {
                self.hold(at, message);
                continue;
            }
            message.age += now.saturating_sub(at);
            outputs.push_back(Output::Event(Event::Message(message)));
        }
    }

    /// Reports that the participants have left that the room did not announce in time after it was
    /// loaded.
    pub(super) fn take_missing(&mut self, now: Duration) -> Option<Event> {
        let Participants { missing, missing_until, .. } = self;
        if missing_until.take_if(|until| now >= *until).is_none() || missing.is_empty() {
            return None;
        }
        let mut changes = core::mem::take(missing);
        for change in &mut changes {
            change.state = PresenceState::Left;
            change.user = None;
            change.presence.clear();
        }
        Some(Event::Participants { complete: false, changes })
    }
}

/// Converts the entries of a PARTICIPANTS frame for the application.
pub(super) fn changes(list: &[ParticipantEntry<'_>]) -> Vec<ParticipantChange> {
    let change = |entry: &ParticipantEntry<'_>| ParticipantChange {
        id: entry.id,
        state: entry.state,
        user: entry.user.map(Into::into),
        presence: entry.presence.to_vec(),
    };
    list.iter().map(change).collect()
}
