//! One receiver's judgement: is each message the one that is due, byte for byte?

use std::collections::BTreeSet;
use std::sync::Arc;

use groupwire_client::Incoming;
use groupwire_lab::Trace;

use super::plan::Plan;

/// What one receiver found, or several together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Messages that were what they should be.
    pub(super) arrived: u64,
    /// Messages that never came.
    pub(super) missing: u64,
    /// Came again.
    pub(super) duplicates: u64,
    /// Came after a later one of its sender.
    pub(super) disordered: u64,
    /// Differ from what was sent, or were never sent.
    pub(super) corrupt: u64,
    /// On conflated channels: replaced by newer ones, as agreed.
    pub(super) thinned: u64,
}

impl Found {
    pub(super) fn add(&mut self, other: &Found) {
        self.arrived += other.arrived;
        self.missing += other.missing;
        self.duplicates += other.duplicates;
        self.disordered += other.disordered;
        self.corrupt += other.corrupt;
        self.thinned += other.thinned;
    }

    pub(super) fn is_perfect(&self) -> bool {
        let Found { missing, duplicates, disordered, corrupt, .. } = *self;
        missing + duplicates + disordered + corrupt == 0
    }
}

/// A receiver.
pub(super) struct Verifier {
    trace: Arc<Trace>,
    plan: Arc<Plan>,
    lanes: Vec<State>,
    /// Compares bytes; otherwise counts.
    thorough: bool,
    outstanding: u64,
}

/// How far a lane is.
#[derive(Default)]
struct State {
    /// How many have passed.
    next: usize,
    /// Passed over, not arrived.
    holes: BTreeSet<usize>,
    /// Conflated: the newest value is there.
    newest: bool,
    found: Found,
}

impl Verifier {
    pub(super) fn new(trace: Arc<Trace>, plan: Arc<Plan>, me: usize, thorough: bool) -> Self {
        let mut outstanding = 0;
        for (lane, expected) in plan.lanes().iter().enumerate() {
            if plan.sender_of(lane) != me {
                outstanding += due(expected.steps.len(), expected.conflated, thorough);
            }
        }
        let lanes = plan.lanes().iter().map(|_| State::default()).collect();
        Verifier { trace, plan, lanes, thorough, outstanding }
    }

    /// How many have still to come.
    pub(super) fn outstanding(&self) -> u64 {
        self.outstanding
    }

    /// Takes a message of participant `sender` on `channel`. Answers the lane and the step that it is.
    pub(super) fn take(
        &mut self,
        sender: usize,
        channel: usize,
        message: &Incoming,
    ) -> Option<(usize, usize)> {
        let lane = self.plan.lane(sender, channel);
        let conflated = self.plan.lanes()[lane].conflated;
        if !self.thorough {
            let state = &mut self.lanes[lane];
            state.found.arrived += 1;
            self.outstanding = self.outstanding.saturating_sub(u64::from(!conflated));
            return None;
        }
        let place = match conflated {
            true => self.newer(lane, channel, message),
            false => self.next_in_order(lane, channel, message),
        }?;
        self.lanes[lane].found.arrived += 1;
        Some((lane, self.plan.lanes()[lane].steps[place]))
    }

    /// What was found on a lane; call it when nothing more will come.
    pub(super) fn found(&self, lane: usize) -> Found {
        let (state, expected) = (&self.lanes[lane], &self.plan.lanes()[lane]);
        let missing = match (expected.conflated, self.thorough) {
            (true, true) => u64::from(!state.newest && !expected.steps.is_empty()),
            (true, false) => 0,
            (false, true) => (expected.steps.len() - state.next + state.holes.len()) as u64,
            (false, false) => (expected.steps.len() as u64).saturating_sub(state.found.arrived),
        };
        Found { missing, ..state.found }
    }

    /// Everything has to come, in order; the session's own numbering says which it is.
    fn next_in_order(&mut self, lane: usize, channel: usize, message: &Incoming) -> Option<usize> {
        let place = (message.index.get() as usize).checked_sub(1);
        let same = place.is_some_and(|place| self.is(lane, place, channel, message));
        let state = &mut self.lanes[lane];
        let Some(place) = place.filter(|_| same) else {
            state.found.corrupt += 1;
            return None;
        };
        if place < state.next {
            if !state.holes.remove(&place) {
                state.found.duplicates += 1;
                return None;
            }
            state.found.disordered += 1;
        } else {
            state.holes.extend(state.next..place);
            state.next = place + 1;
        }
        self.outstanding = self.outstanding.saturating_sub(1);
        Some(place)
    }

