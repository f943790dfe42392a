//! Runs the replay: sends by plan, receives, and ends when all messages have arrived or none
//! arrives any more.

use std::collections::{HashMap, VecDeque};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use groupwire_client::{
    Channel, Event, Events, Framing, ParticipantId, Payload, Room, SendOptions, Sent, Stats,
};
use groupwire_trace::Trace;
use hdrhistogram::Histogram;
use indicatif::{ProgressBar, ProgressStyle};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use super::clients::{Client, Clients};
use super::options::Args;
use super::plan::Plan;
use super::verify::{Found, Verifier};

/// The pause of a sender after the client answered *not now*: short compared with the tick of a
/// room (40 ms).
const HOLD: Duration = Duration::from_millis(5);

/// The interval at which progress is checked and shown.
const CHECK_EVERY: Duration = Duration::from_millis(100);

/// The result of a replay.
pub(super) struct Outcome {
    pub(super) transactions: KindOutcome,
    pub(super) awareness: KindOutcome,
    /// The traffic of all participants together, from the first message to the end.
    pub(super) stats: Stats,
    pub(super) framing: Framing,
    /// How often a client answered *not now*.
    pub(super) held: u64,
    /// The time from the first message sent to the last one received.
    pub(super) took: Duration,
    /// Failures other than missing or wrong messages, such as gaps.
    pub(super) trouble: Vec<String>,
}

/// The messages of all transaction channels, or of all awareness channels.
pub(super) struct KindOutcome {
    pub(super) sent: u64,
    pub(super) found: Found,
    /// The latency from application to application, in microseconds.
    pub(super) latency: Histogram<u32>,
}

/// State that the tasks of senders and receivers share.
struct Progress {
    trace: Arc<Trace>,
    plan: Arc<Plan>,
    numbers: Arc<HashMap<ParticipantId, usize>>,
    start: Instant,
    /// For each step of the plan: the time at which it was passed to the client, in nanoseconds
    /// since the start.
    sent_at: Vec<AtomicU64>,
    sent: AtomicU64,
    held: AtomicU64,
    /// The number of messages that each participant has yet to receive.
    outstanding: Vec<AtomicU64>,
}

pub(super) async fn run(
    args: &Args,
    trace: &Arc<Trace>,
    plan: &Arc<Plan>,
    clients: Clients,
) -> Result<Outcome, Box<dyn Error>> {
    let sample = args.sample.unwrap_or(usize::MAX);
    let mut verifiers: Vec<Verifier> = (0..clients.all.len())
        .map(|me| Verifier::new(Arc::clone(trace), Arc::clone(plan), me, me < sample))
        .collect();
    let progress = Arc::new(Progress {
        trace: Arc::clone(trace),
        plan: Arc::clone(plan),
        numbers: clients.numbers,
        start: Instant::now(),
        sent_at: plan.steps.iter().map(|_| AtomicU64::new(0)).collect(),
        sent: AtomicU64::new(0),
        held: AtomicU64::new(0),
        outstanding: verifiers.iter().map(|one| AtomicU64::new(one.outstanding())).collect(),
    });
    let before = totals(&clients.all);
    let mut receivers = JoinSet::new();
    let mut senders = JoinSet::new();
    let mut rooms = Vec::new();
    for (me, Client { room, channels, events }) in clients.all.into_iter().enumerate() {
        if me < plan.senders {
            senders.spawn(send(Arc::clone(&progress), me, channels));
        }
        let receiver = Receiver::new(Arc::clone(&progress), me, verifiers.remove(0));
        receivers.spawn(receiver.receive(events));
        rooms.push(room);
    }
    let finished = wait(args, &progress, &mut senders).await;
    let took = progress.start.elapsed();
    let after = totals_of(&rooms);
    // Participants leave only now, because leaving removes their awareness values.
    for room in &rooms {
        room.leave().await;
    }
    let mut outcome = Outcome {
        transactions: KindOutcome::new(),
        awareness: KindOutcome::new(),
        stats: difference(after.0, before.0),
        framing: Framing {
            bytes_out: after.1.bytes_out - before.1.bytes_out,
            bytes_in: after.1.bytes_in - before.1.bytes_in,
            datagrams_out: after.1.datagrams_out - before.1.datagrams_out,
            datagrams_in: after.1.datagrams_in - before.1.datagrams_in,
        },
        held: progress.held.load(Relaxed),
        took,
        trouble: Vec::new(),
    };
    for step in &plan.steps {
        outcome.of_kind(plan.is_transaction(step.sequence)).sent += 1;
    }
    while let Some(receiver) = receivers.join_next().await {
        receiver?.report(&mut outcome)?;
    }
    finished?;
    Ok(outcome)
}

