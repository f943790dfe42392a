//! The participants that the application knows. After the room was loaded again, participants that
//! have not resumed yet stay in this list for a time (wire W94). A large room has further
//! participants, which are not in the list (wire W103).

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use super::channel_id::ChannelId;
use super::event::{Event, Incoming, ParticipantChange};
use super::session::Session;
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
}

impl Session {
    /// Tells the application who came, changed or left.
    pub(super) fn on_participants(
        &mut self,
        now: Duration,
        complete: bool,
        mut changes: Vec<ParticipantChange>,
    ) {
        let limit = self.config.limits.max_participants;
        let people = &mut self.participants;
        if complete {
            if people.missing_until.is_some() {
                people.missing.append(&mut people.known);
                people.missing.truncate(limit);
            }
            people.known.clear();
        }
        people.missing.retain(|one| changes.iter().all(|change| change.id != one.id));
        changes.iter().for_each(|change| people.note(change, limit));
        if complete {
            people.missing.iter_mut().for_each(|one| one.state = PresenceState::Away);
            changes.extend_from_slice(&people.missing);
        }
        self.emit(Event::Participants { complete, changes });
        for (at, mut message) in core::mem::take(&mut self.participants.held) {
            if self.participants.find(message.sender).is_err() {
                self.participants.hold(at, message);
                continue;
            }
            message.age += now.saturating_sub(at);
            self.emit(Event::Message(message));
        }
    }

    /// Handles COUNT (W103): the number of participants. `everybody`: the room announces all of
    /// them.
    pub(super) fn on_count(&mut self, everybody: bool, count: u32) {
        if !everybody {
            // A large room does not announce all participants from before its load, so the missing
            // ones count as left at once.
            self.participants.missing_until = Some(Duration::ZERO);
            self.report_missing(Duration::ZERO);
        }
        self.emit(Event::Count { count, everybody });
    }

    /// Handles PAGE (W105): participants with numbers above `after`.
    pub(super) fn on_page(
        &mut self,
        after: ParticipantId,
        last: bool,
        list: &[ParticipantEntry<'_>],
    ) {
        self.emit(Event::Page { after, participants: changes(list), last });
    }

    /// Reports that the participants have left that the room did not announce in time after it was
    /// loaded.
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
