//! The account that the driver of a cluster keeps of a shard.

use std::collections::VecDeque;

use groupwire_cluster::{BatchId, Cursor};
use groupwire_store::Done;

use super::queue::Queue;

/// A record, or a base, that waits for the local store.
pub(super) struct Waiting {
    pub(super) cursor: Cursor,
    pub(super) what: What,
    pub(super) own: Option<BatchId>,
}

/// The content of what waits.
pub(super) enum What {
    Changes { time: u64, payload: Vec<u8> },
    Base(Option<Vec<u8>>),
}

/// The driver's account of a shard.
#[derive(Default)]
pub(super) struct Shard {
    pub(super) queue: Queue,
    /// Records that wait for the local store, the oldest first, which is being applied.
    pub(super) waiting: VecDeque<Waiting>,
    /// Answers of the batch that is being applied.
    pub(super) answers: Vec<Done>,
    /// True if this server has the shard.
    pub(super) is_owned: bool,
    /// The last cursor that was applied.
    pub(super) cursor: Cursor,
    /// True while the shard's state is copied for a base.
    pub(super) is_copying: bool,
    /// The number of the record at which the state was copied last. A base may be under way, or may
    /// have been refused, because the shard is too large for one.
    pub(super) copied_at: u64,
}
