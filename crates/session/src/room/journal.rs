//! What a room keeps: the newest awareness, the log of transactions, a snapshot. There is no mailbox per receiver:
//! a mailbox is a pair of cursors into this, so memory does not grow with slow receivers, and a late joiner is a
//! receiver whose cursors stand at the beginning.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use crate::ids::{ChannelNo, Counter, Index, Order, ParticipantId, Position};
use crate::latest::Latest;
use crate::{Limits, Overflow, Qos};

/// What sender and server know of a message.
#[derive(Debug, Clone)]
pub(super) struct Stored {
    pub(super) channel: ChannelNo,
    pub(super) sender: ParticipantId,
    pub(super) key: Option<Box<[u8]>>,
    pub(super) priority: Option<u8>,
    pub(super) text: bool,
    pub(super) bytes: Box<[u8]>,
    /// When the sending application made it, on the room's clock.
    pub(super) born: Duration,
}

impl Stored {
    /// What it holds on to, with a flat price for the bookkeeping.
    fn cost(&self) -> usize {
        self.bytes.len() + self.key.as_ref().map_or(0, |key| key.len()) + 128
    }
}

#[derive(Debug)]
pub(super) struct Awareness {
    pub(super) message: Stored,
    pub(super) index: Index,
    /// Its sender's last transaction when it was sent.
    pub(super) after: Counter,
    /// Conflated values are kept for late joiners; others go once everybody has them, or at this time.
    pub(super) expires: Option<Duration>,
    /// It stands beside the one that it would have replaced.
    is_second: bool,
}

impl Awareness {
    pub(super) fn new(message: Stored, index: Index, after: Counter) -> Self {
        Awareness { message, index, after, expires: None, is_second: false }
    }
}

#[derive(Debug)]
pub(super) struct Transaction {
    pub(super) message: Stored,
    pub(super) counter: Counter,
    pub(super) position: Position,
    /// Place among awareness and transactions together.
    pub(super) order: Order,
}

/// A state of the application as of a position.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) as_of: Position,
    pub(super) bytes: Vec<u8>,
}

/// How long awareness without a deadline is kept for receivers that have not been sent it.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Transactions kept behind a snapshot, so that a short break is bridged by the log and not by the snapshot.
const KEPT_BEHIND_SNAPSHOT: u64 = 256;

/// Parts of the room's awareness that one sender may take: whoever sends most must not push the others out.
const SHARES: usize = 4;

#[derive(Debug, Default, Clone, Copy)]
struct Held {
    values: usize,
    bytes: usize,
    /// All of it came after this order: whoever is at its limit is not looked for from the beginning each time.
    after: Order,
}

type Key = (ChannelNo, ParticipantId, Box<[u8]>);

pub(super) struct Journal {
    /// The last order given out; awareness and transactions share it.
    order: Order,
    awareness: Latest<Key, Awareness>,
    awareness_bytes: usize,
    /// Aggregated values that nobody was there to be sent in time.
    pub(super) expired: u64,
    log: VecDeque<Transaction>,
    log_bytes: usize,
    /// Of each channel, the last transaction that the log no longer holds.
    trimmed: BTreeMap<ChannelNo, Position>,
    /// Values and bytes of awareness held of each sender.
    held: BTreeMap<ParticipantId, Held>,
    /// Bytes and count of the log that the snapshot does not cover.
    fresh_bytes: usize,
    /// The position of the last transaction.
    head: Position,
    snapshot: Option<Arc<Snapshot>>,
}

impl Journal {
    pub(super) fn new() -> Self {
        Journal {
            order: Order(0),
            awareness: Latest::new(),
            awareness_bytes: 0,
            expired: 0,
            log: VecDeque::new(),
            log_bytes: 0,
            trimmed: BTreeMap::new(),
            held: BTreeMap::new(),
            fresh_bytes: 0,
            head: Position(0),
            snapshot: None,
        }
    }

    pub(super) fn order(&self) -> Order {
        self.order
    }

    pub(super) fn head(&self) -> Position {
        self.head
    }

    /// The oldest transaction still held is the one after this position.
    pub(super) fn tail(&self) -> Position {
        Position(self.head.get() - self.log.len() as u64)
    }

    /// The last transaction of this channel that the log no longer holds; 0 if it holds all.
    pub(super) fn trimmed(&self, channel: ChannelNo) -> Position {
        self.trimmed.get(&channel).copied().unwrap_or_default()
    }

    pub(super) fn snapshot(&self) -> Option<&Arc<Snapshot>> {
        self.snapshot.as_ref()
    }

