//! Checks that each message that one receiver got is the expected one, byte for byte.

use std::collections::BTreeSet;
use std::sync::Arc;

use groupwire_client::Incoming;
use groupwire_trace::Trace;

use super::plan::Plan;

/// Counts of the messages of one receiver, or of several together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Messages that arrived as sent.
    pub(super) arrived: u64,
    /// Messages that never arrived.
    pub(super) missing: u64,
    /// Messages that arrived more than once.
    pub(super) duplicates: u64,
    /// Messages that arrived after a later one of the same sequence.
    pub(super) disordered: u64,
    /// Messages that differ from the sent one, or were never sent.
    pub(super) corrupt: u64,
    /// Values of conflated channels that newer ones replaced.
    pub(super) conflated: u64,
}

impl Found {
    pub(super) fn add(&mut self, other: &Found) {
        self.arrived += other.arrived;
        self.missing += other.missing;
        self.duplicates += other.duplicates;
        self.disordered += other.disordered;
        self.corrupt += other.corrupt;
        self.conflated += other.conflated;
    }

    pub(super) fn is_perfect(&self) -> bool {
        let Found { missing, duplicates, disordered, corrupt, .. } = *self;
        missing + duplicates + disordered + corrupt == 0
    }
}

/// The checks of one receiver.
pub(super) struct Verifier {
    trace: Arc<Trace>,
    plan: Arc<Plan>,
    sequences: Vec<State>,
    /// Whether bytes and order are compared; otherwise messages are only counted.
    thorough: bool,
    outstanding: u64,
}

/// The progress of one sequence.
#[derive(Default)]
struct State {
    /// The index after the latest message of the sequence that arrived.
    next: usize,
    /// Indices before `next` whose messages have not arrived.
    holes: BTreeSet<usize>,
    /// Whether the last value of a conflated channel has arrived.
    newest: bool,
    found: Found,
}

impl Verifier {
    pub(super) fn new(trace: Arc<Trace>, plan: Arc<Plan>, me: usize, thorough: bool) -> Self {
        let mut outstanding = 0;
        for (sequence, expected) in plan.sequences().iter().enumerate() {
            if plan.sender_of(sequence) != me {
                outstanding += expected_count(expected.steps.len(), expected.conflated, thorough);
            }
        }
        let sequences = plan.sequences().iter().map(|_| State::default()).collect();
        Verifier { trace, plan, sequences, thorough, outstanding }
    }

    /// The number of messages that are expected and have not arrived.
    pub(super) fn outstanding(&self) -> u64 {
        self.outstanding
    }

    /// Checks a message of participant `sender` on `channel`. Returns the indices of its sequence
    /// and its step.
    pub(super) fn take(
        &mut self,
        sender: usize,
        channel: usize,
        message: &Incoming,
    ) -> Option<(usize, usize)> {
        let sequence = self.plan.sequence(sender, channel);
        let conflated = self.plan.sequences()[sequence].conflated;
        if !self.thorough {
            let state = &mut self.sequences[sequence];
            state.found.arrived += 1;
            self.outstanding = self.outstanding.saturating_sub(u64::from(!conflated));
            return None;
        }
        let place = match conflated {
            true => self.newer(sequence, channel, message),
            false => self.next_in_order(sequence, channel, message),
        }?;
        self.sequences[sequence].found.arrived += 1;
        Some((sequence, self.plan.sequences()[sequence].steps[place]))
    }

    /// The counts of a sequence, to be called after the last message has arrived.
    pub(super) fn found(&self, sequence: usize) -> Found {
        let (state, expected) = (&self.sequences[sequence], &self.plan.sequences()[sequence]);
        let missing = match (expected.conflated, self.thorough) {
            (true, true) => u64::from(!state.newest && !expected.steps.is_empty()),
            (true, false) => 0,
            (false, true) => (expected.steps.len() - state.next + state.holes.len()) as u64,
            (false, false) => (expected.steps.len() as u64).saturating_sub(state.found.arrived),
        };
        Found { missing, ..state.found }
    }

