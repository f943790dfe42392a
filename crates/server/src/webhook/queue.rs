//! The events that wait for the receiver: in the store, or in memory if nothing is stored.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, oneshot};

use super::batch::{Batch, MOST_BYTES, compose};
use super::config::WebhookConfig;
use super::event::{Event, EventKind};
use super::report::WebhookFigures;
use crate::durable::{Outbox, OutboxLimits, OutboxState, StoreError, outbox_in_memory};
use crate::tools::wall::{wall, wall_ms};

/// The largest age of an event that is still delivered. A receiver that was away for a day has to
/// read the present state by other means.
const MAX_AGE: Duration = Duration::from_secs(24 * 3600);

/// The most bytes of events that wait in the store: some minutes of 1,000 small transactions per
/// second, or days of joins and leaves.
const MAX_BYTES: u64 = 100_000_000;

/// The most bytes of events that wait in memory.
const MAX_MEMORY: u64 = 16 << 20;

/// Events of all rooms, in the order in which they are told.
pub(crate) struct Queue {
    pub(super) config: WebhookConfig,
    /// The outbox of the store; one in memory if nothing is stored.
    outbox: Arc<dyn Outbox>,
    /// Wakes the task that delivers.
    changed: Notify,
    /// Events that could not be put into the queue. A gap for them is put before the next event.
    lost: Mutex<Option<Lost>>,
    pub(super) counts: Counts,
}

#[derive(Debug, Clone, Copy)]
struct Lost {
    count: u64,
    from: Duration,
}

/// Counters of the webhook since the server's start.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) delivered: AtomicU64,
    pub(super) requests: AtomicU64,
    pub(super) failed: AtomicU64,
    pub(super) retried: AtomicU64,
    lost: AtomicU64,
}

/// The limits of a store whose outbox is the queue.
pub(crate) fn outbox_limits() -> OutboxLimits {
    OutboxLimits { max_bytes: MAX_BYTES, max_age: MAX_AGE }
}

impl Queue {
    /// A queue in the store, which was opened with [`outbox_limits`], or in memory.
    pub(crate) fn new(config: WebhookConfig, stored: Option<Arc<dyn Outbox>>) -> Self {
        let limits = OutboxLimits { max_bytes: MAX_MEMORY, max_age: MAX_AGE };
        let outbox = stored.unwrap_or_else(|| outbox_in_memory(limits));
        let (changed, lost) = (Notify::new(), Mutex::new(None));
        Queue { config, outbox, changed, lost, counts: Counts::default() }
    }

    /// True if events of this kind are told.
    pub(crate) fn tells(&self, kind: EventKind) -> bool {
        self.config.events.contains(kind)
    }

    /// Puts the event that the server has started: all participants from before are gone.
    pub(crate) fn start(self: &Arc<Self>) {
        self.put("", vec![Event::started()]);
    }

    /// Puts events of a room into the queue. What the store cannot take is told as a gap later.
    pub(crate) fn put(self: &Arc<Self>, room: &str, mut events: Vec<Event>) {
        if events.is_empty() {
            return;
        }
        let lost = self.lost().take();
        let gap = lost.map(|Lost { count, from }| Event::gap(count, from, wall()));
        events.splice(0..0, gap);
        let queue = Arc::clone(self);
        // The gap is not counted itself: `lose` adds the count of the events that it stands for.
        let count = events.len() as u64 - u64::from(lost.is_some());
        let done = move |outcome: Result<(), StoreError>| match outcome {
            Ok(()) => queue.wake(),
            Err(error) => {
                tracing::debug!(%error, count, "events cannot be put into the queue");
                queue.lose(count, lost);
            }
        };
        let events = events.into_iter().map(|event| event.0).collect();
        self.outbox.put_events(room, events, Box::new(done));
    }

    /// Wakes the task that delivers.
    pub(crate) fn wake(&self) {
        self.changed.notify_one();
    }

    /// Returns when something may have been put into the queue.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// The next events to be told, up to the number `last`; `None` if there are none.
    pub(super) async fn next(&self, last: u64, most: usize) -> Result<Option<Batch>, String> {
        let Some(state) = self.outbox.outbox() else { return Ok(None) };
        if state.waiting == 0 {
            return Ok(None);
        }
        let outbox = Arc::clone(&self.outbox);
        let reading = move || outbox.events(last, most, MOST_BYTES);
        let events = tokio::task::spawn_blocking(reading).await;
        let events = events.map_err(|error| error.to_string())?;
        Ok(compose(&state, &events.map_err(|error| error.to_string())?))
    }

    /// The events up to this number were delivered.
    pub(super) async fn told(&self, number: u64) -> Result<(), String> {
        let (sender, receiver) = oneshot::channel();
        let done = Box::new(move |outcome| drop(sender.send(outcome)));
        self.outbox.events_told(number, done);
        let outcome = receiver.await.map_err(|error| error.to_string())?;
        outcome.map_err(|error: StoreError| error.to_string())
    }

    /// Puts a gap in the place of an event that its receiver never takes.
    pub(super) fn skip_one(self: &Arc<Self>) {
        self.counts.lost.fetch_add(1, Ordering::Relaxed);
        let now = wall();
        self.put("", vec![Event::gap(1, now, now)]);
    }

    /// Adds `count` events and those in `before` to the lost events that the next gap reports.
    fn lose(&self, count: u64, before: Option<Lost>) {
        self.counts.lost.fetch_add(count, Ordering::Relaxed);
        let mut lost = self.lost();
        let known = [before, *lost].into_iter().flatten();
        let (count, from) = known.fold((count, wall()), |(count, from), other| {
            (count + other.count, from.min(other.from))
        });
        *lost = Some(Lost { count, from });
    }

    /// The figures of the webhook.
    pub(crate) fn figures(&self) -> WebhookFigures {
        let (waiting, waiting_bytes, oldest, dropped) = self
            .outbox
            .outbox()
            .map(|OutboxState { waiting, bytes, oldest, dropped, .. }| {
                (waiting, bytes, oldest, dropped)
            })
            .unwrap_or_default();
        let lag = oldest.map_or(0, |oldest| wall_ms().saturating_sub(oldest));
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let Counts { delivered, requests, failed, retried, lost } = &self.counts;
        WebhookFigures {
            delivered: count(delivered),
            requests: count(requests),
            failed: count(failed),
            retried: count(retried),
            dropped: dropped + count(lost),
            waiting,
            waiting_bytes,
            lag_seconds: lag as f64 / 1000.0,
        }
    }

    fn lost(&self) -> MutexGuard<'_, Option<Lost>> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
