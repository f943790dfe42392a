//! One channel of a client: its state, and the awareness messages that wait to be sent on it.

use alloc::boxed::Box;
use alloc::string::String;
use core::time::Duration;

use super::api::ChannelOptions;
use super::outbox::{Item, SentValue};
use super::pieces::Begun;
use crate::contract::Judge;
use crate::datagrams::SETTLED_AFTER;
use crate::ids::{ChannelNo, Counter, Index, Order, Position};
use crate::latest::Latest;
use crate::link::Link;
use crate::trace::Carrier;
use crate::wire::coding::Coding;
use crate::wire::frame::{Access, Frame};
use crate::{ChannelStats, Compress, Error, Overflow, Qos, Rate};

/// If a channel has more keys than this, the client keeps no values that are known to have arrived.
const MOST_ARRIVED: usize = 1024;

/// How far the application has closed a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// The application uses the channel.
    Open,
    /// The channel will be closed when all messages sent on it are confirmed.
    Closing,
    /// The channel is not opened on any transport until the application opens it again.
    Closed,
}

/// A channel as this client knows it.
#[derive(Debug)]
pub(super) struct Channel {
    pub(super) name: String,
    /// The QoS that the application asked for, then the one that the server stated.
    pub(super) qos: Qos,
    pub(super) stage: Stage,
    pub(super) access: Access,
    pub(super) compress: Compress,
    /// The compression that this end last announced to the server on this transport.
    pub(super) announced: Compress,
    pub(super) stats: ChannelStats,
    /// Judges received messages by the QoS contract.
    pub(super) judge: Judge,
    /// Another QoS that the application asked for, until the server has answered.
    pub(super) wish: Option<Qos>,
    /// The largest rate at which the application wants values of one key; zero: all values.
    pub(super) limit: Rate,
    /// The room's number for it on this transport.
    pub(super) id: Option<ChannelNo>,
    /// The server refused to open it.
    pub(super) refused: bool,
    /// Late-joiner state is complete: all transactions of this channel up to the session's position
    /// were delivered.
    pub(super) synced: bool,
    /// True if OPEN was sent together with HELLO on this transport.
    pub(super) with_join: bool,
    /// OPEN was sent on this transport.
    pub(super) is_asked_for: bool,
    /// The position up to which this end has the transactions of this channel: that of the newest
    /// one that was delivered, or of the part of the snapshot or the gap that stands for them.
    pub(super) have: Position,
    /// The transaction of which some pieces have arrived.
    pub(super) begun: Option<Begun>,
    /// While only some pieces of an own transaction are ordered: the counter of the last one that
    /// is.
    pub(super) own_begun: Option<Counter>,
    /// The newest awareness index used.
    pub(super) index: Index,
    /// The time from which on the maximum rate permits the next message.
    pub(super) next_slot: Duration,
    /// Awareness that waits to be sent.
    pub(super) queue: Latest<Box<[u8]>, Item>,
    /// The bytes of memory of `queue`, as [`Item::cost`] counts it.
    pub(super) queued_bytes: usize,
    /// The newest value sent of each key of a conflated channel, until it is known to have arrived
    /// (W41), and in a stored room also after that: the room loses it when it is loaded again
    /// (W94).
    pub(super) sent_values: Latest<Box<[u8]>, SentValue>,
}

impl Channel {
    pub(super) fn new(name: String, qos: Qos, options: ChannelOptions, have: Position) -> Self {
        let ChannelOptions { access, compress } = options;
        Channel {
            name,
            qos,
            stage: Stage::Open,
            access,
            compress,
            announced: compress,
            stats: ChannelStats::default(),
            judge: Judge::default(),
            wish: None,
            limit: Rate::ZERO,
            id: None,
            refused: false,
            synced: false,
            with_join: false,
            is_asked_for: false,
            have,
            begun: None,
            own_begun: None,
            index: Index(0),
            next_slot: Duration::ZERO,
            queue: Latest::new(),
            queued_bytes: 0,
            sent_values: Latest::new(),
        }
    }

