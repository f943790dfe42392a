//! The newest transactions of the log, in the order of their positions, and the parts of the
//! snapshot that replace older ones.
//!
//! A part stands for the transactions of some channels, so the transactions in memory are not
//! dense: those of one channel may be dropped while older ones of another channel are still needed.

mod copied;

use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::message::{Message, Transaction};
use crate::{ChannelNo, Counter, Limits, Order, ParticipantId, Position};

/// A transaction that a part covers is kept until it is this many positions behind the part, so
/// that a participant that comes back after a short break is sent the missing transactions instead
/// of the part.
const KEPT_BEHIND_PART: u64 = 256;

/// Counters of dropped transactions are searched for senders to forget once there are this many.
const LEAST_SWEPT: usize = 1024;

/// The memory that the counter of a dropped transaction takes, about.
const DROPPED_COST: usize = 32;

/// A named part of the room's snapshot: the application's state of some channels after the
/// transaction at `as_of`. It replaces all transactions of these channels up to there.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::room) struct Part {
    pub(in crate::room) name: String,
    /// The channels, in the order of their numbers. No channel is in two parts of a room.
    pub(in crate::room) channels: Vec<ChannelNo>,
    pub(in crate::room) as_of: Position,
    pub(in crate::room) bytes: Vec<u8>,
    /// For each participant that sent transactions on these channels up to `as_of`, the counter of
    /// its last one of these.
    pub(in crate::room) counters: BTreeMap<ParticipantId, Counter>,
}

impl Part {
    pub(in crate::room) fn has(&self, channel: ChannelNo) -> bool {
        self.channels.binary_search(&channel).is_ok()
    }

    /// Bytes of memory that the part takes, about.
    fn memory(&self) -> usize {
        self.bytes.len() + self.counters.len() * 16
    }
}

/// A reset of channels, as a part of the snapshot that stands for nothing: it lets a store drop the
/// transactions of the channels up to `as_of`, and the part of this name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::room) struct Reset {
    pub(in crate::room) part: String,
    /// The channels, in the order of their numbers.
    pub(in crate::room) channels: Vec<ChannelNo>,
    pub(in crate::room) as_of: Position,
}

/// With the number of a channel behind it, the name under which a store keeps a reset of a channel
/// in no part. No part of a participant has such a name (wire W102).
pub(in crate::room) const RESET_PART: &str = "\0reset ";

/// What is known of one channel's transactions.
#[derive(Debug, Clone, Copy, Default)]
struct Extent {
    /// The position of its newest transaction that is no longer in memory.
    trimmed: Position,
    /// A part stands for its transactions up to this position.
    covered: Position,
    /// Its transactions after `covered`, and their bytes.
    uncovered: u64,
    uncovered_bytes: usize,
    /// The position of its last reset.
    reset: Position,
}

#[derive(Debug)]
pub(super) struct Transactions {
    window: VecDeque<Transaction>,
    bytes: usize,
    extents: BTreeMap<ChannelNo, Extent>,
    /// No channel has a greater [`Extent::trimmed`].
    trimmed: Position,
    /// In a room that is not stored: for each channel and sender, the counter of the last
    /// transaction that was dropped though no part covered it. [`Transactions::forget_dropped`]
    /// bounds it.
    dropped: BTreeMap<(ChannelNo, ParticipantId), Counter>,
    /// The number of entries in `dropped` at which senders are forgotten again.
    sweep_at: usize,
    /// The position of the last transaction.
    head: Position,
    /// The newest part of each name.
    parts: BTreeMap<String, Arc<Part>>,
    /// In a stored room, the transactions up to this position are durable. `None` in a room that is
    /// not stored: there, all transactions may go to the participants at once.
    durable: Option<Position>,
    /// Bytes of the transactions that are not durable yet.
    volatile_bytes: usize,
}

impl Transactions {
    pub(super) fn new() -> Self {
        Transactions {
            window: VecDeque::new(),
            bytes: 0,
            extents: BTreeMap::new(),
            trimmed: Position(0),
            dropped: BTreeMap::new(),
            sweep_at: LEAST_SWEPT,
            head: Position(0),
            parts: BTreeMap::new(),
            durable: None,
            volatile_bytes: 0,
        }
    }

