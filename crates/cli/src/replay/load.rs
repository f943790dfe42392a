//! Sending by plan, receiving, and knowing when it is over.

use std::collections::{HashMap, VecDeque};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use groupwire_client::{
    Channel, Event, Events, Framing, ParticipantId, Payload, Room, SendOptions, Sent, Stats,
};
use groupwire_lab::Trace;
use hdrhistogram::Histogram;
use indicatif::{ProgressBar, ProgressStyle};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use super::Args;
use super::clients::{Client, Clients};
use super::plan::Plan;
use super::verify::{Found, Verifier};

/// How long a sender waits when the client says *not now*.
const HOLD: Duration = Duration::from_millis(5);

/// How often progress is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// What happened.
pub(super) struct Outcome {
    pub(super) transactions: Class,
    pub(super) awareness: Class,
    /// Of all participants together, while messages were sent.
    pub(super) stats: Stats,
    pub(super) framing: Framing,
    /// Times that a sender was told *not now*.
    pub(super) held: u64,
    /// From the first message sent to the last one received.
    pub(super) took: Duration,
    /// What went wrong besides messages.
    pub(super) trouble: Vec<String>,
}

/// Messages of one kind of channel.
pub(super) struct Class {
    pub(super) sent: u64,
    pub(super) found: Found,
    /// From the sender's application to the receiver's, in microseconds.
    pub(super) latency: Histogram<u32>,
}

/// What the tasks share.
struct Shared {
    trace: Arc<Trace>,
    plan: Arc<Plan>,
    numbers: Arc<HashMap<ParticipantId, usize>>,
    start: Instant,
    /// When each step was handed to the client, in nanoseconds since the start.
    sent_at: Vec<AtomicU64>,
    sent: AtomicU64,
    held: AtomicU64,
    /// What each participant has still to get.
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
    let shared = Arc::new(Shared {
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
            senders.spawn(send(Arc::clone(&shared), me, channels));
        }
        let receiver = Receiver::new(Arc::clone(&shared), me, verifiers.remove(0));
        receivers.spawn(receiver.receive(events));
        rooms.push(room);
    }
    let finished = wait(args, &shared, &mut senders).await;
    let took = shared.start.elapsed();
    let after = totals_of(&rooms);
    // Still there: awareness of somebody who leaves goes with it.
    for room in &rooms {
        room.leave().await;
    }
    let mut outcome = Outcome {
        transactions: Class::new(),
        awareness: Class::new(),
        stats: difference(after.0, before.0),
        framing: Framing {
            bytes_out: after.1.bytes_out - before.1.bytes_out,
            bytes_in: after.1.bytes_in - before.1.bytes_in,
            datagrams_out: after.1.datagrams_out - before.1.datagrams_out,
            datagrams_in: after.1.datagrams_in - before.1.datagrams_in,
        },
        held: shared.held.load(Relaxed),
        took,
        trouble: Vec::new(),
    };
    for step in &plan.steps {
        outcome.class(plan.is_transaction(step.lane)).sent += 1;
    }
    while let Some(receiver) = receivers.join_next().await {
        receiver?.report(&mut outcome)?;
    }
    finished?;
    Ok(outcome)
}

impl Outcome {
    fn class(&mut self, transaction: bool) -> &mut Class {
        if transaction { &mut self.transactions } else { &mut self.awareness }
    }
}

impl Class {
    fn new() -> Self {
        Class { sent: 0, found: Found::default(), latency: histogram() }
    }
}

/// Two digits over 1 µs to 10 minutes: some 20 KB for each receiver.
fn histogram() -> Histogram<u32> {
    Histogram::new_with_bounds(1, 600_000_000, 2)
        .expect("the bounds are in order, the digits 0 to 5")
}

