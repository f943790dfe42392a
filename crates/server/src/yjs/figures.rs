//! The counters of Yjs documents.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::figures::figure::figures;

figures! {
    /// Figures of the documents of Yjs.
    struct DocumentFigures {
        /// Open documents.
        Gauge documents as "documents": usize;
        /// Connections to documents.
        Gauge connections as "connections": usize;
        /// Memory of open documents, and of answers to their clients.
        Gauge memory as "memory_bytes": usize;
        /// Clients that were let into a document.
        Counter joins as "joins": u64;
        /// Updates that changed a document.
        Counter updates as "updates": u64;
        /// Bytes of these updates.
        Counter update_bytes as "update_bytes": u64;
        /// Updates that changed nothing, and were not passed on.
        Counter repeats as "repeats": u64;
        /// Updates of clients that may only read.
        Counter forbidden as "forbidden": u64;
        /// States of awareness that were passed on.
        Counter states as "states": u64;
        /// States of awareness that were not newer, or of a client of another connection.
        Counter stale_states as "stale_states": u64;
        /// Messages to connections, counted once per connection.
        Counter deliveries as "deliveries": u64;
        /// Receivers that were too slow, and were sent the difference instead of each update.
        Counter resyncs as "resyncs": u64;
        /// Merged documents that were stored in the place of their updates.
        Counter compactions as "compactions": u64;
        /// Connections that were closed because of what their client sent.
        Counter violations as "violations": u64;
        /// Documents without connections that were closed because others needed their places.
        Counter evicted as "evicted": u64;
    }
}

/// The counters behind the figures.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) connections: AtomicUsize,
    pub(super) memory: AtomicUsize,
    pub(super) joins: AtomicU64,
    pub(super) updates: AtomicU64,
    pub(super) update_bytes: AtomicU64,
    pub(super) repeats: AtomicU64,
    pub(super) forbidden: AtomicU64,
    pub(super) states: AtomicU64,
    pub(super) stale_states: AtomicU64,
    pub(super) deliveries: AtomicU64,
    pub(super) resyncs: AtomicU64,
    pub(super) compactions: AtomicU64,
    pub(super) violations: AtomicU64,
    pub(super) evicted: AtomicU64,
}

impl Counters {
    pub(super) fn figures(&self, documents: usize) -> DocumentFigures {
        let [connections, memory] =
            [&self.connections, &self.memory].map(|count| count.load(Ordering::Relaxed));
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        DocumentFigures {
            documents,
            connections,
            memory,
            joins: read(&self.joins),
            updates: read(&self.updates),
            update_bytes: read(&self.update_bytes),
            repeats: read(&self.repeats),
            forbidden: read(&self.forbidden),
            states: read(&self.states),
            stale_states: read(&self.stale_states),
            deliveries: read(&self.deliveries),
            resyncs: read(&self.resyncs),
            compactions: read(&self.compactions),
            violations: read(&self.violations),
            evicted: read(&self.evicted),
        }
    }
}

/// Adds to a counter.
pub(super) fn add(counter: &AtomicU64, count: usize) {
    counter.fetch_add(count as u64, Ordering::Relaxed);
}

/// Subtracts from a gauge what was added to it before.
pub(super) fn subtract(gauge: &AtomicUsize, count: usize) {
    let before = gauge.fetch_sub(count, Ordering::Relaxed);
    debug_assert!(before >= count, "only what was counted is subtracted: {count} of {before}");
}