    /// Takes an awareness value. `true`: it replaced an older one of its key. Of those that came after the order `pairs`, if
    /// there is one, two stay of a key.
    pub(super) fn push_awareness(
        &mut self,
        now: Duration,
        qos: &Qos,
        mut value: Awareness,
        pairs: Option<Order>,
        limits: &Limits,
    ) -> bool {
        self.order = self.order.next();
        let Stored { channel, sender, .. } = value.message;
        let key = (qos.overflow == Overflow::Conflate)
            .then(|| (channel, sender, value.message.key.clone().unwrap_or_default()));
        let until = now + qos.deadline.map_or(LONGEST_WAIT, |deadline| deadline.min(LONGEST_WAIT));
        value.expires = key.is_none().then_some(until);
        value.is_second = key.as_ref().zip(pairs).is_some_and(|(key, pairs)| {
            let older = self.awareness.newest(key).filter(|order| *order > pairs);
            older.is_some_and(|older| self.keep_beside(older, until))
        });
        self.count(&value, true);
        let replaced = self.awareness.push(self.order, key, value);
        let conflated = replaced.is_some();
        if let Some(replaced) = replaced {
            self.count(&replaced, false);
        }
        let share = limits.max_awareness_bytes / SHARES;
        while self.held(sender).bytes > share || self.held(sender).values > limits.max_keys {
            let after = self.held(sender).after;
            let dropped = self.drop_oldest(after, |value| value.message.sender == sender);
            if let Some(held) = self.held.get_mut(&sender) {
                held.after = dropped;
            }
        }
        while self.awareness_bytes > limits.max_awareness_bytes {
            self.drop_oldest(Order(0), |_| true);
        }
        conflated
    }

    /// Lets a value stay for a while beside what would replace it, unless it did so itself.
    fn keep_beside(&mut self, order: Order, until: Duration) -> bool {
        if self.awareness.get(order).is_none_or(|older| older.is_second) {
            return false;
        }
        if let Some(older) = self.awareness.detach(order) {
            older.expires = Some(until);
        }
        true
    }

    /// Drops the oldest value of these that came after this order, and returns its order.
    fn drop_oldest(&mut self, after: Order, of: impl Fn(&Awareness) -> bool) -> Order {
        let found = self.awareness.after(after).find(|(_, value)| of(value));
        let order = found.map_or(after, |(order, _)| order);
        if let Some(dropped) = self.awareness.remove(order) {
            self.count(&dropped, false);
            self.expired += u64::from(dropped.expires.is_some());
        }
        order
    }

    fn held(&self, sender: ParticipantId) -> Held {
        self.held.get(&sender).copied().unwrap_or_default()
    }

    /// Keeps the books when a value comes or goes.
    fn count(&mut self, value: &Awareness, comes: bool) {
        let (sender, cost) = (value.message.sender, value.message.cost());
        let held = self.held.entry(sender).or_default();
        if comes {
            held.values += 1;
            held.bytes += cost;
            self.awareness_bytes += cost;
            return;
        }
        held.values -= 1;
        held.bytes -= cost;
        self.awareness_bytes -= cost;
        if held.values == 0 {
            self.held.remove(&sender);
        }
    }

    /// Appends a transaction and returns its position.
    pub(super) fn push_transaction(
        &mut self,
        message: Stored,
        counter: Counter,
        limits: &Limits,
    ) -> Position {
        self.order = self.order.next();
        self.head = self.head.next();
        let cost = message.cost();
        self.log_bytes += cost;
        self.fresh_bytes += cost;
        let (position, order) = (self.head, self.order);
        self.log.push_back(Transaction { message, counter, position, order });
        while self.log_bytes > limits.max_log_bytes {
            self.drop_front();
        }
        position
    }

    fn drop_front(&mut self) {
        if let Some(dropped) = self.log.pop_front() {
            self.log_bytes -= dropped.message.cost();
            self.trimmed.insert(dropped.message.channel, dropped.position);
        }
    }

    /// Transactions after `position`, oldest first. Ask [`Journal::tail`] first whether all are there.
    pub(super) fn transactions_after(
        &self,
        position: Position,
    ) -> impl Iterator<Item = &Transaction> {
        let skip = position.get().saturating_sub(self.tail().get()).min(self.log.len() as u64);
        self.log.range(skip as usize..)
    }

    pub(super) fn awareness(&self, order: Order) -> Option<&Awareness> {
        self.awareness.get(order)
    }

    pub(super) fn awareness_after(
        &self,
        order: Order,
    ) -> impl Iterator<Item = (Order, &Awareness)> {
        self.awareness.after(order)
    }

    /// Drops aggregated values that everybody was sent (up to `sent`) or that came too late.
    pub(super) fn expire(&mut self, now: Duration, sent: Order) {
        self.drop_if(|order, value| {
            value.expires.is_some_and(|expires| order <= sent || now >= expires)
        });
    }

    /// Somebody left: its awareness goes with it.
    pub(super) fn forget(&mut self, sender: ParticipantId) {
        self.drop_if(|_, value| value.message.sender == sender);
    }

