//! The plan of a replay: who sends which message when, and so which messages must arrive in which
//! order.

use std::time::Duration;

use groupwire_client::{Kind, Overflow, Qos};
use groupwire_trace::Trace;

/// The pace of the replay.
#[derive(Debug, Clone, Copy)]
pub(super) enum Pace {
    Recorded { speed: f64 },
    Rate { hz: f64, seconds: f64 },
}

/// One message to send.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    /// The time to send it, since the start.
    pub(super) at: Duration,
    /// The index of the sending participant.
    pub(super) sender: usize,
    /// The index of the message in the trace. Its kind determines the channel.
    pub(super) message: usize,
    /// The index of the sequence that the message belongs to.
    pub(super) sequence: usize,
}

/// Messages of one sender that the session numbers together and delivers in order: all its
/// transactions, or all messages of one awareness channel.
#[derive(Debug, Clone, Default)]
pub(super) struct Sequence {
    /// The indices of the steps, in order.
    pub(super) steps: Vec<usize>,
    /// Whether only the newest message must arrive.
    pub(super) conflated: bool,
}

/// All steps of a replay and their sequences.
#[derive(Debug)]
pub(super) struct Plan {
    /// The steps, sorted by time.
    pub(super) steps: Vec<Step>,
    /// The number of participants that send. Their indices are below this number.
    pub(super) senders: usize,
    /// The QoS of each channel, in the order of the trace's kinds.
    pub(super) qos: Vec<Qos>,
    sequences: Vec<Sequence>,
    per_sender: usize,
}

impl Plan {
    pub(super) fn new(trace: &Trace, senders: usize, pace: Pace, qos: Vec<Qos>) -> Self {
        let mut steps = match pace {
            Pace::Recorded { speed } => recorded(trace, senders, speed),
            Pace::Rate { hz, seconds } => at_rate(trace, senders, hz, seconds),
        };
        steps.sort_by_key(|step| step.at);
        let per_sender = 1 + qos.len();
        let mut sequences = vec![Sequence::default(); senders * per_sender];
        for (number, step) in steps.iter_mut().enumerate() {
            let channel = trace.messages[step.message].kind;
            step.sequence = step.sender * per_sender + place_of(&qos, channel);
            sequences[step.sequence].steps.push(number);
            sequences[step.sequence].conflated = qos[channel].overflow == Overflow::Conflate;
        }
        Plan { steps, senders, qos, sequences, per_sender }
    }

    /// The index of the sequence of messages of `sender` on `channel`.
    pub(super) fn sequence(&self, sender: usize, channel: usize) -> usize {
        sender * self.per_sender + place_of(&self.qos, channel)
    }

    pub(super) fn sequences(&self) -> &[Sequence] {
        &self.sequences
    }

    /// The index of the participant that sends the sequence.
    pub(super) fn sender_of(&self, sequence: usize) -> usize {
        sequence / self.per_sender
    }

    pub(super) fn is_transaction(&self, sequence: usize) -> bool {
        sequence.is_multiple_of(self.per_sender)
    }

    /// The time from the start to the last message.
    pub(super) fn duration(&self) -> Duration {
        self.steps.last().map_or(Duration::ZERO, |last| last.at)
    }
}

/// The index of a sequence among those of its sender: 0 for all transactions, then one index per
/// channel.
fn place_of(qos: &[Qos], channel: usize) -> usize {
    match qos[channel].kind {
        Kind::Transaction => 0,
        Kind::Awareness => 1 + channel,
    }
}

/// The recorded messages, with the recorded people assigned to the senders round-robin.
fn recorded(trace: &Trace, senders: usize, speed: f64) -> Vec<Step> {
    let people = trace.senders();
    let step = |(message, recorded): (usize, &groupwire_trace::TraceMessage)| {
        let person =
            people.iter().position(|person| *person == recorded.sender).unwrap_or_default();
        Step { at: recorded.at.div_f64(speed), sender: person % senders, message, sequence: 0 }
    };
    trace.messages.iter().enumerate().map(step).collect()
}

/// The steps of a replay in which each sender sends `hz` messages per second for `seconds`. Each
/// sender repeats the messages of one recorded person. Senders of the same person start at
/// different messages, so that they do not send equal bytes at the same time. The sending times of
/// all senders are spread evenly over each interval of 1/`hz` seconds.
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
            sequence: 0,
        }));
    }
    steps
}

#[cfg(test)]
pub(super) mod tests {
    use groupwire_trace::TraceMessage;

    use super::*;

    /// A trace of two people who alternate and each send pointers and edits.
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
    fn transactions_share_a_sequence_and_each_awareness_channel_has_its_own() {
        let qos = vec![Qos::awareness(), Qos::transaction()];
        let plan = Plan::new(&trace(), 2, Pace::Recorded { speed: 10.0 }, qos);
        assert_eq!(plan.duration(), Duration::from_millis(7));
        assert_eq!(plan.sequences()[plan.sequence(0, 1)].steps, [2, 6]);
        assert_eq!(plan.sequences()[plan.sequence(1, 0)].steps, [1, 5]);
        assert!(plan.sequences()[plan.sequence(1, 0)].conflated);
        assert!(plan.is_transaction(plan.sequence(1, 1)));
        assert_eq!(plan.sender_of(plan.sequence(1, 0)), 1);
    }

    #[test]
    fn at_a_rate_all_senders_send_the_same_number_of_messages_in_turns() {
        let qos = vec![Qos::transaction(); 2];
        let plan = Plan::new(&trace(), 4, Pace::Rate { hz: 10.0, seconds: 2.0 }, qos);
        assert_eq!(plan.steps.len(), 80);
        let at: Vec<_> = plan.steps[..5].iter().map(|step| step.at.as_millis()).collect();
        assert_eq!(at, [0, 25, 50, 75, 100]);
        let sequence = |sender| &plan.sequences()[plan.sequence(sender, 0)].steps;
        // Senders 0 and 2 repeat the same person, from different messages on.
        let first = |sender: usize| plan.steps[sequence(sender)[0]].message;
        assert_eq!((first(0), first(2)), (0, 4));
    }
}