/// Sends one participant's steps when they are due.
async fn send(shared: Arc<Shared>, me: usize, channels: Vec<Channel>) -> Result<(), String> {
    for (number, step) in shared.plan.steps.iter().enumerate().filter(|(_, one)| one.sender == me) {
        let due = shared.start + step.at;
        if Instant::now() < due {
            sleep_until(due).await;
        }
        let message = &shared.trace.messages[step.message];
        let payload = match std::str::from_utf8(&message.bytes) {
            Ok(text) => Payload::Text(text),
            Err(_) => Payload::Bytes(&message.bytes),
        };
        // From the first attempt: being held back is part of the latency.
        shared.sent_at[number].store(nanos(shared.start.elapsed()), Relaxed);
        loop {
            match channels[message.kind].send(payload, SendOptions::default()) {
                Ok(Sent::NotNow) => {
                    shared.held.fetch_add(1, Relaxed);
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
        shared.sent.fetch_add(1, Relaxed);
    }
    Ok(())
}

/// Waits until all is sent and all has arrived, or nothing arrives any more.
async fn wait(
    args: &Args,
    shared: &Shared,
    senders: &mut JoinSet<Result<(), String>>,
) -> Result<(), Box<dyn Error>> {
    let bar = ProgressBar::new(shared.plan.steps.len() as u64);
    let style = "{bar:32} {pos}/{len} messages sent, {msg}, {elapsed} of {duration}";
    bar.set_style(ProgressStyle::with_template(style)?);
    let (mut last, mut changed) = (u64::MAX, Instant::now());
    loop {
        while let Some(sender) = senders.try_join_next() {
            sender??;
        }
        let outstanding: u64 = shared.outstanding.iter().map(|one| one.load(Relaxed)).sum();
        bar.set_position(shared.sent.load(Relaxed));
        bar.set_message(format!("{outstanding} deliveries to come"));
        if senders.is_empty() && outstanding == 0 {
            break;
        }
        if outstanding != last || !senders.is_empty() {
            (last, changed) = (outstanding, Instant::now());
        } else if changed.elapsed() >= args.patience() {
            break;
        }
        sleep(LOOK).await;
    }
    bar.finish_and_clear();
    Ok(())
}

struct Receiver {
    shared: Arc<Shared>,
    me: usize,
    verifier: Verifier,
    transactions: Histogram<u32>,
    awareness: Histogram<u32>,
    trouble: Vec<String>,
}

impl Receiver {
    fn new(shared: Arc<Shared>, me: usize, verifier: Verifier) -> Self {
        let (transactions, awareness) = (histogram(), histogram());
        Receiver { shared, me, verifier, transactions, awareness, trouble: Vec::new() }
    }

    /// Until the room is left.
    async fn receive(mut self, mut events: Events) -> Self {
        let mut batch = VecDeque::new();
        while events.next_batch(&mut batch).await {
            let now = nanos(self.shared.start.elapsed());
            for event in batch.drain(..) {
                self.take(now, event);
            }
            self.shared.outstanding[self.me].store(self.verifier.outstanding(), Relaxed);
        }
        self
    }

    fn take(&mut self, now: u64, event: Event) {
        let message = match event {
            Event::Message(message) => message,
            Event::Gap { reason, .. } => return self.complain(&format!("a gap: {reason:?}")),
            Event::Snapshot { .. } => {
                return self
                    .complain("too slow for the room's log: it was sent a snapshot instead");
            }
            Event::Error { error, .. } => return self.complain(&error.to_string()),
            // A replay has no document to make a snapshot of, and drains by trying again.
            _ => return,
        };
        // Others may be in the room.
        let Some(&sender) = self.shared.numbers.get(&message.sender).filter(|_| !message.own)
        else {
            return;
        };
        let channel = message.channel.0 as usize;
        if let Some((lane, step)) = self.verifier.take(sender, channel, &message) {
            let latency = now.saturating_sub(self.shared.sent_at[step].load(Relaxed)) / 1000;
            let transaction = self.shared.plan.is_transaction(lane);
            let histogram = if transaction { &mut self.transactions } else { &mut self.awareness };
            histogram.saturating_record(latency);
        }
    }

    fn complain(&mut self, what: &str) {
        self.trouble.push(format!("participant {}: {what}", self.me + 1));
    }

    fn report(self, outcome: &mut Outcome) -> Result<(), Box<dyn Error>> {
        let plan = &self.shared.plan;
        for lane in (0..plan.lanes().len()).filter(|lane| plan.sender_of(*lane) != self.me) {
            let class = outcome.class(plan.is_transaction(lane));
            class.found.add(&self.verifier.found(lane));
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
        sum.0.reconnects += stats.reconnects;
        sum.0.conflated += stats.conflated;
        sum.1.bytes_out += framing.bytes_out;
        sum.1.bytes_in += framing.bytes_in;
        sum.1.datagrams_out += framing.datagrams_out;
        sum.1.datagrams_in += framing.datagrams_in;
    }
    sum
}

fn difference(after: Stats, before: Stats) -> Stats {
    Stats {
        messages_out: after.messages_out - before.messages_out,
        bytes_out_before: after.bytes_out_before - before.bytes_out_before,
        packets_out: after.packets_out - before.packets_out,
        bytes_out_after: after.bytes_out_after - before.bytes_out_after,
        messages_in: after.messages_in - before.messages_in,
        bytes_in_before: after.bytes_in_before - before.bytes_in_before,
        packets_in: after.packets_in - before.packets_in,
        bytes_in_after: after.bytes_in_after - before.bytes_in_after,
        reconnects: after.reconnects - before.reconnects,
        conflated: after.conflated - before.conflated,
    }
}