    fn drop_if(&mut self, goes: impl Fn(Order, &Awareness) -> bool) {
        let gone = self.awareness.after(Order(0)).filter(|(order, value)| goes(*order, value));
        let gone: Vec<Order> = gone.map(|(order, _)| order).collect();
        for order in gone {
            if let Some(value) = self.awareness.remove(order) {
                self.count(&value, false);
            }
        }
    }

    /// Whether the log since the last snapshot is long enough to ask for a new one.
    pub(super) fn wants_snapshot(&self, limits: &Limits) -> bool {
        let as_of = self.snapshot.as_ref().map_or(Position(0), |snapshot| snapshot.as_of);
        let fresh = self.head.get() - as_of.min(self.head).get();
        fresh > 0
            && (fresh >= limits.snapshot_after as u64
                || self.fresh_bytes >= limits.snapshot_after_bytes)
    }

    /// Takes a snapshot and drops the log it covers but for a short rest.
    pub(super) fn set_snapshot(&mut self, as_of: Position, bytes: Vec<u8>) {
        self.snapshot = Some(Arc::new(Snapshot { as_of, bytes }));
        while self.tail().get() + KEPT_BEHIND_SNAPSHOT < as_of.get() && !self.log.is_empty() {
            self.drop_front();
        }
        let fresh = self.transactions_after(as_of).map(|transaction| transaction.message.cost());
        self.fresh_bytes = fresh.sum();
    }

    /// What the room holds, in bytes.
    pub(super) fn memory(&self) -> usize {
        let snapshot = self.snapshot.as_ref().map_or(0, |snapshot| snapshot.bytes.len());
        self.awareness_bytes + self.log_bytes + snapshot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(sender: u32, key: u32, index: u32) -> Awareness {
        let message = Stored {
            channel: ChannelNo(1),
            sender: ParticipantId(sender),
            key: Some(key.to_le_bytes().into()),
            priority: None,
            text: false,
            bytes: Box::default(),
            born: Duration::ZERO,
        };
        Awareness::new(message, Index(index), Counter(0))
    }

    #[test]
    fn of_who_holds_too_much_the_oldest_goes_and_nobody_elses() {
        let limits = Limits { max_keys: 3, ..Limits::default() };
        let mut journal = Journal::new();
        for nth in 0..1000 {
            for sender in [1, 2] {
                // One of them uses three keys again and again, the other one always new ones.
                let key = if sender == 1 { nth % 3 } else { nth };
                let (now, qos) = (Duration::ZERO, Qos::awareness());
                journal.push_awareness(now, &qos, value(sender, key, nth), None, &limits);
            }
            let of = |sender: ParticipantId| {
                let all = journal.awareness_after(Order(0)).map(|(_, one)| one);
                let own = all.filter(move |one| one.message.sender == sender);
                own.map(|one| one.index.get()).collect::<Vec<u32>>()
            };
            let last: Vec<u32> = (nth.saturating_sub(2)..=nth).collect();
            assert_eq!((of(ParticipantId(1)), of(ParticipantId(2))), (last.clone(), last));
        }
        journal.forget(ParticipantId(2));
        assert_eq!(journal.held(ParticipantId(2)).values, 0);
        (0..9).for_each(|key| {
            let (now, qos) = (Duration::ZERO, Qos::awareness());
            journal.push_awareness(now, &qos, value(2, key, key), None, &limits);
        });
        assert_eq!(journal.held(ParticipantId(2)).values, 3);
    }

    #[test]
    fn of_a_key_two_values_stay_beside_each_other_if_asked() {
        let (qos, limits) = (Qos::awareness(), Limits::default());
        let mut journal = Journal::new();
        let mut push = |nth: u64, pairs: Option<u64>| {
            let now = Duration::from_millis(nth);
            journal.push_awareness(now, &qos, value(1, 7, nth as u32), pairs.map(Order), &limits);
            journal.awareness_after(Order(0)).map(|(_, one)| one.index.get()).collect::<Vec<u32>>()
        };
        assert_eq!(push(1, Some(0)), [1]);
        assert_eq!(push(2, Some(0)), [1, 2]);
        // A third one replaces the second.
        assert_eq!(push(3, Some(0)), [1, 3]);
        // What a tick has taken is replaced as ever.
        assert_eq!(push(4, Some(3)), [1, 4]);
        assert_eq!(push(5, Some(3)), [1, 4, 5]);
        assert_eq!(push(6, None), [1, 4, 6]);
        // Those that stood beside others go when everybody has them, and are no state.
        journal.expire(Duration::from_millis(10), Order(6));
        let left: Vec<Index> =
            journal.awareness_after(Order(0)).map(|(_, one)| one.index).collect();
        assert_eq!(left, [Index(6)]);
        assert_eq!(journal.held(ParticipantId(1)).values, 1);
    }
}