impl Outcome {
    fn of_kind(&mut self, transaction: bool) -> &mut KindOutcome {
        if transaction { &mut self.transactions } else { &mut self.awareness }
    }
}

impl KindOutcome {
    fn new() -> Self {
        KindOutcome { sent: 0, found: Found::default(), latency: histogram() }
    }
}

/// A histogram with two significant digits from 1 µs to 10 minutes, which takes about 20 KB.
fn histogram() -> Histogram<u32> {
    Histogram::new_with_bounds(1, 600_000_000, 2)
        .expect("the bounds are in order, the digits 0 to 5")
}

/// Sends the steps of one participant at their times.
async fn send(progress: Arc<Progress>, me: usize, channels: Vec<Channel>) -> Result<(), String> {
    for (number, step) in progress.plan.steps.iter().enumerate().filter(|(_, one)| one.sender == me)
    {
        let due = progress.start + step.at;
        if Instant::now() < due {
            sleep_until(due).await;
        }
        let message = &progress.trace.messages[step.message];
        let payload = match std::str::from_utf8(&message.bytes) {
            Ok(text) => Payload::Text(text),
            Err(_) => Payload::Bytes(&message.bytes),
        };
        // The time is taken before the first attempt: waiting after *not now* is part of the
        // latency.
        progress.sent_at[number].store(nanos(progress.start.elapsed()), Relaxed);
        loop {
            match channels[message.kind].send(payload, SendOptions::default()) {
                Ok(Sent::NotNow) => {
                    progress.held.fetch_add(1, Relaxed);
                    sleep(HOLD).await;
                }
                Ok(_) => break,
                Err(error) => {
                    let number = step.message + 1;
                    return Err(format!(
                        "message {number} of the recording cannot be sent: {error}"
                    ));
                }
            }
        }
        progress.sent.fetch_add(1, Relaxed);
    }
    Ok(())
}

/// Waits until all messages are sent and have arrived, or until none has arrived for as long as
/// `--patience` says.
async fn wait(
    args: &Args,
    progress: &Progress,
    senders: &mut JoinSet<Result<(), String>>,
) -> Result<(), Box<dyn Error>> {
    let bar = ProgressBar::new(progress.plan.steps.len() as u64);
    let style = "{bar:32} {pos}/{len} messages sent, {msg}, {elapsed} of {duration}";
    bar.set_style(ProgressStyle::with_template(style)?);
    let (mut last, mut changed) = (u64::MAX, Instant::now());
    loop {
        while let Some(sender) = senders.try_join_next() {
            sender??;
        }
        let outstanding: u64 = progress.outstanding.iter().map(|one| one.load(Relaxed)).sum();
        bar.set_position(progress.sent.load(Relaxed));
        bar.set_message(format!("{outstanding} deliveries missing"));
        if senders.is_empty() && outstanding == 0 {
            break;
        }
        if outstanding != last || !senders.is_empty() {
            (last, changed) = (outstanding, Instant::now());
        } else if changed.elapsed() >= args.patience() {
            break;
        }
        sleep(CHECK_EVERY).await;
    }
    bar.finish_and_clear();
    Ok(())
}

struct Receiver {
    progress: Arc<Progress>,
    me: usize,
    verifier: Verifier,
    transactions: Histogram<u32>,
    awareness: Histogram<u32>,
    trouble: Vec<String>,
}

impl Receiver {
    fn new(progress: Arc<Progress>, me: usize, verifier: Verifier) -> Self {
        let (transactions, awareness) = (histogram(), histogram());
        Receiver { progress, me, verifier, transactions, awareness, trouble: Vec::new() }
    }

