//! What a client's channels still have to send.

use alloc::boxed::Box;
use core::time::Duration;

use crate::client::ChannelOptions;
use crate::contract::Judge;
use crate::datagrams::REST;
use crate::ids::{ChannelNo, Counter, Index, Order, Position};
use crate::latest::Latest;
use crate::wire::body::{Coding, Lane};
use crate::wire::frame::Access;
use crate::{ChannelStats, Compress, Error, Overflow, Qos};

use alloc::string::String;

/// A message on its way out.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) key: Option<Box<[u8]>>,
    pub(super) priority: Option<u8>,
    pub(super) text: bool,
    pub(super) bytes: Box<[u8]>,
    /// When the application made it.
    pub(super) born: Duration,
    /// The last own transaction that was submitted before it, by the number that it has or will get (W24).
    pub(super) after: Counter,
}

impl Item {
    /// What it holds on to, with a flat price for the bookkeeping.
    pub(super) fn cost(&self) -> usize {
        self.bytes.len() + self.key.as_ref().map_or(0, |key| key.len()) + 64
    }
}

/// A transaction that is not yet ordered.
#[derive(Debug)]
pub(super) struct Pending {
    /// Its number, given when it is first sent.
    pub(super) counter: Option<Counter>,
    /// Sent on this transport, or known to the room from an earlier one.
    pub(super) sent: bool,
    pub(super) channel: usize,
    /// Place among all that the application submitted.
    pub(super) order: Order,
    pub(super) item: Item,
}

/// A channel as this client knows it.
#[derive(Debug)]
pub(super) struct Channel {
    pub(super) name: String,
    /// What was asked for, then what the server said.
    pub(super) qos: Qos,
    pub(super) access: Access,
    pub(super) compress: Compress,
    /// What the server was told of that, on this transport.
    pub(super) told: Compress,
    pub(super) stats: ChannelStats,
    /// How its contract is kept.
    pub(super) judge: Judge,
    /// Another QoS that the server has not answered for.
    pub(super) wish: Option<Qos>,
    /// The most that is wanted of it, in 1/1000 per second; 0: all.
    pub(super) limit: u32,
    /// The room's number for it on this transport.
    pub(super) id: Option<ChannelNo>,
    pub(super) refused: bool,
    /// Late-joiner state is complete, so that `have` is the client's position.
    pub(super) synced: bool,
    /// Opened in the same packet as HELLO on this transport.
    pub(super) with_join: bool,
    /// The last transaction of this channel that was delivered.
    pub(super) have: Position,
    /// The last awareness index used.
    pub(super) index: Index,
    /// When the maximum rate permits the next sending.
    pub(super) next_slot: Duration,
    /// Awareness waiting to be sent.
    pub(super) queue: Latest<Box<[u8]>, Item>,
    pub(super) queued_bytes: usize,
    /// The newest conflated values that were sent, as long as they may have been lost (W41).
    pub(super) resting: Latest<Box<[u8]>, Resting>,
}

/// A value that may have been lost.
#[derive(Debug)]
pub(super) struct Resting {
    /// How it went: over a stream it is only lost with the transport.
    pub(super) lane: Lane,
    /// Over which transport, as the client counts them.
    pub(super) transport: u32,
    pub(super) item: Item,
    pub(super) index: Index,
    pub(super) sent: Duration,
}

impl Channel {
    pub(super) fn new(name: String, qos: Qos, options: ChannelOptions, have: Position) -> Self {
        let ChannelOptions { access, compress } = options;
        Channel {
            name,
            qos,
            access,
            compress,
            told: compress,
            stats: ChannelStats::default(),
            judge: Judge::default(),
            wish: None,
            limit: 0,
            id: None,
            refused: false,
            synced: false,
            with_join: false,
            have,
            index: Index(0),
            next_slot: Duration::ZERO,
            queue: Latest::new(),
            queued_bytes: 0,
            resting: Latest::new(),
        }
    }

    /// Whether the server lets messages be sent on it now.
    pub(super) fn takes_messages(&self) -> bool {
        self.id.is_some() && self.access.publish
    }

    /// How the bodies are coded that its messages travel in.
    pub(super) fn coding(&self) -> Coding {
        self.compress.coding(&self.qos)
    }

    /// Queues awareness. `Ok(true)`: it replaced an older value.
    ///
    /// # Errors
    /// [`Error::TooMany`] when the queue is full: the caller says *not now*.
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
                // The value that waited longest gives way, as the newest matter.
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

