//! The log of a room: all of its state that does not depend on who is connected. It holds the channels, the sessions
//! that can be resumed, the newest transactions and a snapshot that replaces older ones, and the newest awareness value
//! of each key. Transactions and values share one sequence ([`Order`]).
//!
//! There is no queue per receiver. Each receiver has a [`Cursor`] into the log, so memory does not grow with slow
//! receivers, and a late joiner is a receiver whose cursor is at the beginning. [`Log::due`] is the only code that
//! selects messages for receivers.
//!
//! The log depends on no transport, tick or codec. It can be written out with [`Log::entries`] and restored with
//! [`Log::restore`].

mod due;
mod entry;
mod facts;
mod filter;
mod message;
mod sessions;
mod transactions;
mod values;

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

pub(super) use due::{Cursor, Item, NotInMemory};
pub(super) use entry::{Base, Entry};
pub(super) use filter::{Carries, Channels, Covered, Filter};
pub(super) use message::{Message, Transaction, Value};
pub(super) use sessions::Session;
pub(super) use transactions::Snapshot;

use crate::{ChannelNo, Counter, Error, Limits, Order, ParticipantId, Position, Qos};
use sessions::Sessions;
use transactions::Transactions;
use values::Values;

/// The last position that is given out: positions and counters have 32 bits in packets (wire W21).
const LAST_POSITION: u64 = u32::MAX as u64 - 1;

/// A channel of the room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Channel {
    /// Empty for a number that no channel has: its channel was not stored, and the room was loaded again.
    pub(super) name: String,
    pub(super) qos: Qos,
}

/// See the [module](self).
#[derive(Debug)]
pub(super) struct Log {
    incarnation: u64,
    limits: Limits,
    channels: Vec<Channel>,
    sessions: Sessions,
    /// The order of the newest message. Values and transactions are numbered together.
    order: Order,
    values: Values,
    transactions: Transactions,
}

/// The result of [`Log::append`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Applied {
    /// The transaction was appended at this position.
    Ordered(Position),
    /// The log has the transaction already: its sender sent it again after a break of the connection (wire W28).
    Repeated,
    /// The transaction was not appended: the sender's transaction before it is missing, or the sender is not in the
    /// room.
    Early,
}

impl Log {
    /// An empty log.
    pub(super) fn new(incarnation: u64, limits: Limits) -> Self {
        Log {
            incarnation,
            limits,
            channels: Vec::new(),
            sessions: Sessions::default(),
            order: Order(0),
            values: Values::new(),
            transactions: Transactions::new(),
        }
    }

    /// A number that differs each time the room is made anew, without its old log.
    pub(super) fn incarnation(&self) -> u64 {
        self.incarnation
    }

    /// Appends the participant's transaction with this counter.
    ///
    /// # Errors
    /// [`Error::TooMany`] if the room's positions are used up.
    pub(super) fn append(&mut self, message: Message, counter: Counter) -> Result<Applied, Error> {
        let Some(session) = self.sessions.present_mut(message.sender) else {
            return Ok(Applied::Early);
        };
        if counter <= session.counter {
            return Ok(Applied::Repeated);
        }
        if counter != session.counter.next() {
            return Ok(Applied::Early);
        }
        if self.transactions.head().get() >= LAST_POSITION {
            let limit = LAST_POSITION as usize;
            return Err(Error::TooMany { what: "transactions in this room's life", limit });
        }
        session.counter = counter;
        self.order = self.order.next();
        let position = self.transactions.push(self.order, message, counter, &self.limits);
        Ok(Applied::Ordered(position))
    }

    /// Adds a value. Returns true if it replaced an older value of its key. If `pairs` is given, the log keeps up to
    /// two values of each key among the values after that order.
    pub(super) fn put(&mut self, now: Duration, value: Value, pairs: Option<Order>) -> bool {
        self.order = self.order.next();
        let qos = self.channels[value.message.channel.place()].qos;
        self.values.push(now, self.order, &qos, value, pairs, &self.limits)
    }