    /// A channel that was closed and is opened again. Its position in the log and its awareness
    /// indices continue, because the room and the other participants remember them.
    pub(super) fn opened_again(&self, qos: Qos, options: ChannelOptions) -> Self {
        debug_assert!(self.stage == Stage::Closed && self.queue.is_empty(), "it was sent all");
        let index = self.index;
        Channel { index, ..Channel::new(self.name.clone(), qos, options, self.have) }
    }

    /// Queues OPEN. `at`: its place among the session's channels; `position`: the newest
    /// transaction that the session has delivered.
    pub(super) fn open(&mut self, at: usize, position: Position, link: &mut Link) {
        self.announced = self.compress;
        self.is_asked_for = true;
        link.queue(&Frame::Open {
            reference: at as u32,
            access: self.access,
            name: &self.name,
            qos: self.qos,
            have: if self.synced { position.max(self.have) } else { self.have },
            compress: self.compress,
        });
    }

    /// Tells the server how the channel is compressed, if that changed and the server has numbered
    /// the channel.
    pub(super) fn announce_compress(&mut self, link: &mut Link) {
        if let Some(id) = self.id.filter(|_| self.announced != self.compress) {
            self.announced = self.compress;
            link.queue(&Frame::Compress { id, compress: self.compress });
        }
    }

    /// Forgets the pieces of an incomplete transaction: the other pieces do not follow, or all
    /// pieces come again.
    pub(super) fn forget_begun(&mut self) {
        (self.begun, self.own_begun) = (None, None);
    }

    /// True if this end has the transactions of the channel up to this position and no later ones,
    /// and no transaction in part.
    pub(super) fn is_complete_at(&self, position: Position) -> bool {
        self.synced && self.have <= position && self.begun.is_none() && self.own_begun.is_none()
    }

    /// True if this end may publish on the channel, now or over a later transport.
    pub(super) fn may_send(&self) -> bool {
        self.access.publish && !self.refused
    }

    /// True if the server has opened the channel on this transport, and this end may publish on it.
    pub(super) fn takes_messages(&self) -> bool {
        self.id.is_some() && self.access.publish
    }

    /// How payloads that carry its messages are coded.
    pub(super) fn coding(&self) -> Coding {
        self.compress.coding(&self.qos)
    }

