//! The receiving side of a native participant.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use groupwire_client::{ChannelId, Event, Events, Incoming};
use tokio::sync::Notify;
use tokio::sync::watch;

use super::play::Log;
use crate::browsers::load::Load;
use crate::browsers::protocol::{Receive, Received};

/// Counts and times the messages that a participant receives.
pub(super) struct Receiver {
    names: HashMap<ChannelId, &'static str>,
    state: Mutex<State>,
    synced: watch::Sender<bool>,
    complete: watch::Sender<bool>,
    drained: Notify,
}

/// The measurements that are in progress.
#[derive(Default)]
struct State {
    tally: Option<Tally>,
    log: Option<Arc<Log>>,
}

/// The received messages of one load.
struct Tally {
    load: Receive,
    received: Received,
    first: Option<Instant>,
    next: u32,
    /// The batch of events with the last message.
    batch: u64,
}

impl Receiver {
    pub(super) fn new(names: HashMap<ChannelId, &'static str>) -> Self {
        Receiver {
            names,
            state: Mutex::default(),
            synced: watch::Sender::new(false),
            complete: watch::Sender::new(false),
            drained: Notify::new(),
        }
    }

    pub(super) async fn listen(self: Arc<Self>, mut events: Events) {
        let mut batch = VecDeque::new();
        let mut batches = 0;
        while events.next_batch(&mut batch).await {
            batches += 1;
            let now = Instant::now();
            for event in batch.drain(..) {
                match event {
                    Event::Message(message) => self.take(&message, now, batches),
                    Event::Synced { channel: None } => drop(self.synced.send_replace(true)),
                    Event::Drain => self.drained.notify_waiters(),
                    _ => {}
                }
            }
        }
    }

    pub(super) async fn synced(&self) {
        // This cannot fail, because `self` holds the sender.
        let _ = self.synced.subscribe().wait_for(|synced| *synced).await;
    }

    pub(super) fn drained(&self) -> impl Future<Output = ()> + '_ {
        self.drained.notified()
    }

    /// Starts to count the messages of a load.
    pub(super) fn expect(&self, load: &Receive) {
        self.complete.send_replace(false);
        let received = Received::default();
        self.lock().tally =
            Some(Tally { load: load.clone(), received, first: None, next: 0, batch: 0 });
    }

    pub(super) async fn complete(&self) {
        let _ = self.complete.subscribe().wait_for(|complete| *complete).await;
    }

    /// Ends the count and returns it.
    pub(super) fn received(&self) -> Received {
        self.lock().tally.take().map(|tally| tally.received).unwrap_or_default()
    }

    /// Sets the log that times are written to, or none.
    pub(super) fn note_in(&self, log: Option<Arc<Log>>) {
        self.lock().log = log;
    }

    fn take(&self, message: &Incoming, now: Instant, batch: u64) {
        let Some(name) = self.names.get(&message.channel) else { return };
        let mut state = self.lock();
        if let Some(log) = state.log.as_ref().filter(|_| !message.own && !message.state) {
            log.take(message.sender, name, &message.bytes, now);
        }
        if let Some(tally) = state.tally.as_mut().filter(|tally| tally.is_of(name))
            && tally.take(message, now, batch)
        {
            self.complete.send_replace(true);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tally {
    fn is_of(&self, channel: &str) -> bool {
        channel == if self.load.latest { "latest" } else { "bulk" }
    }

    /// Counts a message and returns whether it was the last of the load.
    fn take(&mut self, message: &Incoming, now: Instant, batch: u64) -> bool {
        let received = &mut self.received;
        let Some(load) = Load::read(&message.bytes) else {
            received.wrong.get_or_insert_with(|| "a message differs from the sent one".into());
            return false;
        };
        if load.run != self.load.run || message.state {
            return false;
        }
        // Values of `latest` may be skipped, and datagrams may arrive out of order.
        if !self.load.latest && load.number != self.next {
            let (number, expected) = (load.number, self.next);
            received
                .wrong
                .get_or_insert_with(|| format!("message {number} arrived instead of {expected}"));
        }
        if message.bytes.len() != self.load.size {
            let (bytes, expected) = (message.bytes.len(), self.load.size);
            received.wrong.get_or_insert_with(|| format!("{bytes} bytes arrived of {expected}"));
        }
        self.next = load.number + 1;
        let first = *self.first.get_or_insert(now);
        received.span_ms = (now - first).as_secs_f64() * 1e3;
        received.messages += 1;
        received.arrivals += u32::from(batch != self.batch);
        self.batch = batch;
        received.complete |= load.is_last;
        load.is_last
    }
}
