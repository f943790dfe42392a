//! The participants of a room as the other participants see them: their state, verified user and
//! presence data.
//!
//! A room with more participants than a bound is *large*: then the others are told only of
//! participants that act (wire W103, W104).

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;
use core::time::Duration;

use crate::wire::frame::Frame;
use crate::{ParticipantId, PresenceState};

/// The most participants in the list for a newcomer of a large room: those that acted last. Their
/// entries fit a packet, and few users look at more.
const MOST_LISTED: usize = 64;

/// The time between two counts (wire W103): the longer one of a second and this time for each
/// participant, so that a room whose number always changes sends at most a thousand packets in a
/// second because of that.
const COUNT_SPACING: Duration = Duration::from_secs(1);
const COUNT_SPACING_EACH: Duration = Duration::from_millis(1);

/// The most departures that are remembered for [`Roster::changed_after`]. Whoever has missed more
/// is told all participants, of whom a small room has about as many.
const MOST_DEPARTED: usize = 256;

/// See the [module](self).
#[derive(Debug)]
pub(in crate::room) struct Roster {
    entries: BTreeMap<ParticipantId, Presence>,
    /// The participants whose changes are sent to all others at the next tick.
    changed: BTreeSet<ParticipantId>,
    /// The room becomes large with more participants than this.
    everybody_up_to: usize,
    is_large: bool,
    /// True if the room became large, or is no longer large, since the last tick.
    has_turned: bool,
    /// The participants that acted and that all others know, by the step in which they acted last.
    actors: BTreeSet<(u64, ParticipantId)>,
    /// Counts steps of housekeeping, from 1 on: it tells which participant acted last.
    step: u64,
    /// When all participants were last told their number, and whether the number has changed since.
    counted: Duration,
    has_new_count: bool,
    /// In a room with mirrors: the participants whose entries have changed since the mirrors were
    /// last told, and whether each has left meanwhile. `None` without mirrors.
    touched: Option<BTreeMap<ParticipantId, bool>>,
    /// Counts changes of entries, from 1 on.
    version: u64,
    /// The last departures by their versions, the oldest first.
    departed: VecDeque<(u64, ParticipantId)>,
    /// Departures up to this version are forgotten.
    forgotten: u64,
}

/// The state of a participant that all others are sent.
#[derive(Debug)]
pub(in crate::room) struct Presence {
    pub(in crate::room) state: PresenceState,
    /// The user that the server verified (wire W100).
    pub(in crate::room) user: Option<Box<str>>,
    /// The presence data that the participant's application wrote.
    pub(in crate::room) bytes: Vec<u8>,
    /// The step in which the participant acted last; 0 if it is not among `actors`.
    acted: u64,
    /// True if others were told of the participant, so that they have to be told when it leaves.
    is_known: bool,
    /// The version of the entry's last change.
    version: u64,
}

impl Roster {
    /// A roster of a room that becomes large with more participants than `everybody_up_to`.
    pub(in crate::room) fn new(everybody_up_to: usize) -> Self {
        Roster {
            entries: BTreeMap::new(),
            changed: BTreeSet::new(),
            everybody_up_to,
            is_large: false,
            has_turned: false,
            actors: BTreeSet::new(),
            step: 1,
            counted: Duration::ZERO,
            has_new_count: false,
            touched: None,
            version: 1,
            departed: VecDeque::new(),
            forgotten: 0,
        }
    }

    /// Adds a participant, or one that comes back, with its user and presence data.
    pub(in crate::room) fn enter(
        &mut self,
        participant: ParticipantId,
        user: Option<&str>,
        bytes: &[u8],
    ) {
        let (user, bytes) = (user.map(|user| user.to_owned().into()), bytes.to_vec());
        match self.entries.get_mut(&participant) {
            Some(entry) => {
                (entry.state, entry.user, entry.bytes) = (PresenceState::Here, user, bytes);
            }
            None => {
                let state = PresenceState::Here;
                let entry = Presence { state, user, bytes, acted: 0, is_known: false, version: 0 };
                self.entries.insert(participant, entry);
                self.has_new_count = true;
            }
        }
        self.touch(participant, false);
        self.review_size();
    }

