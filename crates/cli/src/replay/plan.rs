//! What is sent when by whom, and so what has to arrive in which order.

use std::time::Duration;

use groupwire_client::{Kind, Overflow, Qos};
use groupwire_lab::Trace;

/// How fast.
#[derive(Debug, Clone, Copy)]
pub(super) enum Pace {
    Recorded { speed: f64 },
    Rate { hz: f64, seconds: f64 },
}

/// One message to send.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    /// When, since the start.
    pub(super) at: Duration,
    /// Which participant.
    pub(super) sender: usize,
    /// Which message of the trace; its kind is its channel.
    pub(super) message: usize,
    /// Where in the order that is promised it stands.
    pub(super) lane: usize,
}

/// Messages of one sender that are numbered together and arrive in order: all its transactions, or those of one
/// awareness channel.
#[derive(Debug, Clone, Default)]
pub(super) struct Lane {
    /// The steps, in order.
    pub(super) steps: Vec<usize>,
    /// Only the newest has to arrive.
    pub(super) conflated: bool,
}

#[derive(Debug)]
pub(super) struct Plan {
    /// By time.
    pub(super) steps: Vec<Step>,
    /// Participants that send: the first so many.
    pub(super) senders: usize,
    /// The QoS of each channel, that is of each of the trace's kinds.
    pub(super) qos: Vec<Qos>,
    lanes: Vec<Lane>,
    lanes_each: usize,
}

impl Plan {
    pub(super) fn new(trace: &Trace, senders: usize, pace: Pace, qos: Vec<Qos>) -> Self {
        let mut steps = match pace {
            Pace::Recorded { speed } => recorded(trace, senders, speed),
            Pace::Rate { hz, seconds } => at_rate(trace, senders, hz, seconds),
        };
        steps.sort_by_key(|step| step.at);
        let lanes_each = 1 + qos.len();
        let mut lanes = vec![Lane::default(); senders * lanes_each];
        for (number, step) in steps.iter_mut().enumerate() {
            let channel = trace.messages[step.message].kind;
            step.lane = step.sender * lanes_each + lane_of(&qos, channel);
            lanes[step.lane].steps.push(number);
            lanes[step.lane].conflated = qos[channel].overflow == Overflow::Conflate;
        }
        Plan { steps, senders, qos, lanes, lanes_each }
    }

    /// The lane that a message of `sender` on `channel` belongs to.
    pub(super) fn lane(&self, sender: usize, channel: usize) -> usize {
        sender * self.lanes_each + lane_of(&self.qos, channel)
    }

    pub(super) fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    /// Whose lane it is.
    pub(super) fn sender_of(&self, lane: usize) -> usize {
        lane / self.lanes_each
    }

    pub(super) fn is_transaction(&self, lane: usize) -> bool {
        lane.is_multiple_of(self.lanes_each)
    }

    /// From the first message to the last.
    pub(super) fn duration(&self) -> Duration {
        self.steps.last().map_or(Duration::ZERO, |last| last.at)
    }
}

/// Within a sender: 0 for all transactions, then one per channel.
fn lane_of(qos: &[Qos], channel: usize) -> usize {
    match qos[channel].kind {
        Kind::Transaction => 0,
        Kind::Awareness => 1 + channel,
    }
}

/// The recorded people, dealt out to the senders in turn.
fn recorded(trace: &Trace, senders: usize, speed: f64) -> Vec<Step> {
    let people = trace.senders();
    let step = |(message, recorded): (usize, &groupwire_lab::TraceMessage)| {
        let person =
            people.iter().position(|person| *person == recorded.sender).unwrap_or_default();
        Step { at: recorded.at.div_f64(speed), sender: person % senders, message, lane: 0 }
    };
    trace.messages.iter().enumerate().map(step).collect()
}

/// Each sender repeats what one person did. Several who repeat the same person start at different places, as nobody
/// sends the same at the same time; and all take turns within the interval.
fn at_rate(trace: &Trace, senders: usize, hz: f64, seconds: f64) -> Vec<Step> {
    let people = trace.senders();
    let each = (hz * seconds).round().max(1.0) as usize;
    let mut steps = Vec::with_capacity(senders * each);
    for sender in 0..senders {
        let person = people[sender % people.len()];
        let of_person = |message: &usize| trace.messages[*message].sender == person;
        let messages: Vec<usize> = (0..trace.messages.len()).filter(of_person).collect();
        let sharing = senders.div_ceil(people.len());
        let start = messages.len() * (sender / people.len()) / sharing;
        let turn = sender as f64 / senders as f64;
        steps.extend((0..each).map(|number| Step {
            at: Duration::from_secs_f64((number as f64 + turn) / hz),
            sender,
            message: messages[(start + number) % messages.len()],
            lane: 0,
        }));
    }
    steps
}

#[cfg(test)]
pub(super) mod tests {
    use groupwire_lab::TraceMessage;

    use super::*;

    /// Two people, a pointer and an edit each, alternating.
    pub(in crate::replay) fn trace() -> Trace {
        let message = |n: u64| TraceMessage {
            at: Duration::from_millis(10 * n),
            sender: 7 + (n % 2) as u32,
            kind: (n / 2 % 2) as usize,
            bytes: format!("message {n}").into_bytes().into(),
        };
        Trace {
            messages: (0..8).map(message).collect(),
            kinds: vec!["pointer".into(), "edit".into()],
            timed: true,
        }
    }

    #[test]
    fn transactions_share_a_lane_and_each_awareness_channel_has_its_own() {
        let qos = vec![Qos::awareness(), Qos::transaction()];
        let plan = Plan::new(&trace(), 2, Pace::Recorded { speed: 10.0 }, qos);
        assert_eq!(plan.duration(), Duration::from_millis(7));
        assert_eq!(plan.lanes()[plan.lane(0, 1)].steps, [2, 6]);
        assert_eq!(plan.lanes()[plan.lane(1, 0)].steps, [1, 5]);
        assert!(plan.lanes()[plan.lane(1, 0)].conflated);
        assert!(plan.is_transaction(plan.lane(1, 1)));
        assert_eq!(plan.sender_of(plan.lane(1, 0)), 1);
    }

    #[test]
    fn at_a_rate_everybody_sends_the_same_number_in_turns() {
        let qos = vec![Qos::transaction(); 2];
        let plan = Plan::new(&trace(), 4, Pace::Rate { hz: 10.0, seconds: 2.0 }, qos);
        assert_eq!(plan.steps.len(), 80);
        let at: Vec<_> = plan.steps[..5].iter().map(|step| step.at.as_millis()).collect();
        assert_eq!(at, [0, 25, 50, 75, 100]);
        let lane = |sender| &plan.lanes()[plan.lane(sender, 0)].steps;
        // Senders 0 and 2 repeat the same person, from different places.
        let first = |sender: usize| plan.steps[lane(sender)[0]].message;
        assert_eq!((first(0), first(2)), (0, 4));
    }
}
