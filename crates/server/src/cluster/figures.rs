//! The counters of a server of a cluster.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use crate::figures::Times;
use crate::figures::figure::figures;

figures! {
    /// Figures of a server of a cluster.
    struct ClusterFigures {
        /// Shards of rooms that this server has.
        Gauge shards as "shards": usize;
        /// Shards that this server took.
        Counter takeovers as "takeovers": u64;
        /// Shards that this server had and lost to another one.
        Counter fenced as "fenced": u64;
        /// Times that this server could not be sure of a shard any more.
        Counter cut_offs as "cut_offs": u64;
        /// Requests that the engine did not answer in time, or answered with an error.
        Counter unanswered as "engine_unanswered": u64;
        /// Connections of clients to this server whose rooms other servers have.
        Gauge relayed as "relayed_connections": usize;
        /// Bytes that were sent to other servers for clients.
        Counter relayed_bytes as "relayed_bytes": u64;
        /// HTTP requests to other servers, for clients and administrators.
        Counter forwarded as "forwarded_requests": u64;
        /// HTTP requests that another server did not answer.
        Counter not_forwarded as "forwarded_requests_failed": u64;
    }
}

/// The counters behind the figures.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(super) shards: AtomicUsize,
    pub(super) takeovers: AtomicU64,
    pub(super) fenced: AtomicU64,
    pub(super) cut_offs: AtomicU64,
    pub(super) unanswered: AtomicU64,
    pub(super) relayed: AtomicUsize,
    pub(super) relayed_bytes: AtomicU64,
    pub(super) forwarded: AtomicU64,
    pub(super) not_forwarded: AtomicU64,
    /// True while the engine does not answer.
    pub(super) is_cut_off: AtomicBool,
    /// How long the engine took to append.
    pub(crate) appends: Times,
}

impl Counters {
    pub(crate) fn figures(&self) -> ClusterFigures {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let [shards, relayed] =
            [&self.shards, &self.relayed].map(|count| count.load(Ordering::Relaxed));
        ClusterFigures {
            shards,
            takeovers: read(&self.takeovers),
            fenced: read(&self.fenced),
            cut_offs: read(&self.cut_offs),
            unanswered: read(&self.unanswered),
            relayed,
            relayed_bytes: read(&self.relayed_bytes),
            forwarded: read(&self.forwarded),
            not_forwarded: read(&self.not_forwarded),
        }
    }

    /// True while the engine does not answer, so that the server is of no use to new clients.
    pub(crate) fn is_cut_off(&self) -> bool {
        self.is_cut_off.load(Ordering::Relaxed)
    }
}

/// Counts one more.
pub(super) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