    /// Sets a participant's presence data. Returns true if it changed.
    pub(in crate::room) fn set(&mut self, participant: ParticipantId, bytes: &[u8]) -> bool {
        let entry = self.entries.get_mut(&participant).filter(|entry| entry.bytes != bytes);
        let is_changed = entry.map(|entry| entry.bytes = bytes.to_vec()).is_some();
        if is_changed {
            self.touch(participant, false);
        }
        is_changed
    }

    /// Notes that the participant's transport is gone.
    pub(in crate::room) fn set_away(&mut self, participant: ParticipantId) {
        if let Some(entry) = self.entries.get_mut(&participant) {
            entry.state = PresenceState::Away;
            self.touch(participant, false);
        }
    }

    /// Removes a participant. The others are told if they know of it.
    pub(in crate::room) fn leave(&mut self, participant: ParticipantId) {
        let Some(entry) = self.entries.remove(&participant) else { return };
        self.actors.remove(&(entry.acted, participant));
        self.has_new_count = true;
        if !self.is_large || entry.is_known {
            self.changed.insert(participant);
        }
        self.touch(participant, true);
        self.review_size();
    }

    /// Lets the others be told of a change of this participant. In a large room they are told only
    /// of one that acted lately. Returns true if there is something to send.
    pub(in crate::room) fn announce(&mut self, participant: ParticipantId) -> bool {
        let Some(entry) = self.entries.get_mut(&participant) else { return false };
        if self.is_large && entry.acted == 0 {
            return false;
        }
        entry.is_known = true;
        self.changed.insert(participant);
        true
    }

    /// Notes that the participant acted (wire W104). Returns true if others have to be told of it.
    pub(in crate::room) fn act(&mut self, participant: ParticipantId) -> bool {
        let Some(entry) = self.entries.get_mut(&participant) else { return false };
        if entry.acted == self.step {
            return false;
        }
        let before = core::mem::replace(&mut entry.acted, self.step);
        self.actors.remove(&(before, participant));
        self.actors.insert((self.step, participant));
        before == 0 && self.is_large && self.announce(participant)
    }

    /// In a mirror: the room is large with more participants than this. Called while the roster is
    /// empty.
    pub(in crate::room) fn set_bound(&mut self, everybody_up_to: usize) {
        self.everybody_up_to = everybody_up_to;
    }

    /// Notes changes of entries for mirrors from now on, or no longer.
    pub(in crate::room) fn set_mirrored(&mut self, is_mirrored: bool) {
        self.touched = is_mirrored.then(BTreeMap::new);
    }

    /// The participants whose entries have changed since the last call, and whether each has left
    /// meanwhile.
    pub(in crate::room) fn take_touched(&mut self) -> BTreeMap<ParticipantId, bool> {
        self.touched.as_mut().map(core::mem::take).unwrap_or_default()
    }

    /// True if mirrors have to be told of changed entries.
    pub(in crate::room) fn has_touched(&self) -> bool {
        self.touched.as_ref().is_some_and(|touched| !touched.is_empty())
    }

