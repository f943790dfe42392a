//! The options of a store.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::api::OutboxLimits;

/// The time in milliseconds since 1970.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// Quotas, times and the clock of a store.
#[derive(Clone)]
pub struct Options {
    /// Quota of bytes of all rooms. Above 80 % of it only rooms that exist grow.
    pub max_bytes: u64,
    /// Quota of rooms. Above 80 % of `max_bytes` or of this number no room is created.
    pub max_rooms: usize,
    /// Quota of bytes of one room. History is given up before an append is refused because of it.
    pub max_room_bytes: u64,
    /// How long the snapshot before the newest one and the log behind it are kept.
    pub history: Duration,
    /// Bytes that the files may have beyond twice the live bytes.
    pub slack: u64,
    /// A checkpoint follows when about this many bytes were written to the write-ahead log. It
    /// takes time in which no commit happens, so it is small.
    pub checkpoint: u64,
    /// The least time between two commits of appends, so that more of them share a commit, which
    /// costs more processor time than a record. An append that comes later than this after the last
    /// commit is stored at once. Zero stores everything at once.
    pub gather: Duration,
    /// The limits of the outbox; `None`: there is none, and events that waited in it are dropped.
    pub outbox: Option<OutboxLimits>,
    /// True if the store is a cache of logs that several servers share, which
    /// [`Replica::apply`](crate::Replica::apply) changes and nothing else. Its commits are not
    /// synced: after a power cut its rooms and cursors are those of an earlier moment.
    pub is_cache: bool,
    /// The clock, in milliseconds since 1970. Tests set it; servers leave it as it is.
    pub clock: Clock,
    /// The name of the SQLite VFS that reads and writes the files; `None` is the system's. Tests
    /// put a simulated disk here.
    pub vfs: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_bytes: 10 << 30,
            max_rooms: 100_000,
            max_room_bytes: 1 << 30,
            history: Duration::from_secs(24 * 60 * 60),
            slack: 128 << 20,
            checkpoint: 4 << 20,
            gather: Duration::ZERO,
            outbox: None,
            is_cache: false,
            clock: Arc::new(system_time),
            vfs: None,
        }
    }
}

impl Options {
    /// The time of history in milliseconds.
    pub(crate) fn history_ms(&self) -> u64 {
        u64::try_from(self.history.as_millis()).unwrap_or(u64::MAX)
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("max_bytes", &self.max_bytes)
            .field("max_rooms", &self.max_rooms)
            .field("max_room_bytes", &self.max_room_bytes)
            .field("history", &self.history)
            .field("slack", &self.slack)
            .field("checkpoint", &self.checkpoint)
            .field("gather", &self.gather)
            .field("outbox", &self.outbox)
            .field("is_cache", &self.is_cache)
            .field("vfs", &self.vfs)
            .finish_non_exhaustive()
    }
}

fn system_time() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