    /// Queues awareness. `Ok(true)`: it replaced an older value.
    ///
    /// # Errors
    /// [`Error::TooMany`] when the queue is full.
    pub(super) fn push(
        &mut self,
        order: Order,
        item: Item,
        max_bytes: usize,
        max_keys: usize,
    ) -> Result<bool, Error> {
        self.drop_late(item.born);
        let key =
            (self.qos.overflow == Overflow::Conflate).then(|| item.key.clone().unwrap_or_default());
        let held = key.as_ref().is_some_and(|key| self.queue.holds(key));
        let is_full = |channel: &Self| {
            let too_many = !held && channel.queue.len() >= max_keys;
            too_many || channel.queued_bytes + item.cost() > max_bytes
        };
        while is_full(self) && !self.queue.is_empty() {
            match self.qos.overflow {
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

    pub(super) fn pop(&mut self) -> Option<Item> {
        self.pop_with_order().map(|(_, item)| item)
    }

    /// Removes and returns the waiting message with this order number.
    pub(super) fn take(&mut self, order: Order) -> Option<Item> {
        let item = self.queue.remove(order)?;
        self.queued_bytes -= item.cost();
        Some(item)
    }

    /// Takes the awareness message with this order number, to send it: a waiting one, which gets
    /// the next index, or one that is settled.
    pub(super) fn take_value(&mut self, order: Order, is_settled: bool) -> Option<(Item, Index)> {
        if is_settled {
            return self.sent_values.remove(order).map(|value| (value.item, value.index));
        }
        let item = self.take(order)?;
        self.index = Index(self.index.get().wrapping_add(1));
        Some((item, self.index))
    }

    /// A message is sent: the next one may go after the interval of the maximum rate.
    pub(super) fn use_slot(&mut self, now: Duration) {
        if self.next_slot <= now {
            // The next slot counts from the planned slot, not from now: timers are late, and a
            // sender at the highest rate would fall behind with each late timer.
            let interval = self.qos.interval();
            let next = self.next_slot + interval;
            self.next_slot = if next > now { next } else { now + interval };
        }
    }

    /// Keeps a value that was sent until it is known to have arrived, if the channel conflates.
    pub(super) fn keep_sent(&mut self, order: Order, value: SentValue) {
        if self.qos.overflow == Overflow::Conflate {
            let key = value.item.key.clone().unwrap_or_default();
            self.sent_values.push(order, Some(key), value);
        }
    }

    /// Notes that the values that were sent over the stream of `transport` before the time `sent`
    /// have arrived, and forgets them unless `keeps`. Values of an earlier transport may have to be
    /// sent again.
    pub(super) fn arrived(&mut self, transport: u32, sent: Duration, keeps: bool) {
        for value in self.sent_values.values_mut() {
            value.has_arrived |= value.carrier == Carrier::Stream
                && value.transport == transport
                && value.sent < sent;
        }
        let keeps = keeps && self.sent_values.len() <= MOST_ARRIVED;
        self.sent_values.retain(|_, value| keeps || !value.has_arrived);
    }

    /// Lets all values that have arrived be sent again, because the room lost them (W94).
    pub(super) fn restate(&mut self) {
        for value in self.sent_values.values_mut().filter(|value| value.has_arrived) {
            // No transport has the number 0, so the value is sent again like values of an earlier
            // transport.
            (value.has_arrived, value.transport) = (false, 0);
        }
    }

    /// The sent values that are not known to have arrived.
    pub(super) fn unconfirmed(&self) -> impl Iterator<Item = (Order, &SentValue)> {
        self.sent_values.after(Order(0)).filter(|(_, value)| !value.has_arrived)
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
    pub(super) fn count_anew(&mut self, before: impl Fn(Order) -> Counter) {
        self.index = Index(0);
        let conflates = self.qos.overflow == Overflow::Conflate;
        let queue = core::mem::replace(&mut self.queue, Latest::new());
        for (order, item) in queue.into_values() {
            let key = conflates.then(|| item.key.clone().unwrap_or_default());
            self.queue.push(order, key, Item { after: before(order), ..item });
        }
        let sent_values = core::mem::replace(&mut self.sent_values, Latest::new());
        for (order, value) in sent_values.into_values() {
            self.index = self.index.next();
            let item = Item { after: before(order), ..value.item };
            self.keep_sent(order, SentValue { index: self.index, item, ..value });
        }
    }

    /// The time at which the oldest value that was sent as a datagram is to be sent again over the
    /// stream.
    pub(super) fn settled_at(&self) -> Option<Duration> {
        let mut values = self.sent_values.after(Order(0)).map(|(_, value)| value);
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
    pub(super) fn drop_late(&mut self, now: Duration) {
        let Some(deadline) = self.qos.deadline.filter(|_| self.qos.overflow == Overflow::Aggregate)
        else {
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
        let (name, options) = (String::from("pointer"), ChannelOptions::default());
        let mut channel = Channel::new(name, Qos::awareness(), options, Position(0));
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
            channel.keep_sent(Order(order), value);
        }
        channel.arrived(2, at(5), false);
        let left: Vec<Order> =
            channel.sent_values.after(Order(0)).map(|(order, _)| order).collect();
        assert_eq!(left, [1, 2, 4, 5].map(Order));
        let again: Vec<Order> = channel.settled(at(5), 2, true).collect();
        assert_eq!(again, [1, 2, 4].map(Order));
    }
}
