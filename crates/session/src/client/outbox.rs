//! Messages that a client's application has submitted and the room has not confirmed.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use core::time::Duration;

use super::api::Recipient;
use crate::ids::{ChannelNo, Counter, Order, ParticipantId};
use crate::wire::coding::Coding;
use crate::wire::piece::Piece;
use crate::wire::record::{Number, Record};
use crate::{Error, Limits};

/// The client's own transactions that are not ordered, and the numbers of all own transactions.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    /// The newest own transaction that is known to be ordered.
    pub(super) ordered: Counter,
    /// The newest own transaction that was numbered.
    pub(super) numbered: Counter,
    /// The order number of the newest message that the application submitted.
    order: Order,
    /// Own transactions that are not ordered yet, the oldest first. The transactions that have a
    /// number come before those that have none.
    pub(super) pending: VecDeque<Pending>,
    /// The bytes of memory of `pending`, as [`Item::cost`] counts it.
    bytes: usize,
    /// True if the last [`Event::Pending`](super::Event::Pending) told that transactions wait.
    has_told: bool,
    /// True if the application received [`Sent::NotNow`](super::Sent::NotNow) and waits for
    /// [`Event::Drain`](super::Event::Drain).
    pub(super) wants_drain: bool,
}

impl Outbox {
    /// The number of own transactions that are not ordered yet.
    pub(super) fn waiting(&self) -> usize {
        self.pending.iter().filter(|pending| !pending.piece.goes_on()).count()
    }

    /// The number of own transactions that wait, if the application has to be told.
    pub(super) fn take_news(&mut self) -> Option<usize> {
        let count = self.waiting();
        let is_news = self.has_told == (count == 0);
        self.has_told = count > 0;
        is_news.then_some(count)
    }

    /// The order number of the next message that the application submits.
    pub(super) fn next_order(&mut self) -> Order {
        self.order = self.order.next();
        self.order
    }

    /// The number that the last submitted transaction has or will get: those without one are
    /// numbered in the order of submission.
    pub(super) fn submitted(&self) -> Counter {
        let numbered = self.count_numbered();
        debug_assert!(
            self.pending.range(numbered..).all(|pending| pending.counter.is_none()),
            "numbered transactions stand before the others"
        );
        Counter(self.numbered.get() + (self.pending.len() - numbered) as u32)
    }

    /// How many of the pending transactions have a number. They are the first ones.
    pub(super) fn count_numbered(&self) -> usize {
        self.pending.partition_point(|pending| pending.counter.is_some())
    }

    /// Adds the pieces of a transaction. Returns false, and adds none, if they exceed the limits.
    pub(super) fn submit(
        &mut self,
        pieces: impl Iterator<Item = Pending>,
        limits: &Limits,
    ) -> bool {
        let before = (self.pending.len(), self.bytes);
        for piece in pieces {
            self.bytes += piece.item.cost();
            self.pending.push_back(piece);
        }
        let fits =
            self.pending.len() <= limits.max_pending && self.bytes <= limits.max_pending_bytes;
        if !fits {
            self.pending.truncate(before.0);
            self.bytes = before.1;
        }
        fits
    }

    /// Adds a transaction behind those that were sent, in the order of submission.
    pub(super) fn insert(&mut self, pending: Pending) {
        self.bytes += pending.item.cost();
        let is_before = |other: &Pending| other.sent || other.order < pending.order;
        let place = self.pending.partition_point(is_before);
        self.pending.insert(place, pending);
    }

    /// Removes the transaction at this place.
    pub(super) fn remove(&mut self, at: usize) -> Option<Pending> {
        let pending = self.pending.remove(at)?;
        self.bytes = self.bytes.saturating_sub(pending.item.cost());
        Some(pending)
    }

    /// Keeps the transactions for which `keep` returns true.
    pub(super) fn retain(&mut self, keep: impl FnMut(&Pending) -> bool) {
        self.pending.retain(keep);
        self.bytes = self.pending.iter().map(|pending| pending.item.cost()).sum();
    }

