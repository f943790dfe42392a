//! The awareness values of the log: the newest value of each key, and aggregated values that slow
//! receivers have not been sent yet.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::time::Duration;

use super::message::{Message, Value};
use crate::latest::Latest;
use crate::{ChannelNo, Limits, Order, Overflow, ParticipantId, Qos};

/// How long a value with an expiry time is kept at most for receivers that have not been sent it. A
/// shorter deadline of the channel counts instead.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Each sender's values may take a quarter (1 / `SHARES`) of the memory for awareness, so that a
/// sender of many values does not displace those of the others.
const SHARES: usize = 4;

/// The number and the memory of one sender's values.
#[derive(Debug, Default, Clone, Copy)]
struct Held {
    values: usize,
    bytes: usize,
    /// All values of this sender have a later order, so the search for its oldest value begins
    /// here.
    after: Order,
}

type Key = (ChannelNo, ParticipantId, Box<[u8]>);

#[derive(Debug)]
pub(super) struct Values {
    latest: Latest<Key, Value>,
    bytes: usize,
    held: BTreeMap<ParticipantId, Held>,
    /// The number of values with an expiry time that were dropped because of the memory limits,
    /// before every receiver was sent them.
    expired: u64,
}

impl Values {
    pub(super) fn new() -> Self {
        Values { latest: Latest::new(), bytes: 0, held: BTreeMap::new(), expired: 0 }
    }

    /// Adds a value at this order. Returns true if it replaced an older value of its key. If
    /// `pairs` is given, up to two values of each key are kept among the values after that order.
    pub(super) fn push(
        &mut self,
        now: Duration,
        order: Order,
        qos: &Qos,
        mut value: Value,
        pairs: Option<Order>,
        limits: &Limits,
    ) -> bool {
        let key = (qos.overflow == Overflow::Conflate).then(|| key_of(&value.message));
        let until = now + qos.deadline.map_or(LONGEST_WAIT, |deadline| deadline.min(LONGEST_WAIT));
        value.expires = key.is_none().then_some(until);
        value.is_second = key.as_ref().zip(pairs).is_some_and(|(key, pairs)| {
            let older = self.latest.newest(key).filter(|order| *order > pairs);
            older.is_some_and(|older| self.keep_beside(older, until))
        });
        let sender = value.message.sender;
        let conflated = self.insert(order, key, value);
        self.enforce(sender, limits);
        conflated
    }

    fn insert(&mut self, order: Order, key: Option<Key>, value: Value) -> bool {
        self.count(&value, true);
        let replaced = self.latest.push(order, key, value);
        let conflated = replaced.is_some();
        if let Some(replaced) = replaced {
            self.count(&replaced, false);
        }
        conflated
    }

    /// Keeps the value at this order until the time `until`, beside a newer value that would
    /// replace it. Returns false and does nothing if the value itself was already kept beside an
    /// older one.
    fn keep_beside(&mut self, order: Order, until: Duration) -> bool {
        if self.latest.get(order).is_none_or(|older| older.is_second) {
            return false;
        }
        if let Some(older) = self.latest.detach(order) {
            older.expires = Some(until);
        }
        true
    }

    /// Drops the oldest values until the values of `sender`, and those of all senders together, are
    /// within the limits.
    fn enforce(&mut self, sender: ParticipantId, limits: &Limits) {
        let share = limits.max_awareness_bytes / SHARES;
        while self.held(sender).bytes > share || self.held(sender).values > limits.max_keys {
            let after = self.held(sender).after;
            let dropped = self.drop_oldest(after, |value| value.message.sender == sender);
            if let Some(held) = self.held.get_mut(&sender) {
                held.after = dropped;
            }
        }
        while self.bytes > limits.max_awareness_bytes {
            self.drop_oldest(Order(0), |_| true);
        }
    }

    /// Drops the oldest value after this order for which `which` holds, and returns its order.
    fn drop_oldest(&mut self, after: Order, which: impl Fn(&Value) -> bool) -> Order {
        let found = self.latest.after(after).find(|(_, value)| which(value));
        let order = found.map_or(after, |(order, _)| order);
        if let Some(dropped) = self.latest.remove(order) {
            self.count(&dropped, false);
            self.expired += u64::from(dropped.expires.is_some());
        }
        order
    }

    fn held(&self, sender: ParticipantId) -> Held {
        self.held.get(&sender).copied().unwrap_or_default()
    }

    /// Updates the sums when a value is added (`comes`) or removed.
    fn count(&mut self, value: &Value, comes: bool) {
        let (sender, cost) = (value.message.sender, value.message.cost());
        let held = self.held.entry(sender).or_default();
        if comes {
            held.values += 1;
            held.bytes += cost;
            self.bytes += cost;
            return;
        }
        held.values -= 1;
        held.bytes -= cost;
        self.bytes -= cost;
        if held.values == 0 {
            debug_assert_eq!(held.bytes, 0, "a sender without values holds no bytes");
            self.held.remove(&sender);
        }
    }

    pub(super) fn get(&self, order: Order) -> Option<&Value> {
        self.latest.get(order)
    }