    /// Adds a channel and returns its number.
    pub(super) fn add_channel(&mut self, name: &str, qos: Qos) -> ChannelNo {
        let channel = Channel { name: name.into(), qos };
        match self.channels.iter().position(|channel| channel.name.is_empty()) {
            Some(free) => {
                self.channels[free] = channel;
                ChannelNo(free as u32 + 1)
            }
            None => {
                self.channels.push(channel);
                ChannelNo(self.channels.len() as u32)
            }
        }
    }

    /// Changes the QoS of a channel.
    pub(super) fn change_channel(&mut self, channel: ChannelNo, qos: Qos) {
        self.channels[channel.place()].qos = qos;
    }

    /// The channel with this number, which has to exist.
    pub(super) fn channel(&self, channel: ChannelNo) -> &Channel {
        &self.channels[channel.place()]
    }

    pub(super) fn find_channel(&self, name: &str) -> Option<ChannelNo> {
        let place = self.channels.iter().position(|channel| channel.name == name)?;
        Some(ChannelNo(place as u32 + 1))
    }

    /// All channels, in the order of their numbers.
    pub(super) fn channels(&self) -> impl Iterator<Item = (ChannelNo, &Channel)> {
        let numbered = self.channels.iter().enumerate();
        let numbered = numbered.filter(|(_, channel)| !channel.name.is_empty());
        numbered.map(|(place, channel)| (ChannelNo(place as u32 + 1), channel))
    }

    /// Begins the session of a new participant and returns the participant's number.
    pub(super) fn begin_session(&mut self) -> ParticipantId {
        let participant = self.sessions.last().next();
        self.sessions.begin(participant, Session { counter: Counter(0) });
        participant
    }

    /// Makes a session that ended present again. Does nothing if it is forgotten.
    pub(super) fn resume_session(&mut self, participant: ParticipantId) {
        if let Some(session) = self.sessions.get(participant) {
            self.sessions.begin(participant, session);
        }
    }

    /// The session of a participant that is present, or that left and can still resume. `None` if it is forgotten.
    pub(super) fn session(&self, participant: ParticipantId) -> Option<Session> {
        self.sessions.get(participant)
    }

    /// Ends the session of a participant that left at the time of day `left` (Unix time in seconds): drops its values. The session can still be resumed until
    /// [`Limits::max_former`] later ones have ended.
    pub(super) fn end_session(&mut self, participant: ParticipantId, left: u64) {
        self.sessions.end(participant, left, self.limits.max_former);
        self.values.forget(participant);
    }

    /// The last number that was given to a participant; 0 before the first one.
    pub(super) fn last_participant(&self) -> ParticipantId {
        self.sessions.last()
    }

    /// The transactions up to this position may go to the participants: in a stored room they are durable.
    pub(super) fn durable(&self) -> Position {
        self.transactions.durable()
    }

    /// True if the log's transactions are stored.
    pub(super) fn is_stored(&self) -> bool {
        self.transactions.is_stored()
    }

    /// Notes that the transactions up to `position` are durable.
    pub(super) fn set_durable(&mut self, position: Position) {
        self.transactions.set_durable(position);
    }

    /// True if the log can take no further transactions at present: too many wait to become durable, or too many are
    /// covered by no snapshot. Only in a stored room: another one drops the oldest.
    pub(super) fn is_full(&self) -> bool {
        let Limits { max_volatile_bytes, max_log_bytes, .. } = self.limits;
        self.is_stored()
            && (self.transactions.volatile_bytes() > max_volatile_bytes
                || self.transactions.uncovered_bytes() > max_log_bytes)
    }

    /// The counter of the participant's last transaction at or before `position`, which is that of the snapshot or in
    /// memory.
    pub(super) fn counter_at(&self, participant: ParticipantId, position: Position) -> Counter {
        if let Some(snapshot) = self.snapshot().filter(|one| one.as_of == position)
            && self.is_stored()
        {
            return snapshot.counters.get(&participant).copied().unwrap_or_default();
        }
        let last = self.session(participant).map_or(Counter(0), |session| session.counter);
        let later = self.transactions.count_after(position, participant);
        Counter(last.get().saturating_sub(later))
    }

