//! The log of a room: all of its state that does not depend on who is connected. It holds the
//! channels, the sessions that can be resumed, the newest transactions and the parts of a snapshot
//! that replace older ones, and the newest awareness value of each key. Transactions and values
//! share one sequence ([`Order`]).
//!
//! There is no queue per receiver. Each receiver has a [`Cursor`] into the log, so memory does not
//! grow with slow receivers, and a late joiner is a receiver whose cursor is at the beginning.
//! [`Log::due`] is the only code that selects messages for receivers.
//!
//! The log depends on no transport, tick or codec. What a store keeps of it is in `facts.rs`.

mod copy;
mod departures;
mod directs;
mod due;
mod facts;
mod filter;
mod message;
mod published;
mod sessions;
mod transactions;
mod values;

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

pub(super) use copy::Bounds;
pub(super) use directs::{Direct, Directs};
pub(super) use due::{Cursor, Item, NotInMemory};
pub(super) use facts::MOST_CHANNELS;
pub(super) use filter::{Carries, Channels, Covered, Filter, Starts};
pub(super) use message::{Message, Transaction, Value};
pub use published::RequestKey;
pub(super) use sessions::Session;
pub(super) use transactions::{Part, Reset};

use crate::{ChannelNo, Counter, Error, Limits, Order, ParticipantId, Position, Qos};
use departures::Departures;
use published::Published;
use sessions::Sessions;
use transactions::Transactions;
use values::Values;

/// The last position that is given out: positions and counters have 32 bits in packets (wire W21).
const LAST_POSITION: u64 = u32::MAX as u64 - 1;

