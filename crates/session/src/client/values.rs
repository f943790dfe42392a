//! The awareness messages of one channel of a client: those that wait to be sent, and sent values
//! that may have been lost.

use alloc::boxed::Box;
use core::time::Duration;

use super::outbox::Item;
use crate::datagrams::SETTLED_AFTER;
use crate::ids::{Counter, Index, Order};
use crate::latest::Latest;
use crate::trace::Carrier;
use crate::{Error, Limits, Overflow, Qos};

/// If a channel has more keys than this, the client keeps no values that are known to have arrived.
const MOST_ARRIVED: usize = 1024;

/// See the [module](self).
#[derive(Debug)]
pub(super) struct Values {
    /// The newest awareness index used.
    pub(super) index: Index,
    /// Awareness that waits to be sent.
    pub(super) queue: Latest<Box<[u8]>, Item>,
    /// The bytes of memory of `queue`, as [`Item::cost`] counts it.
    queued_bytes: usize,
    /// The newest value sent of each key of a conflated channel, until it is known to have arrived
    /// (W41), and in a stored room also after that: the room loses it when it is loaded again
    /// (W94).
    pub(super) sent: Latest<Box<[u8]>, SentValue>,
}

/// A value of a conflated channel that was sent and may have been lost.
#[derive(Debug)]
pub(super) struct SentValue {
    /// The carrier that it was sent over. A stream loses it only if the transport breaks.
    pub(super) carrier: Carrier,
    /// The transport that carried it, as [`Transports`](super::transports::Transports) counts.
    pub(super) transport: u32,
    pub(super) item: Item,
    pub(super) index: Index,
    /// When it was sent.
    pub(super) sent: Duration,
    /// True once it is known to have arrived. Only a stored room keeps such values.
    pub(super) has_arrived: bool,
}

impl Values {
    pub(super) fn new(index: Index) -> Self {
        Values { index, queue: Latest::new(), queued_bytes: 0, sent: Latest::new() }
    }

    /// True if the queue holds more than half of what the limits permit.
    pub(super) fn is_half_full(&self, limits: &Limits) -> bool {
        self.queue.len() * 2 > limits.max_keys || self.queued_bytes * 2 > limits.max_awareness_bytes
    }

    /// Queues awareness. `Ok(true)`: it replaced an older value.
    ///
    /// # Errors
    /// [`Error::TooMany`] when the queue is full.
    pub(super) fn push(
        &mut self,
        qos: &Qos,
        order: Order,
        item: Item,
        limits: &Limits,
    ) -> Result<bool, Error> {
        let (max_bytes, max_keys) = (limits.max_awareness_bytes, limits.max_keys);
        self.drop_late(qos, item.born);
        let key =
            (qos.overflow == Overflow::Conflate).then(|| item.key.clone().unwrap_or_default());
        let held = key.as_ref().is_some_and(|key| self.queue.holds(key));
        let is_full = |values: &Self| {
            let too_many = !held && values.queue.len() >= max_keys;
            too_many || values.queued_bytes + item.cost() > max_bytes
        };
        while is_full(self) && !self.queue.is_empty() {
            match qos.overflow {
                // The value that waited longest is dropped: only the newest values matter.
                Overflow::Conflate => drop(self.pop()),
                Overflow::Aggregate => {
                    return Err(Error::TooMany { what: "messages in a channel", limit: max_keys });
                }
            }
        }
        self.queued_bytes += item.cost();
        let replaced = self.queue.push(order, key, item);
        if let Some(replaced) = &replaced {
            self.queued_bytes -= replaced.cost();
        }
        Ok(replaced.is_some())
    }

    fn pop(&mut self) -> Option<Item> {
        self.pop_with_order().map(|(_, item)| item)
    }

    /// Removes and returns the waiting message with this order number.
    fn take(&mut self, order: Order) -> Option<Item> {
        let item = self.queue.remove(order)?;
        self.queued_bytes -= item.cost();
        Some(item)
    }

    /// Takes the awareness message with this order number, to send it: a waiting one, which gets
    /// the next index, or one that is settled.
    pub(super) fn take_value(&mut self, order: Order, is_settled: bool) -> Option<(Item, Index)> {
        if is_settled {
            return self.sent.remove(order).map(|value| (value.item, value.index));
        }
        let item = self.take(order)?;
        self.index = Index(self.index.get().wrapping_add(1));
        Some((item, self.index))
    }

    /// Keeps a value that was sent until it is known to have arrived, if the channel conflates.
    pub(super) fn keep_sent(&mut self, qos: &Qos, order: Order, value: SentValue) {
        if qos.overflow == Overflow::Conflate {
            let key = value.item.key.clone().unwrap_or_default();
            self.sent.push(order, Some(key), value);
        }
    }

