//! Updates the waiting messages when the room answers: transactions are ordered, a channel has another kind than
//! expected, messages are too large, or a channel is refused.

use core::time::Duration;

use super::channel_id::ChannelId;
use super::event::{Event, Incoming};
use super::outbox::{Item, Pending};
use super::session::Session;
use crate::ids::{Counter, Index, Order, Position};
use crate::{Error, Kind};

impl Session {
    /// W14: the room has received this client's transactions up to `counter`. Later ones are sent again and get new
    /// numbers, which equal the old ones unless some transactions were given up in the meantime.
    ///
    /// # Errors
    /// The room counts transactions that were never sent, or misses some that it had ordered.
    pub(super) fn renumber(&mut self, counter: Counter) -> Result<(), Error> {
        if counter > self.numbered || counter < self.ordered {
            return Err(Error::malformed("WELCOME: it counts transactions never sent"));
        }
        for pending in &mut self.pending {
            pending.sent = pending.counter.is_some_and(|own| own <= counter);
            pending.counter = pending.counter.filter(|_| pending.sent);
        }
        self.numbered = counter;
        Ok(())
    }

    /// W29: the room has ordered the own transaction `counter`, at `position`, and with it all earlier ones: they are in a part
    /// of the snapshot, or are among transactions that can no longer be had.
    ///
    /// # Errors
    /// No own transaction of this number is pending.
    pub(super) fn confirm_next(
        &mut self,
        counter: Counter,
        position: Position,
    ) -> Result<(), Error> {
        if !self.pending.iter().any(|pending| pending.counter == Some(counter)) {
            return Err(Error::malformed("record: an own transaction that is not pending"));
        }
        self.take_ordered(Some((counter, position)), |own, _| own <= counter);
        self.position = position;
        Ok(())
    }

    /// Own transactions up to `counter` are ordered, at places that this end is not told.
    pub(super) fn confirm(&mut self, counter: Counter) {
        self.take_ordered(None, |own, _| own <= counter);
    }

    /// W32: a part of the snapshot covers these channels' own transactions up to `counter`.
    pub(super) fn confirm_covered(&mut self, channels: &[usize], counter: Counter) {
        self.take_ordered(None, |own, channel| own <= counter && channels.contains(&channel));
    }

    /// Removes the pending transactions for which `is_ordered` returns true, given their counter and channel, and tells the
    /// application that they are ordered. `place`: the position of one of them.
    fn take_ordered(
        &mut self,
        place: Option<(Counter, Position)>,
        is_ordered: impl Fn(Counter, usize) -> bool,
    ) {
        let numbered = self.pending.partition_point(|pending| pending.counter.is_some());
        let mut at = 0;
        for _ in 0..numbered {
            let pending = &self.pending[at];
            let own = pending.counter.unwrap_or_default();
            if !is_ordered(own, pending.channel) {
                at += 1;
                continue;
            }
            if let Some(pending) = self.pending.remove(at) {
                let place = place.filter(|(placed, _)| *placed == own);
                let position = place.map_or(Position(0), |(_, position)| position);
                self.tell_ordered(pending, own, position);
            }
        }
        let next = self.pending.front().and_then(|pending| pending.counter);
        let ordered = next.map_or(self.numbered, |next| Counter(next.get() - 1));
        debug_assert!(ordered >= self.ordered, "what is ordered stays so");
        self.ordered = ordered;
    }

    fn tell_ordered(&mut self, pending: Pending, counter: Counter, position: Position) {
        self.pending_bytes = self.pending_bytes.saturating_sub(pending.item.cost());
        let channel = &mut self.channels[pending.channel];
        channel.have = channel.have.max(position);
        let sender = self.membership.map(|membership| membership.participant);
        self.emit(Event::Message(Incoming {
            channel: ChannelId(pending.channel as u32),
            sender: sender.unwrap_or_default(),
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

    /// Moves the waiting messages of a channel between its queue (awareness) and the pending transactions, because the
    /// server stated another kind than the application asked for.
    pub(super) fn change_kind(&mut self, at: usize) {
        let limits = &self.config.limits;
        let channel = &mut self.channels[at];
        if channel.qos.kind == Kind::Transaction {
            while let Some((order, item)) = channel.pop_with_order() {
                self.pending_bytes += item.cost();
                let pending = Pending { counter: None, sent: false, channel: at, order, item };
                // After the transactions that were sent, in the order of submission.
                let place = self.pending.partition_point(|other| other.sent || other.order < order);
                self.pending.insert(place, pending);
            }
            return;
        }
        let waits = |pending: &Pending| pending.channel == at && !pending.sent;
        while let Some(place) = self.pending.iter().position(waits) {
            let Some(Pending { order, item, .. }) = self.pending.remove(place) else { return };
            self.pending_bytes -= item.cost();
            // Beyond the limits of awareness the oldest values are dropped.
            let _ = channel.push(order, item, limits.max_awareness_bytes, limits.max_keys);
        }
    }

    /// Gives up waiting messages that are larger than the server accepts.
    pub(super) fn drop_larger_than(&mut self, limit: usize) {
        for at in 0..self.channels.len() {
            if let Some(size) = self.give_up(at, |item| item.bytes.len() > limit) {
                self.emit_error(at, Error::TooLarge { what: "waiting message", size, limit });
            }
        }
    }

    /// Gives up the unsent messages of a channel for which `hopeless` returns true. Returns the size of the largest
    /// one; `None` if there was none. Transactions that were sent are kept until the room orders them.
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
}