    /// The order of the newest value or transaction.
    pub(super) fn order(&self) -> Order {
        self.order
    }

    /// The transactions in memory after `position`, oldest first.
    pub(super) fn transactions_after(
        &self,
        position: Position,
    ) -> impl Iterator<Item = &Transaction> {
        self.transactions.after(position)
    }

    /// The position of the newest transaction.
    pub(super) fn head(&self) -> Position {
        self.transactions.head()
    }

    /// The oldest transaction in memory is the one after this position.
    pub(super) fn tail(&self) -> Position {
        self.transactions.tail()
    }

    /// The position of the channel's newest transaction that is no longer in memory; 0 if all are still in memory.
    pub(super) fn trimmed(&self, channel: ChannelNo) -> Position {
        self.transactions.trimmed(channel)
    }

    /// The cursor of a receiver that has everything that may be sent.
    pub(super) fn end(&self) -> Cursor {
        Cursor { log: self.durable(), awareness: self.order, settled: self.order }
    }

    /// The value at this order, if no newer one replaced it.
    pub(super) fn value(&self, order: Order) -> Option<&Value> {
        self.values.get(order)
    }

    /// Drops the values with an expiry time that have expired or that every receiver was sent: these have at most the
    /// order `sent`.
    pub(super) fn expire(&mut self, now: Duration, sent: Order) {
        self.values.expire(now, sent);
    }

    /// The number of values with an expiry time that were dropped because of the memory limits, before every receiver
    /// was sent them.
    pub(super) fn expired(&self) -> u64 {
        self.values.expired()
    }

    pub(super) fn snapshot(&self) -> Option<&Arc<Snapshot>> {
        self.transactions.snapshot()
    }

    /// True if enough transactions came since the last snapshot that a new snapshot is worth its upload
    /// ([`Limits::snapshot_after`]).
    pub(super) fn wants_snapshot(&self) -> bool {
        self.transactions.wants_snapshot(&self.limits)
    }

    /// Stores a snapshot, unless the log has one that is as new. Returns true if it was stored.
    pub(super) fn set_snapshot(&mut self, as_of: Position, bytes: Vec<u8>) -> bool {
        debug_assert!(as_of <= self.durable(), "a snapshot of the future is refused before");
        let is_newer = self.snapshot().is_none_or(|snapshot| snapshot.as_of < as_of);
        // The counters of a snapshot of a stored room are counted in memory.
        if !is_newer || (self.is_stored() && as_of < self.tail()) {
            return false;
        }
        let counters = if self.is_stored() { self.counters_at(as_of) } else { BTreeMap::new() };
        self.transactions.set_snapshot(Snapshot { as_of, bytes, counters });
        true
    }

    /// Bytes of memory that messages and snapshot take, about.
    pub(super) fn memory(&self) -> usize {
        self.values.memory() + self.transactions.memory()
    }

