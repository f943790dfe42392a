//! What a native participant hears.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use groupwire_client::{ChannelId, Event, Events, Incoming};
use groupwire_lab::web::load::Load;
use groupwire_lab::web::protocol::{Receive, Received};
use tokio::sync::Notify;
use tokio::sync::watch;

use super::play::Log;

/// Listens to a room.
pub(super) struct Ear {
    names: HashMap<ChannelId, &'static str>,
    heard: Mutex<Heard>,
    synced: watch::Sender<bool>,
    complete: watch::Sender<bool>,
    drained: Notify,
}

#[derive(Default)]
struct Heard {
    tally: Option<Tally>,
    log: Option<Arc<Log>>,
}

/// What has come of a load.
struct Tally {
    load: Receive,
    received: Received,
    first: Option<Instant>,
    next: u32,
    /// The turn in which the last came.
    turn: u64,
}

impl Ear {
    pub(super) fn new(names: HashMap<ChannelId, &'static str>) -> Self {
        Ear {
            names,
            heard: Mutex::default(),
            synced: watch::Sender::new(false),
            complete: watch::Sender::new(false),
            drained: Notify::new(),
        }
    }

    pub(super) async fn listen(self: Arc<Self>, mut events: Events) {
        let mut batch = VecDeque::new();
        let mut turn = 0;
        while events.next_batch(&mut batch).await {
            turn += 1;
            let now = Instant::now();
            for event in batch.drain(..) {
                match event {
                    Event::Message(message) => self.take(&message, now, turn),
                    Event::Synced { channel: None } => drop(self.synced.send_replace(true)),
                    Event::Drain => self.drained.notify_waiters(),
                    _ => {}
                }
            }
        }
    }

    pub(super) async fn synced(&self) {
        // The sender is here, so it does not go.
        let _ = self.synced.subscribe().wait_for(|synced| *synced).await;
    }

    pub(super) fn drained(&self) -> impl Future<Output = ()> + '_ {
        self.drained.notified()
    }

    /// Counts what comes of a load from now on.
    pub(super) fn expect(&self, load: &Receive) {
        self.complete.send_replace(false);
        let received = Received::default();
        self.lock().tally =
            Some(Tally { load: load.clone(), received, first: None, next: 0, turn: 0 });
    }

    pub(super) async fn complete(&self) {
        let _ = self.complete.subscribe().wait_for(|complete| *complete).await;
    }

    /// What has come, and no more of it.
    pub(super) fn received(&self) -> Received {
        self.lock().tally.take().map(|tally| tally.received).unwrap_or_default()
    }

    /// Where times are noted, until there is another or none.
    pub(super) fn note_in(&self, log: Option<Arc<Log>>) {
        self.lock().log = log;
    }

    fn take(&self, message: &Incoming, now: Instant, turn: u64) {
        let Some(name) = self.names.get(&message.channel) else { return };
        let mut heard = self.lock();
        if let Some(log) = heard.log.as_ref().filter(|_| !message.own && !message.state) {
            log.take(message.sender, name, &message.bytes, now);
        }
        if let Some(tally) = heard.tally.as_mut().filter(|tally| tally.is_of(name))
            && tally.take(message, now, turn)
        {
            self.complete.send_replace(true);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tally {
    fn is_of(&self, channel: &str) -> bool {
        channel == if self.load.latest { "latest" } else { "bulk" }
    }

    /// Returns whether that was the last.
    fn take(&mut self, message: &Incoming, now: Instant, turn: u64) -> bool {
        let received = &mut self.received;
        let Some(load) = Load::read(&message.bytes) else {
            received.wrong.get_or_insert_with(|| "a message was not as it was sent".into());
            return false;
        };
        if load.run != self.load.run || message.state {
            return false;
        }
        // Values may be skipped; over datagrams they may come late.
        if !self.load.latest && load.number != self.next {
            let (came, due) = (load.number, self.next);
            received
                .wrong
                .get_or_insert_with(|| format!("message {came} came where {due} was due"));
        }
        if message.bytes.len() != self.load.size {
            let (came, due) = (message.bytes.len(), self.load.size);
            received.wrong.get_or_insert_with(|| format!("{came} bytes came of {due}"));
        }
        self.next = load.number + 1;
        let first = *self.first.get_or_insert(now);
        received.span_ms = (now - first).as_secs_f64() * 1e3;
        received.messages += 1;
        received.arrivals += u32::from(turn != self.turn);
        self.turn = turn;
        received.complete |= load.is_last;
        load.is_last
    }
}
