//! Counts the bytes of each flow that arrived, and when.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Counts the bytes that arrive at the far ends of all flows.
#[derive(Debug, Clone)]
pub(super) struct Meter(Arc<Counts>);

#[derive(Debug)]
struct Counts {
    start: Instant,
    /// The one-way delay of the path without a queue.
    delay: Duration,
    ours: AtomicU64,
    others: AtomicU64,
    steps: Mutex<Vec<Step>>,
    /// For each of our datagrams: when it arrived, and its delay since it was made beyond that of
    /// the path, in ms. Waits in our own endpoint count.
    queues: Mutex<Vec<(Duration, f64)>>,
}

/// Bytes of payload that had arrived at a time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    /// The time since our flow began.
    pub(super) at: Duration,
    pub(super) ours: u64,
    pub(super) others: u64,
}

impl Meter {
    pub(super) fn new(delay: Duration) -> Self {
        Meter(Arc::new(Counts {
            start: Instant::now(),
            delay,
            ours: AtomicU64::new(0),
            others: AtomicU64::new(0),
            steps: Mutex::default(),
            queues: Mutex::default(),
        }))
    }

    /// The current time, for the packets of our flow.
    pub(super) fn now(&self) -> Duration {
        self.0.start.elapsed()
    }

    /// Counts a datagram of ours that arrives now. The application made it at `made`, before it
    /// waited in our endpoint.
    pub(super) fn ours(&self, made: Duration, bytes: usize) {
        self.0.ours.fetch_add(bytes as u64, Ordering::Relaxed);
        let now = self.now();
        let queue = now.saturating_sub(made).saturating_sub(self.0.delay);
        lock(&self.0.queues).push((now, queue.as_secs_f64() * 1e3));
    }

    pub(super) fn others(&self, bytes: usize) {
        self.0.others.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Records the bytes that have arrived by now.
    pub(super) fn step(&self) {
        let step = Step {
            at: self.now(),
            ours: self.0.ours.load(Ordering::Relaxed),
            others: self.0.others.load(Ordering::Relaxed),
        };
        lock(&self.0.steps).push(step);
    }

    /// The steps, whose times count from the first one.
    pub(super) fn steps(&self) -> Vec<Step> {
        let steps = lock(&self.0.steps);
        let first = steps.first().map_or(Duration::ZERO, |step| step.at);
        steps.iter().map(|step| Step { at: step.at - first, ..*step }).collect()
    }

    /// The delays of our datagrams beyond the delay of the path, in ms. Only datagrams count that
    /// arrived between these times, counted from the first step.
    pub(super) fn queues_between(&self, from: Duration, to: Duration) -> Vec<f64> {
        let first = lock(&self.0.steps).first().map_or(Duration::ZERO, |step| step.at);
        let queues = lock(&self.0.queues);
        let between = |when: &Duration| (first + from..first.saturating_add(to)).contains(when);
        queues.iter().filter(|(when, _)| between(when)).map(|(_, queue)| *queue).collect()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
