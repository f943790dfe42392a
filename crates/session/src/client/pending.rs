//! Updates the waiting messages when the room answers: transactions are ordered, a channel has
//! another kind than expected, messages are too large, or a channel is refused.

use alloc::vec::Vec;
use core::time::Duration;

use super::api::Recipient;
use super::channel_id::ChannelId;
use super::event::{Event, Incoming};
use super::outbox::{Item, Pending};
use super::session::Session;
use crate::ids::{Counter, Index, Order, Position};
use crate::wire::piece::Piece;
use crate::{Error, Kind, Receipt};

impl Session {
    /// W29: the room has ordered the own transaction `counter`, at `position`. All earlier own
    /// transactions are ordered, too: a part of the snapshot covers them, or they can no longer be
    /// had.
    ///
    /// # Errors
    /// No own transaction of this number is pending.
    pub(super) fn confirm_next(
        &mut self,
        counter: Counter,
        position: Position,
    ) -> Result<(), Error> {
        let Some(&Pending { channel, piece, .. }) = self.outbox.find(counter) else {
            return Err(Error::malformed("record: an own transaction that is not pending"));
        };
        // A transaction is ordered with its last piece: if the room forgets this participant before
        // that, all pieces are sent again.
        self.channels[channel].received.own_begun = piece.goes_on().then_some(counter);
        if !piece.goes_on() {
            self.take_ordered(Some((counter, position)), &|own, _| own <= counter);
        }
        self.delivered.position = position;
        Ok(())
    }

    /// The own direct transaction `counter` has its place at `position`. Nothing happens if this
    /// end knows that already.
    pub(super) fn confirm_direct(&mut self, counter: Counter, position: Position) {
        self.take_ordered(Some((counter, position)), &|own, _| own <= counter);
    }

    /// Own transactions up to `counter` are ordered, at places that this end is not told.
    pub(super) fn confirm(&mut self, counter: Counter) {
        self.take_ordered(None, &|own, _| own <= counter);
    }

    /// W32: a part of the snapshot covers these channels' own transactions up to `counter`.
    pub(super) fn confirm_covered(&mut self, channels: &[usize], counter: Counter) {
        self.take_ordered(None, &|own, channel| own <= counter && channels.contains(&channel));
    }

    /// Removes the pending transactions for which `is_ordered` returns true, given their counter
    /// and channel, and reports them to the application as ordered. `place`: the counter and the
    /// position of one of them, if the server stated it.
    fn take_ordered(
        &mut self,
        place: Option<(Counter, Position)>,
        is_ordered: &dyn Fn(Counter, usize) -> bool,
    ) {
        let numbered = self.outbox.count_numbered();
        let mut at = 0;
        // The first piece of a transaction, and the bytes of its later pieces.
        let mut begun: Option<(Pending, Vec<u8>)> = None;
        for _ in 0..numbered {
            let pending = &self.outbox.pending[at];
            let own = pending.counter.unwrap_or_default();
            if !is_ordered(own, pending.channel) {
                at += 1;
                continue;
            }
            if let Some(pending) = self.outbox.remove(at) {
                let place = place.filter(|(placed, _)| *placed == own);
                let position = place.map_or(Position(0), |(_, position)| position);
                let piece = pending.piece;
                match &mut begun {
                    Some((_, rest)) if !piece.begins() => {
                        rest.extend_from_slice(&pending.item.bytes);
                    }
                    _ => begun = Some((pending, Vec::new())),
                }
                if !piece.goes_on()
                    && let Some((first, rest)) = begun.take()
                {
                    self.tell_ordered(first, &rest, own, position);
                }
            }
        }
        self.outbox.move_ordered();
    }

    fn tell_ordered(&mut self, first: Pending, rest: &[u8], counter: Counter, position: Position) {
        let Pending { channel: at, item, .. } = first;
        let mut bytes = item.bytes.into_vec();
        bytes.extend_from_slice(rest);
        let channel = &mut self.channels[at];
        channel.received.advance(position);
        let sender = self.membership.map(|membership| membership.participant);
        let incoming = Incoming {
            channel: ChannelId(at as u32),
            sender: sender.unwrap_or_default(),
            bytes,
            text: item.text,
            key: item.key.map(<[u8]>::into_vec),
            priority: item.priority,
            age: Duration::ZERO,
            position,
            index: Index(counter.get()),
            own: true,
            stale: false,
            state: false,
            departed: None,
            to: item.to.map(|to| to.participant),
        };
        match item.to {
            None => self.emit(Event::Message(incoming)),
            Some(to) => {
                self.emit(Event::Direct(incoming));
                let receipt = self.directs.await_receipt(counter, ChannelId(at as u32), to);
                self.emit_if(receipt);
            }
        }
    }