    /// Some were replaced, and numbers are given after that: the next that has the same bytes is it.
    fn newer(&mut self, lane: usize, channel: usize, message: &Incoming) -> Option<usize> {
        let steps = self.plan.lanes()[lane].steps.len();
        let next = self.lanes[lane].next;
        let found = (next..steps).find(|place| self.is(lane, *place, channel, message));
        let Some(place) = found else {
            let before = (0..next).rev().any(|place| self.is(lane, place, channel, message));
            let counts = &mut self.lanes[lane].found;
            *(if before { &mut counts.disordered } else { &mut counts.corrupt }) += 1;
            return None;
        };
        let newest = self.is(lane, steps - 1, channel, message);
        let state = &mut self.lanes[lane];
        state.found.thinned += (place - next) as u64;
        state.next = place + 1;
        match (state.newest, newest) {
            (false, true) => self.outstanding = self.outstanding.saturating_sub(1),
            (true, false) => self.outstanding += 1,
            _ => {}
        }
        state.newest = newest;
        Some(place)
    }

    fn is(&self, lane: usize, place: usize, channel: usize, message: &Incoming) -> bool {
        self.plan.lanes()[lane].steps.get(place).is_some_and(|&step| {
            let expected = &self.trace.messages[self.plan.steps[step].message];
            expected.kind == channel
                && *expected.bytes == *message.bytes
                && message.text == std::str::from_utf8(&expected.bytes).is_ok()
        })
    }
}

/// How many messages of a lane have to come.
fn due(steps: usize, conflated: bool, thorough: bool) -> u64 {
    match conflated {
        false => steps as u64,
        true => u64::from(steps > 0 && thorough),
    }
}

#[cfg(test)]
mod tests {
    use groupwire_client::{ChannelId, Index, ParticipantId, Position, Qos};

    use super::super::plan::{Pace, tests::trace};
    use super::*;

    const POINTER: usize = 0;
    const EDIT: usize = 1;

    fn verifier(pointer: Qos) -> Verifier {
        let (trace, pace) = (Arc::new(trace()), Pace::Recorded { speed: 1.0 });
        let plan = Plan::new(&trace, 2, pace, vec![pointer, Qos::transaction()]);
        Verifier::new(trace, Arc::new(plan), 1, true)
    }

    fn message(channel: usize, index: u32, text: &str) -> Incoming {
        Incoming {
            channel: ChannelId(channel as u32),
            sender: ParticipantId(1),
            bytes: text.into(),
            text: true,
            key: None,
            priority: None,
            age: Default::default(),
            position: Position(0),
            index: Index(index),
            own: false,
            stale: false,
            state: false,
        }
    }

    #[test]
    fn all_in_order_is_perfect() {
        let mut verifier = verifier(Qos::awareness().aggregate());
        assert_eq!(verifier.outstanding(), 4);
        for (channel, index, text) in [
            (POINTER, 1, "message 0"),
            (EDIT, 1, "message 2"),
            (POINTER, 2, "message 4"),
            (EDIT, 2, "message 6"),
        ] {
            assert!(verifier.take(0, channel, &message(channel, index, text)).is_some());
        }
        assert_eq!(verifier.outstanding(), 0);
        let found = verifier.found(verifier.plan.lane(0, EDIT));
        assert_eq!(found, Found { arrived: 2, ..Found::default() });
    }

    #[test]
    fn each_fault_is_counted_as_what_it_is() {
        let mut verifier = verifier(Qos::awareness().aggregate());
        let mut take = |index, text| verifier.take(0, EDIT, &message(EDIT, index, text)).is_some();
        assert!(take(2, "message 6"));
        assert!(take(1, "message 2"), "late, but it is there");
        assert!(!take(1, "message 2"), "again");
        assert!(!take(1, "message X"), "another's bytes");
        assert!(!take(3, "message 6"), "never sent");
        let found = verifier.found(verifier.plan.lane(0, EDIT));
        let expected =
            Found { arrived: 2, duplicates: 1, disordered: 1, corrupt: 2, ..Found::default() };
        assert_eq!(found, expected);
        let nothing = verifier.found(verifier.plan.lane(0, POINTER));
        assert_eq!(nothing, Found { missing: 2, ..Found::default() });
        assert!(!nothing.is_perfect());
    }

    #[test]
    fn of_conflated_values_the_newest_has_to_come() {
        let mut verifier = verifier(Qos::awareness());
        let lane = verifier.plan.lane(0, POINTER);
        assert_eq!(verifier.outstanding(), 3);
        assert_eq!(verifier.found(lane).missing, 1);
        assert!(verifier.take(0, POINTER, &message(POINTER, 1, "message 4")).is_some());
        assert_eq!(verifier.outstanding(), 2);
        assert_eq!(verifier.found(lane), Found { arrived: 1, thinned: 1, ..Found::default() });
    }
}
