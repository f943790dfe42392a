//! What becomes of messages that wait here when the room has its say: ordered, of another kind, too large, refused.

use core::time::Duration;

use super::outbox::{Item, Pending};
use super::{Client, Event, Incoming};
use crate::client::ChannelId;
use crate::ids::{Counter, Index, Order, Position};
use crate::{Error, Kind};

impl Client {
    /// Own transactions up to `counter` are ordered, at `position` or before it.
    pub(super) fn settle(&mut self, counter: Counter, position: Position) {
        if let Some(datagrams) = self.link.as_mut().and_then(|link| link.datagrams.as_mut()) {
            datagrams.settled(counter);
        }
        let settled = |pending: &Pending| pending.counter.is_some_and(|own| own <= counter);
        while self.pending.front().is_some_and(settled)
            && let Some(pending) = self.pending.pop_front()
        {
            self.pending_bytes = self.pending_bytes.saturating_sub(pending.item.cost());
            let counter = pending.counter.unwrap_or_default();
            self.ordered = counter;
            let channel = &mut self.channels[pending.channel];
            channel.have = channel.have.max(position);
            self.tell(Event::Message(Incoming {
                channel: ChannelId(pending.channel as u32),
                sender: self.participant().unwrap_or_default(),
                bytes: pending.item.bytes.into_vec(),
                text: pending.item.text,
                key: pending.item.key.map(<[u8]>::into_vec),
                priority: pending.item.priority,
                age: Duration::ZERO,
                position,
                index: Index(counter.get()),
                own: true,
                stale: false,
                state: false,
            }));
        }
    }

    /// The channel turned out to be of the other kind: what waits for it goes where that kind waits.
    pub(super) fn change_kind(&mut self, at: usize) {
        let limits = &self.config.limits;
        let channel = &mut self.channels[at];
        if channel.qos.kind == Kind::Transaction {
            while let Some((order, item)) = channel.pop_with_order() {
                self.pending_bytes += item.cost();
                let pending = Pending { counter: None, sent: false, channel: at, order, item };
                // Behind what has a number, else where it was submitted.
                let place = self.pending.partition_point(|other| other.sent || other.order < order);
                self.pending.insert(place, pending);
            }
            return;
        }
        let waits = |pending: &Pending| pending.channel == at && !pending.sent;
        while let Some(place) = self.pending.iter().position(waits) {
            let Some(Pending { order, item, .. }) = self.pending.remove(place) else { return };
            self.pending_bytes -= item.cost();
            // Beyond what awareness may hold, the newest matter.
            let _ = channel.push(order, item, limits.max_awareness_bytes, limits.max_keys);
        }
    }

    /// The server takes no messages as large as some that wait.
    pub(super) fn drop_larger_than(&mut self, limit: usize) {
        for at in 0..self.channels.len() {
            if let Some(size) = self.give_up(at, |item| item.bytes.len() > limit) {
                self.tell_of(at, Error::TooLarge { what: "waiting message", size, limit });
            }
        }
    }

    /// Gives up unsent messages of a channel: the size of the largest, if there was one. What was sent waits for its
    /// place in the order.
    pub(super) fn give_up(&mut self, at: usize, hopeless: impl Fn(&Item) -> bool) -> Option<usize> {
        let channel = &mut self.channels[at];
        let gone =
            |pending: &Pending| pending.channel == at && !pending.sent && hopeless(&pending.item);
        let queued =
            channel.queue.after(Order(0)).map(|(_, item)| item).filter(|item| hopeless(item));
        let pending = self.pending.iter().filter(|pending| gone(pending));
        let largest = queued
            .chain(pending.map(|pending| &pending.item))
            .map(|item| item.bytes.len())
            .max()?;
        channel.retain(|item| !hopeless(item));
        self.pending.retain(|pending| !gone(pending));
        self.pending_bytes = self.pending.iter().map(|pending| pending.item.cost()).sum();
        Some(largest)
    }

    /// An error that is about a channel.
    pub(super) fn tell_of(&mut self, at: usize, error: Error) {
        self.tell(Event::Error { error, channel: Some(ChannelId(at as u32)), fatal: false });
    }
}