    /// Receives until the participant leaves the room.
    async fn receive(mut self, mut events: Events) -> Self {
        let mut batch = VecDeque::new();
        while events.next_batch(&mut batch).await {
            let now = nanos(self.progress.start.elapsed());
            for event in batch.drain(..) {
                self.take(now, event);
            }
            self.progress.outstanding[self.me].store(self.verifier.outstanding(), Relaxed);
        }
        self
    }

    fn take(&mut self, now: u64, event: Event) {
        let message = match event {
            Event::Message(message) => message,
            Event::Gap { reason, .. } => return self.complain(&format!("a gap: {reason:?}")),
            Event::Snapshot { .. } => {
                return self.complain(
                    "it received a snapshot, because it was too slow for the log of the room",
                );
            }
            Event::Error { error, .. } => return self.complain(&error.to_string()),
            // Requests for a snapshot are ignored, because a replay has no document. So are drains,
            // because senders just try again.
            _ => return,
        };
        // Messages of participants that are not part of the replay are ignored.
        let Some(&sender) = self.progress.numbers.get(&message.sender).filter(|_| !message.own)
        else {
            return;
        };
        let channel = message.channel.0 as usize;
        if let Some((sequence, step)) = self.verifier.take(sender, channel, &message) {
            let latency = now.saturating_sub(self.progress.sent_at[step].load(Relaxed)) / 1000;
            let transaction = self.progress.plan.is_transaction(sequence);
            let histogram = if transaction { &mut self.transactions } else { &mut self.awareness };
            histogram.saturating_record(latency);
        }
    }

    fn complain(&mut self, what: &str) {
        self.trouble.push(format!("participant {}: {what}", self.me + 1));
    }

    fn report(self, outcome: &mut Outcome) -> Result<(), Box<dyn Error>> {
        let plan = &self.progress.plan;
        for sequence in
            (0..plan.sequences().len()).filter(|sequence| plan.sender_of(*sequence) != self.me)
        {
            let of_kind = outcome.of_kind(plan.is_transaction(sequence));
            of_kind.found.add(&self.verifier.found(sequence));
        }
        outcome.transactions.latency.add(self.transactions)?;
        outcome.awareness.latency.add(self.awareness)?;
        outcome.trouble.extend(self.trouble);
        Ok(())
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn totals(clients: &[Client]) -> (Stats, Framing) {
    let rooms: Vec<Room> = clients.iter().map(|client| client.room.clone()).collect();
    totals_of(&rooms)
}

fn totals_of(rooms: &[Room]) -> (Stats, Framing) {
    let mut sum = (Stats::default(), Framing::default());
    for room in rooms {
        let (stats, framing) = (room.stats(), room.framing());
        sum.0.messages_out += stats.messages_out;
        sum.0.bytes_out_before += stats.bytes_out_before;
        sum.0.packets_out += stats.packets_out;
        sum.0.bytes_out_after += stats.bytes_out_after;
        sum.0.messages_in += stats.messages_in;
        sum.0.bytes_in_before += stats.bytes_in_before;
        sum.0.packets_in += stats.packets_in;
        sum.0.bytes_in_after += stats.bytes_in_after;
        sum.0.datagrams_unread += stats.datagrams_unread;
        sum.0.reconnects += stats.reconnects;
        sum.0.conflated += stats.conflated;
        sum.1.bytes_out += framing.bytes_out;
        sum.1.bytes_in += framing.bytes_in;
        sum.1.datagrams_out += framing.datagrams_out;
        sum.1.datagrams_in += framing.datagrams_in;
    }
    sum
}

fn difference(mut after: Stats, before: Stats) -> Stats {
    after.messages_out -= before.messages_out;
    after.bytes_out_before -= before.bytes_out_before;
    after.packets_out -= before.packets_out;
    after.bytes_out_after -= before.bytes_out_after;
    after.messages_in -= before.messages_in;
    after.bytes_in_before -= before.bytes_in_before;
    after.packets_in -= before.packets_in;
    after.bytes_in_after -= before.bytes_in_after;
    after.datagrams_unread -= before.datagrams_unread;
    after.reconnects -= before.reconnects;
    after.conflated -= before.conflated;
    after
}
