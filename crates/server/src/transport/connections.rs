//! The number of connections over all transports, which has a limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use groupwire_session::Error;

use crate::figures::events::Events;

/// See the [module](self).
pub(crate) struct Connections {
    limit: usize,
    open: AtomicUsize,
    /// Connections that have ended since the start.
    ended: AtomicU64,
    events: Arc<Events>,
}

impl Connections {
    pub(crate) fn new(limit: usize, events: Arc<Events>) -> Self {
        Connections { limit, open: AtomicUsize::new(0), ended: AtomicU64::new(0), events }
    }

    /// The most connections at the same time.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// The number of open connections.
    pub(crate) fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    /// The number of connections that have ended since the start.
    pub(crate) fn ended(&self) -> u64 {
        self.ended.load(Ordering::Relaxed)
    }

    /// True if the server takes no further connection. The refused connection is counted.
    pub(crate) fn refuse(&self) -> bool {
        let is_full = self.open() >= self.limit;
        if is_full {
            self.events.refusals.count(&Error::TooMany { what: "connections", limit: self.limit });
        }
        is_full
    }

    /// Counts a connection over this transport until the result is dropped.
    pub(crate) fn count(self: &Arc<Self>, transport: &'static str) -> Counted {
        self.open.fetch_add(1, Ordering::Relaxed);
        if let Some(count) = self.events.connections.of(transport) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        Counted { connections: Arc::clone(self), transport }
    }
}

/// A connection that is counted until this is dropped.
pub(crate) struct Counted {
    connections: Arc<Connections>,
    transport: &'static str,
}

impl Drop for Counted {
    fn drop(&mut self) {
        let Connections { open, ended, events, .. } = &*self.connections;
        let were_open = open.fetch_sub(1, Ordering::Relaxed);
        debug_assert!(were_open > 0, "each connection is counted once, and leaves once");
        ended.fetch_add(1, Ordering::Relaxed);
        if let Some(count) = events.connections.of(self.transport) {
            let were_open = count.fetch_sub(1, Ordering::Relaxed);
            debug_assert!(were_open > 0, "each connection leaves the transport that it came over");
        }
    }
}