    /// An empty window of a stored log whose last transaction had position `head`.
    pub(super) fn stored(head: Position) -> Self {
        Transactions { head, durable: Some(head), ..Transactions::new() }
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

    pub(super) fn head(&self) -> Position {
        self.head
    }

    /// There is no transaction in memory at or before this position.
    pub(super) fn begin(&self) -> Position {
        let first = self.window.front().map(|first| first.position.get() - 1);
        first.map_or(self.head, Position)
    }

    /// The position of the channel's newest transaction that is no longer in memory; 0 if all are
    /// still in memory.
    pub(super) fn trimmed(&self, channel: ChannelNo) -> Position {
        self.extents.get(&channel).map_or(Position(0), |extent| extent.trimmed)
    }

    /// A part stands for the channel's transactions up to this position, or they were reset.
    pub(super) fn covered(&self, channel: ChannelNo) -> Position {
        self.extents.get(&channel).map_or(Position(0), |extent| extent.covered)
    }

    /// The greatest [`Transactions::trimmed`] of all channels.
    pub(super) fn trimmed_any(&self) -> Position {
        self.trimmed
    }

    /// The number of the channel's transactions that no part covers, and their bytes.
    pub(super) fn uncovered(&self, channel: ChannelNo) -> (u64, usize) {
        let extent = self.extents.get(&channel);
        extent.map_or((0, 0), |extent| (extent.uncovered, extent.uncovered_bytes))
    }

    /// The channels that have transactions which no part covers, with the bytes of these.
    pub(super) fn uncovered_channels(&self) -> impl Iterator<Item = (ChannelNo, usize)> {
        let extents = self.extents.iter().filter(|(_, extent)| extent.uncovered > 0);
        extents.map(|(&channel, extent)| (channel, extent.uncovered_bytes))
    }

    /// The newest part of each name, in the order of their names.
    pub(super) fn parts(&self) -> impl Iterator<Item = &Arc<Part>> {
        self.parts.values()
    }

    pub(super) fn part(&self, name: &str) -> Option<&Arc<Part>> {
        self.parts.get(name)
    }

    /// Appends a transaction, or a piece of one.
    pub(super) fn push(
        &mut self,
        order: Order,
        message: Message,
        counter: Counter,
        limits: &Limits,
    ) {
        let cost = message.cost();
        let position = self.head.next();
        self.insert(Transaction { message, counter, position, order });
        if self.is_stored() {
            // A stored room drops only transactions that a part covers: at the limit it takes no
            // transactions instead.
            self.volatile_bytes += cost;
            return;
        }
        while self.bytes > limits.max_log_bytes {
            self.drop_front();
        }
    }

    /// The bytes of the newest transaction, all its pieces together.
    pub(super) fn newest_bytes(&self) -> Vec<u8> {
        let begin = self.window.iter().rposition(|one| one.message.piece.begins());
        let pieces = self.window.range(begin.unwrap_or(0)..);
        pieces.map(|one| &*one.message.bytes).collect::<Vec<_>>().concat()
    }

    /// Adds a transaction behind all others.
    pub(super) fn insert(&mut self, transaction: Transaction) {
        let last = self.window.back();
        debug_assert!(
            last.is_none_or(|last| last.position < transaction.position),
            "positions grow"
        );
        self.head = self.head.max(transaction.position);
        let (cost, channel) = (transaction.message.cost(), transaction.message.channel);
        self.bytes += cost;
        let extent = self.extents.entry(channel).or_default();
        if transaction.position > extent.covered {
            extent.uncovered += 1;
            extent.uncovered_bytes += cost;
        }
        self.window.push_back(transaction);
    }

    fn drop_front(&mut self) {
        let Some(front) = self.window.pop_front() else { return };
        let Transaction { message, counter, position, .. } = front;
        self.bytes -= message.cost();
        self.trimmed = self.trimmed.max(position);
        let extent = self.extents.entry(message.channel).or_default();
        extent.trimmed = position;
        if position > extent.covered {
            self.dropped.insert((message.channel, message.sender), counter);
        }
    }

    /// A participant has left. `remembers`: true for participants whose sessions are known. If
    /// there are many counters of dropped transactions, those of other participants are forgotten:
    /// nobody can resume with them. So there are at most twice as many as known sessions and
    /// channels together need, and those of the transactions in memory.
    pub(super) fn forget_dropped(&mut self, remembers: impl Fn(ParticipantId) -> bool) {
        if self.dropped.len() >= self.sweep_at {
            self.dropped.retain(|(_, sender), _| remembers(*sender));
            self.sweep_at = LEAST_SWEPT.max(2 * self.dropped.len());
        }
    }

    /// The transactions in memory after `position`, oldest first.
    pub(super) fn after(&self, position: Position) -> impl Iterator<Item = &Transaction> {
        // Usually the positions in the window have no holes.
        let dense = position.get().saturating_sub(self.begin().get()).min(self.window.len() as u64);
        let is_dense = |at: usize| {
            self.window.get(at).is_none_or(|one| one.position > position)
                && at.checked_sub(1).is_none_or(|at| self.window[at].position <= position)
        };
        let skip = match is_dense(dense as usize) {
            true => dense as usize,
            false => self.window.partition_point(|one| one.position <= position),
        };
        self.window.range(skip..)
    }

    /// The transactions in memory up to `position`, newest first.
    pub(super) fn up_to(&self, position: Position) -> impl Iterator<Item = &Transaction> {
        let end = self.window.partition_point(|one| one.position <= position);
        self.window.range(..end).rev()
    }

    /// The number of this sender's transactions in memory after `position`.
    pub(super) fn count_after(&self, position: Position, sender: ParticipantId) -> u32 {
        self.after(position).filter(|later| later.message.sender == sender).count() as u32
    }

    /// For each participant that sent transactions on these channels up to `as_of`, the counter of
    /// its last one of these.
    pub(super) fn counters_at(
        &self,
        channels: &[ChannelNo],
        as_of: Position,
    ) -> BTreeMap<ParticipantId, Counter> {
        let has = |channel: &ChannelNo| channels.binary_search(channel).is_ok();
        let mut counters = BTreeMap::new();
        let mut note = |sender: ParticipantId, counter: Counter| {
            let known = counters.entry(sender).or_insert(counter);
            *known = counter.max(*known);
        };
        let parts = self.parts.values().filter(|part| part.channels.iter().any(has));
        for (&sender, &counter) in parts.flat_map(|part| &part.counters) {
            note(sender, counter);
        }
        for ((_, sender), &counter) in self.dropped.iter().filter(|((channel, _), _)| has(channel))
        {
            note(*sender, counter);
        }
        let covered = self.window.iter().take_while(|one| one.position <= as_of);
        for one in covered.filter(|one| has(&one.message.channel)) {
            note(one.message.sender, one.counter);
        }
        counters
    }

    /// Keeps a part, which replaces the one of its name, and drops the transactions that it covers,
    /// except for the newest of them ([`KEPT_BEHIND_PART`]).
    pub(super) fn set_part(&mut self, part: Part) {
        let part = Arc::new(part);
        self.parts.insert(part.name.clone(), Arc::clone(&part));
        self.dropped.retain(|(channel, _), _| !part.has(*channel));
        let mut extents: Vec<_> = part.channels.iter().map(|_| Extent::default()).collect();
        for (extent, channel) in extents.iter_mut().zip(&part.channels) {
            *extent = Extent {
                trimmed: self.trimmed(*channel),
                covered: part.as_of,
                reset: self.last_reset(*channel),
                ..Extent::default()
            };
        }
        let kept = self.begin_of_kept(part.as_of);
        let Transactions { window, bytes, trimmed, .. } = self;
        window.retain(|one| {
            let Ok(place) = part.channels.binary_search(&one.message.channel) else { return true };
            let (extent, cost) = (&mut extents[place], one.message.cost());
            if one.position > part.as_of {
                extent.uncovered += 1;
                extent.uncovered_bytes += cost;
            }
            let is_kept = one.position >= kept;
            if !is_kept {
                *bytes -= cost;
                extent.trimmed = one.position;
                *trimmed = one.position.max(*trimmed);
            }
            is_kept
        });
        self.extents.extend(part.channels.iter().copied().zip(extents));
    }

    /// The position from which on transactions are kept though a part covers them up to `as_of`.
    /// All pieces of a transaction are kept, or none.
    fn begin_of_kept(&self, as_of: Position) -> Position {
        let first = Position((as_of.get() + 1).saturating_sub(KEPT_BEHIND_PART));
        let mut at = self.window.partition_point(|one| one.position < first);
        if self.window.get(at).is_none_or(|one| one.message.piece.begins()) {
            return first;
        }
        while at > 0 && !self.window[at].message.piece.begins() {
            at -= 1;
        }
        self.window[at].position
    }

    /// Keeps a part of a stored log, before its transactions are inserted.
    pub(super) fn restore_part(&mut self, part: Part) {
        self.head = self.head.max(part.as_of);
        for &channel in &part.channels {
            self.cover(channel, part.as_of);
        }
        self.trimmed = self.trimmed.max(part.as_of);
        self.parts.insert(part.name.clone(), Arc::new(part));
    }

    /// Keeps a reset of a stored log, before its transactions are inserted.
    pub(super) fn restore_reset(&mut self, channels: &[ChannelNo], as_of: Position) {
        for &channel in channels {
            self.cover(channel, as_of);
            self.extents.entry(channel).or_default().reset = as_of;
        }
        self.trimmed = self.trimmed.max(as_of);
    }

    /// A channel's transactions up to here are not in memory, and are not needed.
    fn cover(&mut self, channel: ChannelNo, as_of: Position) {
        let extent = self.extents.entry(channel).or_default();
        extent.trimmed = extent.trimmed.max(as_of);
        extent.covered = extent.covered.max(as_of);
    }

    /// The position of the channel's last reset; 0 without one.
    pub(super) fn last_reset(&self, channel: ChannelNo) -> Position {
        self.extents.get(&channel).map_or(Position(0), |extent| extent.reset)
    }

    /// Drops all transactions of the channels up to the positions given, and the parts of these
    /// channels. All channels of a part are reset together. Returns what a store has to keep of it.
    pub(super) fn reset(&mut self, resets: &BTreeMap<ChannelNo, Position>) -> Vec<Reset> {
        let is_reset =
            |part: &Part| part.channels.iter().any(|channel| resets.contains_key(channel));
        let (gone, kept): (BTreeMap<_, _>, _) =
            core::mem::take(&mut self.parts).into_iter().partition(|(_, part)| is_reset(part));
        self.parts = kept;
        let mut kept_of_reset: Vec<Reset> = gone
            .into_iter()
            .map(|(part, gone)| {
                let channels = gone.channels.clone();
                let last = channels.iter().filter_map(|channel| resets.get(channel)).max();
                Reset { part, channels, as_of: last.copied().unwrap_or_default() }
            })
            .collect();
        for (&channel, &as_of) in resets {
            if kept_of_reset.iter().all(|one| !one.channels.contains(&channel)) {
                let part = [RESET_PART, &channel.to_string()].concat();
                kept_of_reset.push(Reset { part, channels: [channel].into(), as_of });
            }
            self.dropped.retain(|(other, _), _| *other != channel);
            self.extents.insert(channel, Extent::default());
            self.restore_reset(&[channel], as_of);
        }
        let Transactions { window, bytes, extents, .. } = self;
        window.retain(|one| {
            let channel = one.message.channel;
            let Some(as_of) = resets.get(&channel) else { return true };
            let cost = one.message.cost();
            let is_kept = one.position > *as_of;
            match extents.get_mut(&channel) {
                Some(extent) if is_kept => {
                    extent.uncovered += 1;
                    extent.uncovered_bytes += cost;
                }
                _ => *bytes -= cost,
            }
            is_kept
        });
        kept_of_reset
    }

    /// Bytes of memory that the transactions and the parts take, about.
    pub(super) fn memory(&self) -> usize {
        let parts: usize = self.parts.values().map(|part| part.memory()).sum();
        self.bytes + parts + self.dropped.len() * DROPPED_COST
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::super::Log;
    use super::*;
    use crate::Qos;
    use crate::wire::piece::Piece;

    /// A transaction of this participant on the first channel.
    fn said(sender: u32, piece: Piece) -> Message {
        Message {
            channel: ChannelNo(1),
            sender: ParticipantId(sender),
            key: None,
            priority: None,
            departed: None,
            to: None,
            text: false,
            piece,
            bytes: [7].into(),
            born: Duration::ZERO,
        }
    }

    #[test]
    fn participants_who_write_once_and_leave_take_no_memory_for_ever() {
        const MOST: usize = 1 << 17;
        let limits = Limits { max_log_bytes: 10_000, max_former: 100, ..Limits::default() };
        let mut log = Log::new(1, limits);
        log.add_channel("draw", Qos::transaction());
        for _ in 0..20_000 {
            let author = log.begin_session();
            log.append(said(author.get(), Piece::Whole), Counter(1));
            log.end_session(author, 0);
            assert!(log.memory() < MOST, "{} bytes after {author}", log.memory());
        }
        // The counters of those who can resume are known.
        let last = log.last_participant();
        assert!(log.set_part("part", &[ChannelNo(1)], log.head(), Vec::new()));
        let part = log.parts().next().unwrap();
        let oldest = ParticipantId(last.get() - 99);
        assert_eq!(part.counters.keys().copied().min(), Some(oldest));
        assert_eq!(part.counters.len(), 100);
    }

    #[test]
    fn w97_behind_a_part_all_pieces_of_a_transaction_are_kept_or_none() {
        // The transaction of the positions 41 to 48 lies at the border for parts up to 299.
        let mut transactions = Transactions::stored(Position(0));
        for at in 1..=600 {
            let piece = Piece::new(!(42..=48).contains(&at), (41..=47).contains(&at));
            let message = said(1, piece);
            transactions.push(Order(at), message, Counter(at as u32), &Limits::default());
        }
        transactions.set_durable(Position(600));
        for (as_of, first) in [(295, 40), (296, 41), (297, 41), (303, 41), (304, 49)] {
            let (name, channels) = (String::from("part"), [ChannelNo(1)].into());
            let (as_of, bytes, counters) = (Position(as_of), Vec::new(), BTreeMap::new());
            transactions.set_part(Part { name, channels, as_of, bytes, counters });
            let kept = transactions.after(Position(0)).next().unwrap().position;
            assert_eq!(kept, Position(first), "a part up to {as_of}");
            assert_eq!(transactions.trimmed(ChannelNo(1)), Position(first - 1));
        }
    }
}