    /// Notes that the values that were sent over the stream of `transport` before the time `sent`
    /// have arrived, and forgets them unless `keeps`. Values of an earlier transport may have to be
    /// sent again.
    pub(super) fn arrived(&mut self, transport: u32, sent: Duration, keeps: bool) {
        for value in self.sent.values_mut() {
            value.has_arrived |= value.carrier == Carrier::Stream
                && value.transport == transport
                && value.sent < sent;
        }
        let keeps = keeps && self.sent.len() <= MOST_ARRIVED;
        self.sent.retain(|_, value| keeps || !value.has_arrived);
    }

    /// Lets all values that have arrived be sent again, because the room lost them (W94).
    pub(super) fn restate(&mut self) {
        for value in self.sent.values_mut().filter(|value| value.has_arrived) {
            // No transport has the number 0, so the value is sent again like values of an earlier
            // transport.
            (value.has_arrived, value.transport) = (false, 0);
        }
    }

    /// The sent values that are not known to have arrived.
    pub(super) fn unconfirmed(&self) -> impl Iterator<Item = (Order, &SentValue)> {
        self.sent.after(Order(0)).filter(|(_, value)| !value.has_arrived)
    }

    /// The values to send again over the stream of this transport: values that an earlier transport
    /// may have lost, and values that were sent as a datagram and were the newest of their key for
    /// [`SETTLED_AFTER`].
    pub(super) fn settled(
        &self,
        now: Duration,
        transport: u32,
        has_datagrams: bool,
    ) -> impl Iterator<Item = Order> {
        let settled = self.unconfirmed().filter(move |(_, value)| match value.carrier {
            Carrier::Stream => value.transport != transport,
            Carrier::Datagrams => !has_datagrams || value.sent + SETTLED_AFTER <= now,
        });
        settled.map(|(order, _)| order)
    }

    /// Counts the indices from 1 again, those of sent values too, because the session is a new one.
    /// `before` returns how many of the transactions that will get new numbers were submitted
    /// before the given order number.
    pub(super) fn count_anew(&mut self, qos: &Qos, before: impl Fn(Order) -> Counter) {
        self.index = Index(0);
        let conflates = qos.overflow == Overflow::Conflate;
        let queue = core::mem::replace(&mut self.queue, Latest::new());
        for (order, item) in queue.into_values() {
            let key = conflates.then(|| item.key.clone().unwrap_or_default());
            self.queue.push(order, key, Item { after: before(order), ..item });
        }
        let sent = core::mem::replace(&mut self.sent, Latest::new());
        for (order, value) in sent.into_values() {
            self.index = self.index.next();
            let item = Item { after: before(order), ..value.item };
            self.keep_sent(qos, order, SentValue { index: self.index, item, ..value });
        }
    }

    /// The time at which the oldest value that was sent as a datagram is to be sent again over the
    /// stream.
    pub(super) fn settled_at(&self) -> Option<Duration> {
        let mut values = self.sent.after(Order(0)).map(|(_, value)| value);
        values
            .find(|value| value.carrier == Carrier::Datagrams)
            .map(|oldest| oldest.sent + SETTLED_AFTER)
    }

    /// Removes and returns the oldest waiting message, with its order number.
    pub(super) fn pop_with_order(&mut self) -> Option<(Order, Item)> {
        let (order, _) = self.queue.first()?;
        self.take(order).map(|item| (order, item))
    }

    pub(super) fn retain(&mut self, keep: impl Fn(&Item) -> bool) {
        self.queue.retain(|_, item| keep(item));
        self.queued_bytes = self.queue.after(Order(0)).map(|(_, item)| item.cost()).sum();
    }

    /// Drops messages past their deadline. On a conflated channel a late value still counts: it is
    /// the newest of its key.
    pub(super) fn drop_late(&mut self, qos: &Qos, now: Duration) {
        let Some(deadline) = qos.deadline.filter(|_| qos.overflow == Overflow::Aggregate) else {
            return;
        };
        while self.queue.first().is_some_and(|(_, item)| item.born + deadline < now) {
            self.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn w41_a_pong_confirms_no_value_that_an_earlier_transport_carried() {
        let at = Duration::from_secs;
        let (mut values, qos) = (Values::new(Index(0)), Qos::awareness());
        // The second value was sent over the first transport while the second one opened.
        for (order, carrier, transport) in [
            (1, Carrier::Stream, 1),
            (2, Carrier::Stream, 1),
            (3, Carrier::Stream, 2),
            (4, Carrier::Datagrams, 2),
            (5, Carrier::Stream, 2),
        ] {
            let item = Item {
                key: Some([order as u8].into()),
                priority: None,
                text: true,
                to: None,
                bytes: Box::default(),
                born: at(order),
                after: Counter(0),
            };
            let (index, sent) = (Index(order as u32), at(order));
            let has_arrived = false;
            let value = SentValue { carrier, transport, item, index, sent, has_arrived };
            values.keep_sent(&qos, Order(order), value);
        }
        values.arrived(2, at(5), false);
        let left: Vec<Order> = values.sent.after(Order(0)).map(|(order, _)| order).collect();
        assert_eq!(left, [1, 2, 4, 5].map(Order));
        let again: Vec<Order> = values.settled(at(5), 2, true).collect();
        assert_eq!(again, [1, 2, 4].map(Order));
    }
}