    /// The values after this order, oldest first.
    pub(super) fn after(&self, order: Order) -> impl Iterator<Item = (Order, &Value)> {
        self.latest.after(order)
    }

    /// Drops the values with an expiry time that have expired or that every receiver was sent:
    /// these have at most the order `sent`.
    pub(super) fn expire(&mut self, now: Duration, sent: Order) {
        self.drop_if(|order, value| {
            value.expires.is_some_and(|expires| order <= sent || now >= expires)
        });
    }

    /// Drops the values of a participant that left.
    pub(super) fn forget(&mut self, sender: ParticipantId) {
        self.drop_if(|_, value| value.message.sender == sender);
    }

    /// Drops the values of the channels that `is_reset` names.
    pub(super) fn reset(&mut self, is_reset: impl Fn(ChannelNo) -> bool) {
        self.drop_if(|_, value| is_reset(value.message.channel));
    }

    fn drop_if(&mut self, goes: impl Fn(Order, &Value) -> bool) {
        let gone = self.latest.after(Order(0)).filter(|(order, value)| goes(*order, value));
        let gone: Vec<Order> = gone.map(|(order, _)| order).collect();
        for order in gone {
            if let Some(value) = self.latest.remove(order) {
                self.count(&value, false);
            }
        }
    }

    /// True if there is a value without an expiry time.
    pub(super) fn have_lasting(&self) -> bool {
        self.latest.after(Order(0)).any(|(_, value)| value.expires.is_none())
    }

    pub(super) fn expired(&self) -> u64 {
        self.expired
    }

    /// Bytes of memory that the values take, about.
    pub(super) fn memory(&self) -> usize {
        self.bytes
    }
}

fn key_of(message: &Message) -> Key {
    (message.channel, message.sender, message.key.clone().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Counter, Index};

    fn value(sender: u32, key: u32, index: u32) -> Value {
        let message = Message {
            channel: ChannelNo(1),
            sender: ParticipantId(sender),
            key: Some(key.to_le_bytes().into()),
            priority: None,
            departed: None,
            to: None,
            text: false,
            piece: Default::default(),
            bytes: Box::default(),
            born: Duration::ZERO,
        };
        Value::new(message, Index(index), Counter(0))
    }

    #[test]
    fn a_sender_at_its_limit_loses_its_oldest_value_and_no_other_sender_does() {
        let limits = Limits { max_keys: 3, ..Limits::default() };
        let mut values = Values::new();
        let mut order = Order(0);
        let mut push = |values: &mut Values, value: Value| {
            order = order.next();
            values.push(Duration::ZERO, order, &Qos::awareness(), value, None, &limits);
        };
        for nth in 0..1000 {
            for sender in [1, 2] {
                // The first sender uses the same three keys again and again, the second sender a
                // new key for each value.
                let key = if sender == 1 { nth % 3 } else { nth };
                push(&mut values, value(sender, key, nth));
            }
            let held_of = |sender: u32| {
                let all = values.after(Order(0)).map(|(_, one)| one);
                let own = all.filter(move |one| one.message.sender == ParticipantId(sender));
                own.map(|one| one.index.get()).collect::<Vec<u32>>()
            };
            let last: Vec<u32> = (nth.saturating_sub(2)..=nth).collect();
            assert_eq!((held_of(1), held_of(2)), (last.clone(), last));
        }
        values.forget(ParticipantId(2));
        assert_eq!(values.held(ParticipantId(2)).values, 0);
        (0..9).for_each(|key| push(&mut values, value(2, key, key)));
        assert_eq!(values.held(ParticipantId(2)).values, 3);
    }

    #[test]
    fn two_values_of_a_key_stay_beside_each_other_if_asked() {
        let (qos, limits) = (Qos::awareness(), Limits::default());
        let mut values = Values::new();
        let mut push = |nth: u64, pairs: Option<u64>| {
            let now = Duration::from_millis(nth);
            let pairs = pairs.map(Order);
            values.push(now, Order(nth), &qos, value(1, 7, nth as u32), pairs, &limits);
            values.after(Order(0)).map(|(_, one)| one.index.get()).collect::<Vec<u32>>()
        };
        assert_eq!(push(1, Some(0)), [1]);
        assert_eq!(push(2, Some(0)), [1, 2]);
        // A third one replaces the second.
        assert_eq!(push(3, Some(0)), [1, 3]);
        // A value up to the order `pairs` (sent at a tick) is replaced.
        assert_eq!(push(4, Some(3)), [1, 4]);
        assert_eq!(push(5, Some(3)), [1, 4, 5]);
        assert_eq!(push(6, None), [1, 4, 6]);
        // A value that was kept beside a newer one is dropped once every receiver was sent it, so
        // late joiners do not get it.
        values.expire(Duration::from_millis(10), Order(6));
        let left: Vec<u32> = values.after(Order(0)).map(|(_, one)| one.index.get()).collect();
        assert_eq!(left, [6]);
        assert_eq!(values.held(ParticipantId(1)).values, 1);
    }
}