    /// Everything that the log holds, as entries from which [`Log::restore`] makes the same log.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry> + '_ {
        let base = Base {
            incarnation: self.incarnation,
            last_participant: self.sessions.last(),
            position: self.tail(),
            uncovered_bytes: self.transactions.uncovered_bytes(),
            trimmed: self.transactions.trimmed_channels().clone(),
        };
        let channels = self.channels.iter();
        let channels =
            channels.map(|Channel { name, qos }| Entry::Channel { name: name.clone(), qos: *qos });
        let snapshot = self.snapshot().map(|snapshot| Entry::Snapshot {
            as_of: snapshot.as_of,
            bytes: snapshot.bytes.clone(),
        });
        let former = self.sessions.former().map(|one| (one.participant, &one.session, true));
        let present =
            self.sessions.present().map(|(participant, session)| (participant, session, false));
        let sessions = former.chain(present).flat_map(|(participant, &session, has_ended)| {
            let ended = has_ended.then_some(Entry::Ended { participant });
            core::iter::once(Entry::Session { participant, session }).chain(ended)
        });
        let transactions = self.transactions.after(Position(0)).map(|one| {
            let Transaction { message, counter, order, .. } = one.clone();
            Entry::Transaction { order, message, counter }
        });
        let values = self.values.after(Order(0)).map(|(order, value)| {
            let conflates = self.values.conflates(order, value);
            Entry::Value { order, value: value.clone(), conflates }
        });
        core::iter::once(Entry::Base(base))
            .chain(channels)
            .chain(snapshot)
            .chain(transactions)
            .chain(values)
            .chain(sessions)
            .chain([Entry::Order(self.order)])
    }

    /// Makes a log from entries: those of [`Log::entries`], or entries that were stored one by one as changes happened.
    ///
    /// # Errors [`Error::Malformed`] if an entry is malformed or contradicts an earlier one.
    pub(super) fn restore(
        limits: Limits,
        entries: impl IntoIterator<Item = Result<Entry, Error>>,
    ) -> Result<Self, Error> {
        let mut log = Log::new(0, limits);
        for entry in entries {
            log.restore_entry(entry?)?;
        }
        Ok(log)
    }

    fn restore_entry(&mut self, entry: Entry) -> Result<(), Error> {
        match entry {
            Entry::Base(base) => {
                let Base { incarnation, last_participant, position, uncovered_bytes, trimmed } =
                    base;
                check_numbers(last_participant, position, Order(0))?;
                self.incarnation = incarnation;
                self.sessions.set_last(last_participant);
                self.transactions =
                    Transactions::after_position(position, trimmed, uncovered_bytes);
            }
            Entry::Channel { name, qos } => _ = self.add_channel(&name, qos),
            Entry::Change { channel, qos } => {
                self.known(channel)?;
                self.change_channel(channel, qos);
            }
            Entry::Session { participant, session } => {
                check_numbers(participant, Position(0), Order(0))?;
                self.sessions.begin(participant, session);
            }
            Entry::Ended { participant } => self.end_session(participant, 0),
            Entry::Transaction { order, message, counter } => {
                self.known(message.channel)?;
                check_numbers(ParticipantId(0), self.head(), order)?;
                if order <= self.order {
                    return Err(Error::malformed("log: transactions out of order"));
                }
                self.order = order;
                if let Some(session) = self.sessions.present_mut(message.sender) {
                    session.counter = session.counter.max(counter);
                }
                self.transactions.insert(order, message, counter);
            }
            Entry::Value { order, value, conflates } => {
                self.known(value.message.channel)?;
                check_numbers(ParticipantId(0), Position(0), order)?;
                let before = order.get().checked_sub(1).map(Order);
                if before.is_none_or(|before| self.values.after(before).next().is_some()) {
                    return Err(Error::malformed("log: values out of order"));
                }
                self.values.restore(order, value, conflates);
            }
            Entry::Snapshot { as_of, bytes } => {
                let counters = BTreeMap::new();
                self.transactions.restore_snapshot(Snapshot { as_of, bytes, counters });
            }
            Entry::Order(order) => {
                check_numbers(ParticipantId(0), Position(0), order)?;
                self.order = self.order.max(order);
            }
        }
        Ok(())
    }

    fn known(&self, channel: ChannelNo) -> Result<(), Error> {
        let is_known = (1..=self.channels.len() as u32).contains(&channel.get());
        if is_known { Ok(()) } else { Err(Error::malformed("log: an unknown channel")) }
    }
}

/// Refuses numbers so large that counting on would overflow: no room reaches them.
fn check_numbers(
    participant: ParticipantId,
    position: Position,
    order: Order,
) -> Result<(), Error> {
    let fits = participant.get() < u32::MAX / 2
        && position.get() < LAST_POSITION
        && order.get() < u64::MAX / 2;
    if fits { Ok(()) } else { Err(Error::malformed("log: a number that no room reaches")) }
}
