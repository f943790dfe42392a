//! The newest transactions of the log, in the order of their positions, and the snapshot that replaces older ones.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::message::{Message, Transaction};
use crate::{ChannelNo, Counter, Limits, Order, ParticipantId, Position};

/// The number of transactions that are kept although a snapshot covers them, so that a participant that comes back
/// after a short break is sent the missing part of the log instead of the snapshot.
const KEPT_BEHIND_SNAPSHOT: u64 = 256;

/// The application's state after the transaction at `as_of`. It replaces all transactions up to there.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::room) struct Snapshot {
    pub(in crate::room) as_of: Position,
    pub(in crate::room) bytes: Vec<u8>,
    /// For each participant that sent transactions up to `as_of`, the counter of its last one of these. Empty in a room that
    /// is not stored, whose log knows the later ones.
    pub(in crate::room) counters: BTreeMap<ParticipantId, Counter>,
}

#[derive(Debug)]
pub(super) struct Transactions {
    window: VecDeque<Transaction>,
    bytes: usize,
    /// For each channel, the position of its newest transaction that is no longer in memory.
    trimmed: BTreeMap<ChannelNo, Position>,
    /// Bytes of the transactions that the snapshot does not cover.
    uncovered_bytes: usize,
    /// The position of the last transaction.
    head: Position,
    snapshot: Option<Arc<Snapshot>>,
    /// In a stored room, the transactions up to this position are durable. `None` in a room that is not stored: there, all
    /// transactions may go to the participants at once.
    durable: Option<Position>,
    /// Bytes of the transactions that are not durable yet.
    volatile_bytes: usize,
}

impl Transactions {
    pub(super) fn new() -> Self {
        Transactions {
            window: VecDeque::new(),
            bytes: 0,
            trimmed: BTreeMap::new(),
            uncovered_bytes: 0,
            head: Position(0),
            snapshot: None,
            durable: None,
            volatile_bytes: 0,
        }
    }

    /// The transactions up to this position may go to the participants.
    pub(super) fn durable(&self) -> Position {
        self.durable.unwrap_or(self.head)
    }

    /// True if the transactions are stored.
    pub(super) fn is_stored(&self) -> bool {
        self.durable.is_some()
    }

    /// Notes that the transactions up to `position` are durable.
    pub(super) fn set_durable(&mut self, position: Position) {
        debug_assert!(position <= self.head, "what does not exist is not durable");
        self.durable = Some(position);
        self.volatile_bytes = self.after(position).map(|later| later.message.cost()).sum();
    }

    /// Bytes of the transactions that are not durable yet.
    pub(super) fn volatile_bytes(&self) -> usize {
        self.volatile_bytes
    }

    /// An empty window whose first transaction will come after position `head`. `trimmed`: for each channel, the
    /// position of its last transaction up to `head`.
    pub(super) fn after_position(
        head: Position,
        trimmed: BTreeMap<ChannelNo, Position>,
        uncovered_bytes: usize,
    ) -> Self {
        Transactions { head, trimmed, uncovered_bytes, ..Transactions::new() }
    }

    /// An empty window of a stored log, whose first transaction will come after position `head`.
    pub(super) fn stored(head: Position) -> Self {
        Transactions { head, durable: Some(head), ..Transactions::new() }
    }

    pub(super) fn head(&self) -> Position {
        self.head
    }

    /// The oldest transaction in memory is the one after this position.
    pub(super) fn tail(&self) -> Position {
        Position(self.head.get() - self.window.len() as u64)
    }

    /// The position of the channel's newest transaction that is no longer in memory; 0 if all are still in memory.
    pub(super) fn trimmed(&self, channel: ChannelNo) -> Position {
        self.trimmed.get(&channel).copied().unwrap_or_default()
    }

    pub(super) fn trimmed_channels(&self) -> &BTreeMap<ChannelNo, Position> {
        &self.trimmed
    }

    pub(super) fn uncovered_bytes(&self) -> usize {
        self.uncovered_bytes
    }