    /// All participants, in the order of their numbers.
    pub(in crate::room) fn everybody(&self) -> impl Iterator<Item = ParticipantId> + '_ {
        self.entries.keys().copied()
    }

    /// Changes with each change of an entry.
    pub(in crate::room) fn version(&self) -> u64 {
        self.version
    }

    /// The participants whose entries have changed after this version, those that left included;
    /// `None` if departures since then are forgotten, or the version is from another load of the
    /// room.
    pub(in crate::room) fn changed_after(&self, version: u64) -> Option<Vec<ParticipantId>> {
        if version < self.forgotten || version > self.version {
            return None;
        }
        let changed = self.entries.iter().filter(|(_, entry)| entry.version > version);
        let left = self.departed.iter().filter(|(at, _)| *at > version);
        Some(changed.map(|(&id, _)| id).chain(left.map(|&(_, id)| id)).collect())
    }

    fn touch(&mut self, participant: ParticipantId, has_left: bool) {
        self.version += 1;
        match self.entries.get_mut(&participant) {
            Some(entry) => entry.version = self.version,
            None => self.departed.push_back((self.version, participant)),
        }
        if self.departed.len() > MOST_DEPARTED
            && let Some((version, _)) = self.departed.pop_front()
        {
            self.forgotten = version;
        }
        if let Some(touched) = &mut self.touched {
            *touched.entry(participant).or_default() |= has_left;
        }
    }

    /// True if changes have to be sent.
    pub(in crate::room) fn has_changed(&self) -> bool {
        !self.changed.is_empty() || self.has_turned
    }

    /// The participants whose changes have to be sent to all others, since the last call.
    pub(in crate::room) fn take_changed(&mut self) -> BTreeSet<ParticipantId> {
        core::mem::take(&mut self.changed)
    }

    /// True if the room became large, or is no longer large, since the last call.
    pub(in crate::room) fn take_turned(&mut self) -> bool {
        core::mem::take(&mut self.has_turned)
    }

    /// The state and presence of a participant; `None` if it left.
    pub(in crate::room) fn get(&self, participant: ParticipantId) -> Option<&Presence> {
        self.entries.get(&participant)
    }

    /// The participants with numbers above `after`, in the order of their numbers.
    pub(in crate::room) fn after(
        &self,
        after: ParticipantId,
    ) -> impl Iterator<Item = ParticipantId> + '_ {
        use core::ops::Bound::{Excluded, Unbounded};
        self.entries.range((Excluded(after), Unbounded)).map(|(&id, _)| id)
    }

    /// All participants but this one.
    pub(in crate::room) fn others(
        &self,
        participant: ParticipantId,
    ) -> impl Iterator<Item = ParticipantId> + '_ {
        self.entries.keys().copied().filter(move |&other| other != participant)
    }

    /// The participants in a newcomer's first list: all others, or in a large room the ones that
    /// acted last.
    pub(in crate::room) fn list_for(&mut self, newcomer: ParticipantId) -> BTreeSet<ParticipantId> {
        if !self.is_large {
            return self.others(newcomer).collect();
        }
        while self.actors.len() > MOST_LISTED.min(self.everybody_up_to)
            && let Some((_, id)) = self.actors.pop_first()
            && let Some(entry) = self.entries.get_mut(&id)
        {
            // The newcomer does not know this participant: all are told of it again when it acts
            // again.
            entry.acted = 0;
        }
        self.actors.iter().map(|&(_, id)| id).filter(|&id| id != newcomer).collect()
    }

    /// Notes that this participant was named to another one.
    pub(in crate::room) fn was_named(&mut self, participant: ParticipantId) {
        if let Some(entry) = self.entries.get_mut(&participant) {
            entry.is_known = true;
        }
    }

    pub(in crate::room) fn is_large(&self) -> bool {
        self.is_large
    }

    /// The number of participants that are here or away.
    pub(in crate::room) fn count(&self) -> usize {
        self.entries.len()
    }

    pub(in crate::room) fn count_frame(&self) -> Frame<'static> {
        Frame::Count { everybody: !self.is_large, count: self.count() as u32 }
    }

    /// True if all participants have to be told how many there are.
    pub(in crate::room) fn owes_count(&self, now: Duration) -> bool {
        let spacing = COUNT_SPACING.max(COUNT_SPACING_EACH * self.count() as u32);
        self.is_large && self.has_new_count && now >= self.counted + spacing
    }

    /// Notes that all participants are told now how many there are.
    pub(in crate::room) fn tell_count(&mut self, now: Duration) {
        (self.counted, self.has_new_count) = (now, false);
    }

    /// Begins another step: participants that act in it acted later than those before.
    pub(in crate::room) fn next_step(&mut self) {
        self.step += 1;
    }

    /// Makes the room large or small. The bound for a large room to become small is lower, so that
    /// a room of about that size does not change all the time.
    fn review_size(&mut self) {
        let up_to = self.everybody_up_to;
        let is_large = match self.is_large {
            true => self.count() > up_to - up_to.div_ceil(4),
            false => self.count() > up_to,
        };
        if is_large != self.is_large {
            (self.is_large, self.has_turned) = (is_large, true);
            // All participants know each other: in a small room they did, and a room that becomes
            // small sends the complete list.
            self.entries.values_mut().for_each(|entry| entry.is_known = true);
        }
    }
}