    /// True if at most half of what the limits permit is waiting.
    pub(super) fn is_half_empty(&self, limits: &Limits) -> bool {
        self.pending.len() * 2 <= limits.max_pending && self.bytes * 2 <= limits.max_pending_bytes
    }

    /// The pending transaction with this number.
    pub(super) fn find(&self, counter: Counter) -> Option<&Pending> {
        self.pending.iter().find(|pending| pending.counter == Some(counter))
    }

    /// Transactions that are not sent yet, up to the first one whose channel does not take messages
    /// now. Later ones wait, because transactions are sent in order.
    pub(super) fn sendable(
        &self,
        takes_messages: impl Fn(usize) -> bool,
    ) -> impl Iterator<Item = (usize, &Pending)> {
        let unsent = self.pending.iter().enumerate().filter(|(_, pending)| !pending.sent);
        unsent.take_while(move |(_, pending)| takes_messages(pending.channel))
    }

    /// Marks the transaction at this place as sent, and returns its number.
    pub(super) fn send(&mut self, at: usize) -> Counter {
        let Outbox { pending, numbered, .. } = self;
        let pending = &mut pending[at];
        pending.sent = true;
        *pending.counter.get_or_insert_with(|| {
            *numbered = numbered.next();
            *numbered
        })
    }

    /// W14: the room has received this client's transactions up to `counter`. Later ones are sent
    /// again and get new numbers, which equal the old ones unless some transactions were given up
    /// in the meantime.
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

    /// The session is a new one, which has received none of the transactions.
    pub(super) fn start_over(&mut self) {
        (self.ordered, self.numbered) = (Counter(0), Counter(0));
        for pending in &mut self.pending {
            (pending.counter, pending.sent) = (None, false);
        }
    }

    /// How many of the transactions were submitted before the message with this order number.
    pub(super) fn submitted_before(&self, order: Order) -> Counter {
        Counter(self.pending.partition_point(|pending| pending.order < order) as u32)
    }

    /// Some transactions were removed, because they are ordered: the others follow the newest one.
    pub(super) fn move_ordered(&mut self) {
        let next = self.pending.front().and_then(|pending| pending.counter);
        let ordered = next.map_or(self.numbered, |next| Counter(next.get() - 1));
        debug_assert!(ordered >= self.ordered, "a transaction that is ordered stays so");
        self.ordered = ordered;
    }
}

/// A message that waits to be sent or confirmed.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) key: Option<Box<[u8]>>,
    pub(super) priority: Option<u8>,
    pub(super) text: bool,
    /// The only receiver.
    pub(super) to: Option<Recipient>,
    pub(super) bytes: Box<[u8]>,
    /// When the application made it.
    pub(super) born: Duration,
    /// The number that the last own transaction submitted before this message has or will get
    /// (W24).
    pub(super) after: Counter,
}

impl Item {
    /// Bytes of memory that the message needs, with 64 for the bookkeeping.
    pub(super) fn cost(&self) -> usize {
        self.bytes.len() + self.key.as_ref().map_or(0, |key| key.len()) + 64
    }

    /// The record that carries the message as a whole.
    pub(super) fn record(
        &self,
        now: Duration,
        channel: ChannelNo,
        number: Number,
        coding: Coding,
    ) -> Record<'_> {
        Record {
            channel,
            sender: ParticipantId(0),
            number,
            own: false,
            piece: Piece::Whole,
            state: false,
            age: now.saturating_sub(self.born),
            text: self.text,
            key: self.key.as_deref(),
            priority: self.priority,
            departed: None,
            to: self.to.map(|to| to.participant),
            bytes: &self.bytes,
            packed: None,
            coding,
        }
    }
}

/// An own transaction that is not ordered yet, or a piece of one (W97).
#[derive(Debug)]
pub(super) struct Pending {
    /// Its number, given when it is first sent.
    pub(super) counter: Option<Counter>,
    /// True if it was sent on this transport, or if the room received it on an earlier one.
    pub(super) sent: bool,
    /// Its channel's place among the session's channels.
    pub(super) channel: usize,
    /// Its place in the order in which the application submitted messages. All pieces of a
    /// transaction have the same one.
    pub(super) order: Order,
    pub(super) piece: Piece,
    pub(super) item: Item,
}