    pub(super) fn snapshot(&self) -> Option<&Arc<Snapshot>> {
        self.snapshot.as_ref()
    }

    /// Appends a transaction and returns its position.
    pub(super) fn push(
        &mut self,
        order: Order,
        message: Message,
        counter: Counter,
        limits: &Limits,
    ) -> Position {
        let cost = message.cost();
        self.uncovered_bytes += cost;
        let position = self.insert(order, message, counter);
        if self.is_stored() {
            // Nothing is dropped that no snapshot covers: at the limit the room takes no transactions instead.
            self.volatile_bytes += cost;
            return position;
        }
        while self.bytes > limits.max_log_bytes {
            self.drop_front();
        }
        position
    }

    /// Appends a transaction without adding its bytes to `uncovered_bytes`: a restored log has them in that sum
    /// already.
    pub(super) fn insert(&mut self, order: Order, message: Message, counter: Counter) -> Position {
        debug_assert!(
            self.window.back().is_none_or(|last| last.order < order),
            "orders grow with positions"
        );
        self.head = self.head.next();
        self.bytes += message.cost();
        self.window.push_back(Transaction { message, counter, position: self.head, order });
        self.head
    }

    /// Appends a transaction that a store had. `is_uncovered`: no snapshot covers it.
    pub(super) fn insert_stored(
        &mut self,
        order: Order,
        message: Message,
        counter: Counter,
        is_uncovered: bool,
    ) {
        self.uncovered_bytes += if is_uncovered { message.cost() } else { 0 };
        self.insert(order, message, counter);
    }

    fn drop_front(&mut self) {
        if let Some(dropped) = self.window.pop_front() {
            self.bytes -= dropped.message.cost();
            self.trimmed.insert(dropped.message.channel, dropped.position);
        }
    }

    /// The transactions in memory after `position`, oldest first.
    pub(super) fn after(&self, position: Position) -> impl Iterator<Item = &Transaction> {
        let skip = position.get().saturating_sub(self.tail().get()).min(self.window.len() as u64);
        self.window.range(skip as usize..)
    }

    /// The number of this sender's transactions in memory after `position`.
    pub(super) fn count_after(&self, position: Position, sender: ParticipantId) -> u32 {
        self.after(position).filter(|later| later.message.sender == sender).count() as u32
    }

    /// True if enough transactions came since the last snapshot that a new snapshot is worth its upload
    /// ([`Limits::snapshot_after`]).
    pub(super) fn wants_snapshot(&self, limits: &Limits) -> bool {
        let as_of = self.snapshot.as_ref().map_or(Position(0), |snapshot| snapshot.as_of);
        let uncovered = self.head.get() - as_of.min(self.head).get();
        uncovered > 0
            && (uncovered >= limits.snapshot_after as u64
                || self.uncovered_bytes >= limits.snapshot_after_bytes)
    }

    /// Stores a snapshot and drops the transactions that it covers, except for the last [`KEPT_BEHIND_SNAPSHOT`].
    pub(super) fn set_snapshot(&mut self, snapshot: Snapshot) {
        let as_of = snapshot.as_of;
        self.snapshot = Some(Arc::new(snapshot));
        while self.tail().get() + KEPT_BEHIND_SNAPSHOT < as_of.get() && !self.window.is_empty() {
            self.drop_front();
        }
        let uncovered = self.after(as_of).map(|transaction| transaction.message.cost());
        self.uncovered_bytes = uncovered.sum();
    }

    /// Stores the snapshot of a log that is being restored. Drops no transactions.
    pub(super) fn restore_snapshot(&mut self, snapshot: Snapshot) {
        self.snapshot = Some(Arc::new(snapshot));
    }

    /// Bytes of memory that the transactions and the snapshot take, about.
    pub(super) fn memory(&self) -> usize {
        self.bytes + self.snapshot.as_ref().map_or(0, |snapshot| snapshot.bytes.len())
    }
}
