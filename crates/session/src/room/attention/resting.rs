//! Which participants housekeeping has to look at. All others *rest*: there is nothing to do for
//! them until a certain time, unless something happens to them. In a room of thousands nearly all
//! rest, and cost housekeeping nothing.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::time::Duration;

use crate::{GroupId, ParticipantId};

/// See the [module](self).
#[derive(Debug, Default)]
pub(in crate::room) struct Resting {
    awake: BTreeSet<ParticipantId>,
    /// The participants that rest, by the time at which they are looked at again.
    until: BTreeSet<(Duration, ParticipantId)>,
    /// The number of resting members of each shared stream.
    members: BTreeMap<GroupId, usize>,
}

/// Until when a participant rests, and in which stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::room) struct Rest {
    /// The time at which housekeeping looks at the participant again.
    pub(in crate::room) until: Duration,
    /// The shared stream that it is a member of; `None` if it is away.
    pub(in crate::room) stream: Option<GroupId>,
}

impl Resting {
    /// Adds a participant, or wakes one that comes back.
    pub(in crate::room) fn enter(&mut self, id: ParticipantId, rest: &mut Option<Rest>) {
        self.wake(id, rest);
        self.awake.insert(id);
    }

    /// Ends the participant's rest: the next housekeeping looks at it. `rest`: its present rest, if
    /// it rests.
    pub(in crate::room) fn wake(&mut self, id: ParticipantId, rest: &mut Option<Rest>) {
        let Some(Rest { until, stream }) = rest.take() else { return };
        self.until.remove(&(until, id));
        self.awake.insert(id);
        if let Some(group) = stream
            && let Some(count) = self.members.get_mut(&group)
        {
            *count -= 1;
            if *count == 0 {
                self.members.remove(&group);
            }
        }
    }

    /// Forgets a participant that left.
    pub(in crate::room) fn leave(&mut self, id: ParticipantId, mut rest: Option<Rest>) {
        self.wake(id, &mut rest);
        self.awake.remove(&id);
    }

    /// Begins a rest: housekeeping does not look at the participant until it ends.
    pub(in crate::room) fn begin(&mut self, id: ParticipantId, rest: Rest) {
        self.awake.remove(&id);
        self.until.insert((rest.until, id));
        if let Some(group) = rest.stream {
            *self.members.entry(group).or_default() += 1;
        }
    }

    /// Removes and returns a participant whose time has come; it has to be woken.
    pub(in crate::room) fn pop_due(&mut self, now: Duration) -> Option<ParticipantId> {
        self.until.first().filter(|(at, _)| *at <= now)?;
        self.until.pop_first().map(|(_, id)| id)
    }

    /// The participants that do not rest.
    pub(in crate::room) fn awake(&self) -> Vec<ParticipantId> {
        self.awake.iter().copied().collect()
    }

    /// The shared streams of participants that rest, and how many are members of each.
    pub(in crate::room) fn members(&self) -> impl Iterator<Item = (GroupId, usize)> + '_ {
        self.members.iter().map(|(&group, &count)| (group, count))
    }
}