    /// Gives up what waits on a channel in pieces, if the channel carries awareness or the room is
    /// not stored.
    pub(super) fn check_pieces(&mut self, at: usize) {
        if self.channels[at].qos.kind == Kind::Transaction && self.is_stored() {
            return;
        }
        let limit = self.membership.map_or(0, |membership| membership.max_message);
        if let Some(size) = self.give_up(at, &|_, piece| piece != Piece::Whole) {
            self.emit_error(at, Error::TooLarge { what: "waiting message", size, limit });
        }
    }

    /// Moves the waiting messages of a channel between its queue (awareness) and the pending
    /// transactions, because the server stated another kind than the application asked for.
    pub(super) fn change_kind(&mut self, at: usize) {
        let channel = &mut self.channels[at];
        if channel.qos.kind == Kind::Transaction {
            while let Some((order, item)) = channel.values.pop_with_order() {
                let (counter, sent, channel, piece) = (None, false, at, Piece::Whole);
                self.outbox.insert(Pending { counter, sent, channel, order, piece, item });
            }
            return;
        }
        // Awareness cannot be sent to one participant.
        if self.give_up(at, &|item, _| item.to.is_some()).is_some() {
            let what = "sending to one participant on a channel of awareness";
            self.emit_error(at, Error::NotAllowed { what });
        }
        let limits = &self.config.limits;
        let channel = &mut self.channels[at];
        let waits = |pending: &Pending| pending.channel == at && !pending.sent;
        while let Some(place) = self.outbox.pending.iter().position(waits) {
            let Some(Pending { order, item, .. }) = self.outbox.remove(place) else { return };
            // Beyond the limits of awareness the oldest values are dropped.
            let _ = channel.values.push(&channel.qos, order, item, limits);
        }
    }

    /// Gives up waiting messages that are larger than the server accepts.
    pub(super) fn drop_larger_than(&mut self, limit: usize) {
        for at in 0..self.channels.len() {
            if let Some(size) = self.give_up(at, &|item, _| item.bytes.len() > limit) {
                self.emit_error(at, Error::TooLarge { what: "waiting message", size, limit });
            }
        }
    }

    /// Gives up all unsent messages of a channel. Returns true if there were any.
    pub(super) fn give_up_all(&mut self, at: usize) -> bool {
        self.give_up(at, &|_, _| true).is_some()
    }

    /// Gives up the unsent messages of a channel for which `is_hopeless` returns true, and with a
    /// piece the whole transaction. Returns the size of the largest one; `None` if there was none.
    /// Transactions that were sent are kept until the room orders them.
    fn give_up(&mut self, at: usize, is_hopeless: &dyn Fn(&Item, Piece) -> bool) -> Option<usize> {
        let channel = &mut self.channels[at];
        let is_hopeless_value = |item: &Item| is_hopeless(item, Piece::Whole);
        let values = channel.values.queue.after(Order(0)).map(|(_, item)| item);
        let values = values.filter(|item| is_hopeless_value(item)).map(|item| item.bytes.len());
        let largest_value = values.max();
        channel.values.retain(|item| !is_hopeless_value(item));
        // Of each transaction that waits: its order, its size, and whether it is given up.
        let mut waiting: Vec<(Order, usize, bool)> = Vec::new();
        let waits = |pending: &Pending| pending.channel == at && !pending.sent;
        for pending in self.outbox.pending.iter().filter(|pending| waits(pending)) {
            let (size, is_it) =
                (pending.item.bytes.len(), is_hopeless(&pending.item, pending.piece));
            match waiting.last_mut().filter(|(order, ..)| *order == pending.order) {
                Some(begun) => *begun = (begun.0, begun.1 + size, begun.2 || is_it),
                None => waiting.push((pending.order, size, is_it)),
            }
        }
        waiting.retain(|(.., is_hopeless)| *is_hopeless);
        let is_given_up = |pending: &Pending| {
            waits(pending) && waiting.binary_search_by_key(&pending.order, |one| one.0).is_ok()
        };
        let directs = self.outbox.pending.iter().filter(|pending| is_given_up(pending));
        let directs: Vec<Recipient> = directs.filter_map(|pending| pending.item.to).collect();
        self.outbox.retain(|pending| !is_given_up(pending));
        for to in directs {
            let (channel, receipt) = (ChannelId(at as u32), Receipt::Unknown);
            self.emit(Event::Receipt { channel, to, receipt });
        }
        waiting.iter().map(|(_, size, _)| *size).max().max(largest_value)
    }
}
