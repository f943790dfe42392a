//! Events for the driver of a cluster, from other tasks and from its own requests.

use groupwire_cluster::{Answer, RequestId};
use groupwire_store::{Change, Done, Error};

/// An event for the driver.
pub(super) enum Event {
    /// A change is to be appended to the log of a shard.
    Change { shard: u16, change: Change, done: Done },
    /// The engine answered.
    Answered(RequestId, Answer),
    /// The local store has applied the oldest record of the shard that waited, or has not.
    Applied(u16, Result<(), Error>),
    /// The oldest record that waited is to be applied again.
    ApplyAgain(u16),
    /// Changes of the shard that were not taken are to be proposed again.
    Propose(u16),
    /// The state of a shard was copied.
    Copied(u16, Result<(groupwire_store::Cursor, Vec<u8>), Error>),
    /// The server stops, and hands its shards over first.
    Drain,
    /// A room of the local store is damaged.
    Damaged(String),
    /// The server has handed its shards over for long enough.
    End(String),
}