/// A channel of the room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Channel {
    /// Empty for an unused number: the channel with this number was not stored when the room was
    /// loaded again.
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
    /// What the room itself has published.
    published: Published,
    /// The participants whose departures have to be written into channels (wire W113).
    departures: Departures,
    /// The direct transactions that wait for their receivers (wire W114).
    pub(super) directs: Directs,
    /// Channels to be reset once the transactions at these positions are durable (wire W102).
    resets: BTreeMap<ChannelNo, Position>,
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
            published: Published::default(),
            departures: Departures::default(),
            directs: Directs::default(),
            resets: BTreeMap::new(),
        }
    }

    /// A number that differs each time the room is made anew, without its old log.
    pub(super) fn incarnation(&self) -> u64 {
        self.incarnation
    }

    /// Appends the sender's next transaction, or a piece of it.
    pub(super) fn append(&mut self, message: Message, counter: Counter) {
        if let Some(session) = self.sessions.present_mut(message.sender) {
            debug_assert!(counter == session.counter.next(), "checked before");
            session.counter = counter;
            // A direct transaction causes no departure entry, which others could see.
            if message.to.is_none() && self.channels[message.channel.place()].qos.departures {
                self.departures.note(message.sender, message.channel);
            }
            self.order = self.order.next();
            let Some(to) = message.to else {
                return self.transactions.push(self.order, message, counter, &self.limits);
            };
            let (position, order) = (self.head().next(), self.order);
            let place = message.place();
            let is_known = to <= self.sessions.last();
            self.directs.put(to, Direct { message, counter, position, order }, is_known);
            self.transactions.push(order, place, counter, &self.limits);
        }
    }

    /// Appends a transaction of the room itself (wire W101). `day` is the time of day.
    pub(super) fn append_own(
        &mut self,
        message: Message,
        request: Option<RequestKey>,
        day: Duration,
    ) -> Position {
        self.published.counter = self.published.counter.next();
        self.order = self.order.next();
        self.transactions.push(self.order, message, self.published.counter, &self.limits);
        let position = self.head();
        if let Some(request) = request {
            self.published.remember(request, position, day);
        }
        position
    }

    /// Appends a transaction of a visitor, which carries out this request. `day` is the time of
    /// day.
    pub(super) fn append_requested(
        &mut self,
        message: Message,
        request: RequestKey,
        day: Duration,
    ) -> Position {
        let counter = self.counter(message.sender).unwrap_or_default().next();
        self.append(message, counter);
        let position = self.head();
        self.published.remember(request, position, day);
        position
    }

    /// Writes an entry that this participant left into each channel that records departures and has
    /// transactions of it (wire W113). Writes nothing if the room's positions are used up.
    pub(super) fn append_departure(&mut self, participant: ParticipantId, now: Duration) {
        for channel in self.departures.take(participant) {
            if self.check_positions(1).is_err() {
                break;
            }
            let message = Message {
                channel,
                sender: ParticipantId(0),
                key: None,
                priority: None,
                departed: Some(participant),
                to: None,
                text: false,
                piece: Default::default(),
                bytes: [].into(),
                born: now,
            };
            self.append_own(message, None, now);
        }
    }

    /// The participants whose departures have to be written into channels once they have left (wire
    /// W113).
    pub(super) fn authors_to_depart(&self) -> impl Iterator<Item = ParticipantId> {
        self.departures.authors()
    }

    /// The request with this key that the room has carried out, and the position of its
    /// transaction.
    pub(super) fn find_request(&self, key: &[u8; 16]) -> Option<(RequestKey, Position)> {
        self.published.find(key)
    }

    /// A value of the room itself, to be [put](Log::put) into the log.
    pub(super) fn own_value(&mut self, message: Message, day: Duration) -> Value {
        let index = self.published.next_index(message.channel, day);
        Value::new(message, index, self.published.counter)
    }

    /// Plans a [reset](Log::apply_resets) of a channel for when the transaction at this position is
    /// durable. That transaction is the room's own and empty: receivers learn from its position
    /// that they lack something.
    pub(super) fn reset_at(&mut self, channel: ChannelNo, position: Position) {
        self.resets.insert(channel, position);
    }

    /// Once all planned resets are durable, drops the transactions of these channels up to the
    /// resets, their values and their parts. The returned resets have to be stored, too.
    pub(super) fn apply_resets(&mut self) -> Vec<Reset> {
        let durable = self.durable();
        if self.resets.is_empty() || self.resets.values().any(|&position| position > durable) {
            return Vec::new();
        }
        let resets = core::mem::take(&mut self.resets);
        self.values.reset(|channel| resets.contains_key(&channel));
        resets.iter().for_each(|(&channel, &as_of)| self.directs.reset(channel, as_of));
        self.transactions.reset(&resets)
    }

    /// The position of the channel's last reset; 0 without one.
    pub(super) fn last_reset(&self, channel: ChannelNo) -> Position {
        self.transactions.last_reset(channel)
    }

    /// Checks that there are positions for `count` more transactions.
    ///
    /// # Errors
    /// [`Error::TooMany`] if the room's positions are used up.
    pub(super) fn check_positions(&self, count: usize) -> Result<(), Error> {
        let limit = LAST_POSITION as usize;
        match self.transactions.head().get() + count as u64 > LAST_POSITION {
            true => Err(Error::TooMany { what: "transactions in this room's life", limit }),
            false => Ok(()),
        }
    }

    /// The counter of the last transaction of a participant that is here or away; `None` if it has
    /// left.
    pub(super) fn counter(&self, participant: ParticipantId) -> Option<Counter> {
        self.sessions.counter(participant)
    }

    /// Adds a value. Returns true if it replaced an older value of its key. If `pairs` is given,
    /// the log keeps up to two values of each key among the values after that order.
    pub(super) fn put(&mut self, now: Duration, value: Value, pairs: Option<Order>) -> bool {
        self.order = self.order.next();
        let qos = self.channels[value.message.channel.place()].qos;
        self.values.push(now, self.order, &qos, value, pairs, &self.limits)
    }

    /// Checks that the room may have another channel.
    ///
    /// # Errors
    /// [`Error::TooMany`] if it has as many as its limits permit.
    pub(super) fn check_channels(&self) -> Result<(), Error> {
        let limit = self.limits.max_channels;
        match self.channels().count() >= limit {
            true => Err(Error::TooMany { what: "channels in this room", limit }),
            false => Ok(()),
        }
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

    /// The session of a participant that is present, or that left and can still resume. `None` if
    /// it is forgotten.
    pub(super) fn session(&self, participant: ParticipantId) -> Option<Session> {
        self.sessions.get(participant)
    }

    /// Ends the session of a participant that left at the time `left` (Unix time in seconds), and
    /// drops its values. The session can be resumed until [`Limits::max_former`] later ones have
    /// ended.
    pub(super) fn end_session(&mut self, participant: ParticipantId, left: u64) {
        self.sessions.end(participant, left, self.limits.max_former);
        self.values.forget(participant);
        let sessions = &self.sessions;
        self.directs.leave(participant, |one| sessions.get(one).is_some());
        self.transactions.forget_dropped(|one| sessions.get(one).is_some());
    }

    /// The last number that was given to a participant; 0 before the first one.
    pub(super) fn last_participant(&self) -> ParticipantId {
        self.sessions.last()
    }

    /// Most bytes of a part of the snapshot.
    pub(super) fn max_part(&self) -> usize {
        self.limits.max_snapshot
    }

    /// The transactions up to this position may go to the participants: in a stored room they are
    /// durable.
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

    /// True if the log can take no further transactions on this channel at present: too many wait
    /// to become durable, or too many are covered by no part. Only in a stored room: another one
    /// drops the oldest. `has_part`: a part covers the channel, or a participant has offered one
    /// that does.
    pub(super) fn is_full(&self, channel: ChannelNo, has_part: impl Fn(ChannelNo) -> bool) -> bool {
        if !self.is_stored() {
            return false;
        }
        let Limits { max_volatile_bytes, max_log_bytes, max_partless_bytes, .. } = self.limits;
        let (_, own) = self.transactions.uncovered(channel);
        let is_in_part = has_part(channel);
        if self.transactions.volatile_bytes() > max_volatile_bytes
            || (!is_in_part && own > max_partless_bytes)
        {
            return true;
        }
        // Mostly all channels together are below the limit, so `has_part` is called only above it.
        let all: usize = self.transactions.uncovered_channels().map(|(_, bytes)| bytes).sum();
        all > max_log_bytes && {
            let alike = self.transactions.uncovered_channels();
            let alike = alike.filter(|(channel, _)| has_part(*channel) == is_in_part);
            alike.map(|(_, bytes)| bytes).sum::<usize>() > max_log_bytes
        }
    }

    /// The order before the first transaction that is not durable yet; the greatest order if all
    /// are durable.
    pub(super) fn durable_order(&self) -> Order {
        let next = self.transactions_after(self.durable()).next();
        Order(next.map_or(u64::MAX, |one| one.order.0 - 1))
    }

    /// The counter of the participant's last transaction that may be sent. Those after it are all
    /// in memory.
    pub(super) fn durable_counter(&self, participant: ParticipantId) -> Counter {
        let last = self.session(participant).map_or(Counter(0), |session| session.counter);
        let later = self.transactions.count_after(self.durable(), participant);
        Counter(last.get().saturating_sub(later))
    }

    /// The bytes of the newest transaction, all its pieces together.
    pub(super) fn newest_bytes(&self) -> Vec<u8> {
        self.transactions.newest_bytes()
    }

    /// True if the transaction at this position belongs to one of these channels and is a piece
    /// that is not the last one.
    pub(super) fn splits(&self, channels: &[ChannelNo], position: Position) -> bool {
        let before = Position(position.get().saturating_sub(1));
        self.transactions_after(before).next().is_some_and(|one| {
            one.position == position
                && one.message.piece.goes_on()
                && channels.contains(&one.message.channel)
        })
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

    /// The transactions in memory up to `position`, newest first.
    pub(super) fn transactions_up_to(
        &self,
        position: Position,
    ) -> impl Iterator<Item = &Transaction> {
        self.transactions.up_to(position)
    }

    /// The values after this order, oldest first.
    pub(super) fn values_after(&self, order: Order) -> impl Iterator<Item = (Order, &Value)> {
        self.values.after(order)
    }

    /// True if a value came after this order.
    pub(super) fn has_values_after(&self, order: Order) -> bool {
        self.values.after(order).next().is_some()
    }

    /// The position of the newest transaction.
    pub(super) fn head(&self) -> Position {
        self.transactions.head()
    }

    /// There is no transaction in memory at or before this position.
    pub(super) fn begin(&self) -> Position {
        self.transactions.begin()
    }

    /// The greatest [`Log::trimmed`] of all channels.
    pub(super) fn trimmed_any(&self) -> Position {
        self.transactions.trimmed_any()
    }

    /// The position of the channel's newest transaction that is no longer in memory; 0 if all are
    /// still in memory.
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

    /// Drops the values with an expiry time that have expired or that every receiver was sent:
    /// these have at most the order `sent`.
    pub(super) fn expire(&mut self, now: Duration, sent: Order) {
        self.values.expire(now, sent);
    }

    /// The number of values with an expiry time that were dropped because of the memory limits,
    /// before every receiver was sent them.
    pub(super) fn expired(&self) -> u64 {
        self.values.expired()
    }

    /// The newest part of each name, in the order of their names.
    pub(super) fn parts(&self) -> impl Iterator<Item = &Arc<Part>> {
        self.transactions.parts()
    }

    /// The part that covers the channel.
    pub(super) fn part_of(&self, channel: ChannelNo) -> Option<&Arc<Part>> {
        self.parts().find(|part| part.has(channel))
    }

    /// True if enough transactions of these channels came since the last part to make a new one
    /// worth its upload ([`Limits::snapshot_after`]).
    pub(super) fn wants_part(&self, channels: &[ChannelNo]) -> bool {
        let sizes = channels.iter().map(|channel| self.transactions.uncovered(*channel));
        let (count, bytes) = sizes.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
        count > 0
            && (count >= self.limits.snapshot_after as u64
                || bytes >= self.limits.snapshot_after_bytes)
    }

    /// False if [`Log::wants_part`] is false even for all channels together.
    pub(super) fn may_want_part(&self) -> bool {
        let channels = self.transactions.uncovered_channels().map(|(channel, _)| channel);
        self.wants_part(&channels.collect::<Vec<_>>())
    }

    /// True if a part of this name may cover these channels, in the order of their numbers: no
    /// other part covers one of them, and the part of this name covers no further ones.
    pub(super) fn permits_part(&self, name: &str, channels: &[ChannelNo]) -> bool {
        let has = |channel: &ChannelNo| channels.binary_search(channel).is_ok();
        self.parts().all(|part| match part.name == name {
            true => part.channels.iter().all(has),
            false => !part.channels.iter().any(has),
        })
    }

    /// Keeps a part of the snapshot, unless the log has a part of this name that is as new, or a
    /// channel was reset after `as_of`. `channels` are sorted and [permitted](Log::permits_part).
    /// Returns true if the part was kept.
    pub(super) fn set_part(
        &mut self,
        name: &str,
        channels: &[ChannelNo],
        as_of: Position,
        bytes: Vec<u8>,
    ) -> bool {
        debug_assert!(as_of <= self.durable(), "a part of the future is refused before");
        debug_assert!(self.permits_part(name, channels), "it is refused before");
        // It may have been made before the participant was told of a reset.
        let is_reset = |channel: &ChannelNo| {
            as_of < self.last_reset(*channel) || self.resets.contains_key(channel)
        };
        if self.transactions.part(name).is_some_and(|part| part.as_of >= as_of)
            || channels.iter().any(is_reset)
        {
            return false;
        }
        let mut counters = self.transactions.counters_at(channels, as_of);
        counters.retain(|&participant, _| self.session(participant).is_some());
        let (name, channels) = (name.into(), channels.to_vec());
        self.transactions.set_part(Part { name, channels, as_of, bytes, counters });
        true
    }

    /// True if the log has or had a transaction, or has a part of a snapshot or a value that stays.
    pub(super) fn has_content(&self) -> bool {
        self.head() > Position(0) || self.parts().next().is_some() || self.values.have_lasting()
    }

    /// Bytes of memory that messages and parts take, about.
    pub(super) fn memory(&self) -> usize {
        let Log { values, transactions, published, directs, .. } = self;
        values.memory() + transactions.memory() + published.memory() + directs.memory()
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