    /// The one of this place among all that the application submitted.
    pub(super) fn take(&mut self, order: Order) -> Option<Item> {
        let item = self.queue.remove(order)?;
        self.queued_bytes -= item.cost();
        Some(item)
    }

    /// It was sent: what is newest of a conflated key is kept until it is sure to have arrived.
    pub(super) fn rest(&mut self, order: Order, resting: Resting) {
        if self.qos.overflow == Overflow::Conflate {
            let key = resting.item.key.clone().unwrap_or_default();
            self.resting.push(order, Some(key), resting);
        }
    }

    /// What was sent over this transport's stream before `sent` has arrived. What went over an earlier one may still wait to be
    /// sent again.
    pub(super) fn arrived(&mut self, transport: u32, sent: Duration) {
        let is_sure = |resting: &Resting| {
            resting.lane == Lane::Stream && resting.transport == transport && resting.sent < sent
        };
        self.resting.retain(|_, resting| !is_sure(resting));
    }

    /// What is to be sent again, over the stream of this transport.
    pub(super) fn rested(
        &self,
        now: Duration,
        transport: u32,
        has_datagrams: bool,
    ) -> impl Iterator<Item = Order> {
        let rested = self.resting.after(Order(0)).filter(move |(_, resting)| match resting.lane {
            Lane::Stream => resting.transport != transport,
            Lane::Datagrams => !has_datagrams || resting.sent + REST <= now,
        });
        rested.map(|(order, _)| order)
    }

    /// The session is a new one: indices count from 1 again, of what rests too. `before` tells how many of the transactions
    /// that are to be numbered anew were submitted before this order.
    pub(super) fn count_anew(&mut self, before: impl Fn(Order) -> Counter) {
        self.index = Index(0);
        let conflates = self.qos.overflow == Overflow::Conflate;
        let queue = core::mem::replace(&mut self.queue, Latest::new());
        for (order, item) in queue.into_values() {
            let key = conflates.then(|| item.key.clone().unwrap_or_default());
            self.queue.push(order, key, Item { after: before(order), ..item });
        }
        let resting = core::mem::replace(&mut self.resting, Latest::new());
        for (order, resting) in resting.into_values() {
            self.index = self.index.next();
            let item = Item { after: before(order), ..resting.item };
            self.rest(order, Resting { index: self.index, item, ..resting });
        }
    }

    /// When the value that went as a datagram before all others has rested.
    pub(super) fn rested_at(&self) -> Option<Duration> {
        let mut resting = self.resting.after(Order(0)).map(|(_, resting)| resting);
        resting.find(|resting| resting.lane == Lane::Datagrams).map(|first| first.sent + REST)
    }

    /// With its place among all that the application submitted.
    pub(super) fn pop_with_order(&mut self) -> Option<(Order, Item)> {
        let (order, _) = self.queue.first()?;
        self.take(order).map(|item| (order, item))
    }

    pub(super) fn retain(&mut self, keep: impl Fn(&Item) -> bool) {
        self.queue.retain(|_, item| keep(item));
        self.queued_bytes = self.queue.after(Order(0)).map(|(_, item)| item.cost()).sum();
    }

    /// Values past their deadline are worth nothing; the newest of a conflated key still is.
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
    fn w41_a_pong_tells_nothing_of_what_went_over_an_earlier_transport() {
        let at = Duration::from_secs;
        let (name, options) = (String::from("pointer"), ChannelOptions::default());
        let mut channel = Channel::new(name, Qos::awareness(), options, Position(0));
        // The second went as the second transport was opened, and was still sent over the first.
        for (order, lane, transport) in [
            (1, Lane::Stream, 1),
            (2, Lane::Stream, 1),
            (3, Lane::Stream, 2),
            (4, Lane::Datagrams, 2),
            (5, Lane::Stream, 2),
        ] {
            let item = Item {
                key: Some([order as u8].into()),
                priority: None,
                text: true,
                bytes: Box::default(),
                born: at(order),
                after: Counter(0),
            };
            let (index, sent) = (Index(order as u32), at(order));
            channel.rest(Order(order), Resting { lane, transport, item, index, sent });
        }
        channel.arrived(2, at(5));
        let left: Vec<Order> = channel.resting.after(Order(0)).map(|(order, _)| order).collect();
        assert_eq!(left, [1, 2, 4, 5].map(Order));
        let again: Vec<Order> = channel.rested(at(5), 2, true).collect();
        assert_eq!(again, [1, 2, 4].map(Order));
    }
}