    /// Checks a message of a sequence that must arrive completely and in order, by the index that
    /// the session gave it.
    fn next_in_order(
        &mut self,
        sequence: usize,
        channel: usize,
        message: &Incoming,
    ) -> Option<usize> {
        let place = (message.index.get() as usize).checked_sub(1);
        let same = place.is_some_and(|place| self.is(sequence, place, channel, message));
        let state = &mut self.sequences[sequence];
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

    /// Checks a conflated value. The session numbers only the values that it sends, so the value is
    /// found by its bytes: it is the next equal value of the plan.
    fn newer(&mut self, sequence: usize, channel: usize, message: &Incoming) -> Option<usize> {
        let steps = self.plan.sequences()[sequence].steps.len();
        let next = self.sequences[sequence].next;
        let found = (next..steps).find(|place| self.is(sequence, *place, channel, message));
        let Some(place) = found else {
            let before = (0..next).rev().any(|place| self.is(sequence, place, channel, message));
            let counts = &mut self.sequences[sequence].found;
            *(if before { &mut counts.disordered } else { &mut counts.corrupt }) += 1;
            return None;
        };
        let newest = self.is(sequence, steps - 1, channel, message);
        let state = &mut self.sequences[sequence];
        state.found.conflated += (place - next) as u64;
        state.next = place + 1;
        match (state.newest, newest) {
            (false, true) => self.outstanding = self.outstanding.saturating_sub(1),
            (true, false) => self.outstanding += 1,
            _ => {}
        }
        state.newest = newest;
        Some(place)
    }

    fn is(&self, sequence: usize, place: usize, channel: usize, message: &Incoming) -> bool {
        self.plan.sequences()[sequence].steps.get(place).is_some_and(|&step| {
            let expected = &self.trace.messages[self.plan.steps[step].message];
            expected.kind == channel
                && *expected.bytes == *message.bytes
                && message.text == std::str::from_utf8(&expected.bytes).is_ok()
        })
    }
}

/// The number of messages of a sequence that must arrive.
fn expected_count(steps: usize, conflated: bool, thorough: bool) -> u64 {
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
            departed: None,
            to: None,
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
    fn messages_in_order_are_perfect() {
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
        let found = verifier.found(verifier.plan.sequence(0, EDIT));
        assert_eq!(found, Found { arrived: 2, ..Found::default() });
    }

    #[test]
    fn each_fault_is_counted_as_what_it_is() {
        let mut verifier = verifier(Qos::awareness().aggregate());
        let mut take = |index, text| verifier.take(0, EDIT, &message(EDIT, index, text)).is_some();
        assert!(take(2, "message 6"));
        assert!(take(1, "message 2"), "late, but it arrived");
        assert!(!take(1, "message 2"), "again");
        assert!(!take(1, "message X"), "another's bytes");
        assert!(!take(3, "message 6"), "never sent");
        let found = verifier.found(verifier.plan.sequence(0, EDIT));
        let expected =
            Found { arrived: 2, duplicates: 1, disordered: 1, corrupt: 2, ..Found::default() };
        assert_eq!(found, expected);
        let nothing = verifier.found(verifier.plan.sequence(0, POINTER));
        assert_eq!(nothing, Found { missing: 2, ..Found::default() });
        assert!(!nothing.is_perfect());
    }

    #[test]
    fn of_conflated_values_the_newest_must_arrive() {
        let mut verifier = verifier(Qos::awareness());
        let sequence = verifier.plan.sequence(0, POINTER);
        assert_eq!(verifier.outstanding(), 3);
        assert_eq!(verifier.found(sequence).missing, 1);
        assert!(verifier.take(0, POINTER, &message(POINTER, 1, "message 4")).is_some());
        assert_eq!(verifier.outstanding(), 2);
        assert_eq!(
            verifier.found(sequence),
            Found { arrived: 1, conflated: 1, ..Found::default() }
        );
    }
}
