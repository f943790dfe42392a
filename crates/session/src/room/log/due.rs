//! The walk over the log: yields the messages that a feed still has to send, in the order in which
//! the room received them.

use core::iter::Peekable;

use super::Log;
use super::filter::{Carries, Channels, Filter, Verdict};
use super::message::{Transaction, Value};
use crate::{Order, Position};

/// A place in the log: how far a feed has sent it, or up to where a feed may send it now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::room) struct Cursor {
    /// Transactions up to this position were sent, or are not for the feed.
    pub(in crate::room) log: Position,
    /// Awareness values up to this order were sent, or are not for the feed.
    pub(in crate::room) awareness: Order,
    /// Settled values up to this order were sent over the stream, or are not for the feed. A value
    /// settles when it was sent as a datagram and no newer value of its key replaced it soon (wire
    /// W41).
    pub(in crate::room) settled: Order,
}

impl Cursor {
    /// This cursor with `log` replaced.
    pub(in crate::room) fn with_log(self, log: Position) -> Self {
        Cursor { log, ..self }
    }

    /// This cursor with `settled` replaced.
    pub(in crate::room) fn with_settled(self, settled: Order) -> Self {
        Cursor { settled, ..self }
    }

    /// This cursor with `awareness` replaced.
    pub(in crate::room) fn with_awareness(self, awareness: Order) -> Self {
        Cursor { awareness, ..self }
    }
}

/// A message that a feed still has to send.
#[derive(Debug, Clone, Copy)]
pub(in crate::room) enum Item<'a> {
    Transaction(&'a Transaction),
    Value(Order, &'a Value),
}

impl<'a> Item<'a> {
    pub(in crate::room) fn order(&self) -> Order {
        match self {
            Item::Transaction(one) => one.order,
            Item::Value(order, _) => *order,
        }
    }
}

/// Transactions that a feed needs are no longer in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::room) struct NotInMemory;

/// The messages between two cursors that a filter lets through. [`Due::peek`] returns the next
/// message, and [`Due::pass`] moves on once the feed has sent it. [`Due::cursor`] says how far the
/// walk has come.
pub(in crate::room) struct Due<
    'a,
    T: Iterator<Item = &'a Transaction>,
    V: Iterator<Item = (Order, &'a Value)>,
> {
    cursor: Cursor,
    until: Cursor,
    filter: Filter<'a>,
    transactions: Peekable<T>,
    values: Peekable<V>,
    has_left_out: bool,
}

impl Log {
    /// The messages after `cursor`, up to `until`, that this filter lets through. A filter for
    /// settled values walks the values between the `settled` orders of the two cursors, every other
    /// filter the values between their `awareness` orders.
    ///
    /// # Errors
    /// [`NotInMemory`] if transactions that the feed still has to send are no longer in memory.
    pub(in crate::room) fn due<'a>(
        &'a self,
        cursor: Cursor,
        until: Cursor,
        filter: Filter<'a>,
    ) -> Result<
        Due<
            'a,
            impl Iterator<Item = &'a Transaction> + use<'a>,
            impl Iterator<Item = (Order, &'a Value)> + use<'a>,
        >,
        NotInMemory,
    > {
        if self.lacks(cursor.log, until.log, &filter) {
            return Err(NotInMemory);
        }
        let (from, to) = match filter.carries {
            Carries::Settled { .. } => (cursor.settled, until.settled),
            _ => (cursor.awareness, until.awareness),
        };
        let transactions = self.transactions.after(cursor.log);
        let transactions = transactions.take_while(move |one| one.position <= until.log);
        let values = self.values.after(from).take_while(move |(order, _)| *order <= to);
        Ok(Due {
            cursor,
            until,
            filter,
            transactions: transactions.peekable(),
            values: values.peekable(),
            has_left_out: false,
        })
    }
}

impl Log {
    /// True if transactions between `position` and `until` that this filter lets through are no
    /// longer in memory.
    pub(in crate::room) fn lacks(
        &self,
        position: Position,
        until: Position,
        filter: &Filter<'_>,
    ) -> bool {
        // Nearly always, nothing after the position was trimmed.
        if position >= self.trimmed_any().min(until) {
            return false;
        }
        let lacks =
            |channel| position.max(filter.start(channel)) < self.trimmed(channel).min(until);
        match filter.channels {
            Channels::Open(open) => open.received().any(lacks),
            Channels::Set(set) => set.iter().any(lacks),
            Channels::Few(few) => few.iter().copied().any(lacks),
        }
    }
}

impl<'a, T: Iterator<Item = &'a Transaction>, V: Iterator<Item = (Order, &'a Value)>>
    Due<'a, T, V>
{
    /// The next message that the filter lets through. Skips the messages before it that the filter
    /// leaves out.
    pub(in crate::room) fn peek(&mut self) -> Option<Item<'a>> {
        loop {
            let item = self.next_item()?;
            let is_carried = match item {
                Item::Transaction(one) => self.filter.carries_transaction(one),
                Item::Value(order, value) => match self.filter.judge(order, value) {
                    Verdict::Carried => true,
                    Verdict::Late => false,
                    Verdict::LeftOut => {
                        self.has_left_out = true;
                        false
                    }
                },
            };
            if is_carried {
                return Some(item);
            }
            self.pass();
        }
    }

    /// Moves the cursor past the message that [`Due::peek`] returned.
    pub(in crate::room) fn pass(&mut self) {
        match self.next_item() {
            Some(Item::Transaction(one)) => {
                self.cursor.log = one.position;
                self.transactions.next();
            }
            Some(Item::Value(order, _)) => {
                match self.filter.carries {
                    Carries::Settled { .. } => self.cursor.settled = order,
                    _ => self.cursor.awareness = order,
                }
                self.values.next();
            }
            None => {}
        }
    }

    /// How far the walk has come. Once no message is left, this is the `until` of [`Log::due`]:
    /// between the last message and `until` there are only messages that newer ones replaced.
    pub(in crate::room) fn cursor(&mut self) -> Cursor {
        if self.next_item().is_none() {
            let Cursor { log, awareness, settled } = self.until;
            match self.filter.carries {
                Carries::Settled { .. } => self.cursor.settled = self.cursor.settled.max(settled),
                _ => {
                    self.cursor.log = self.cursor.log.max(log);
                    self.cursor.awareness = self.cursor.awareness.max(awareness);
                }
            }
        }
        self.cursor
    }

    /// True if the walk skipped a value that is not for the feed. Values that were skipped because
    /// they had expired do not count.
    pub(in crate::room) fn has_left_out(&self) -> bool {
        self.has_left_out
    }

    /// The oldest message that the walk has not passed yet, whether or not the filter lets it
    /// through.
    fn next_item(&mut self) -> Option<Item<'a>> {
        match (self.transactions.peek(), self.values.peek()) {
            (Some(one), Some((order, _))) if one.order < *order => Some(Item::Transaction(one)),
            (_, Some((order, value))) => Some(Item::Value(*order, value)),
            (Some(one), None) => Some(Item::Transaction(one)),
            (None, None) => None,
        }
    }
}
