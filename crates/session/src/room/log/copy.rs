//! The copy of a room's log that a mirror has. Positions and counters are those of the room. The
//! order of messages is the mirror's own. Everything in a copy comes from the room: the copy itself
//! drops no transaction.

use super::directs::Direct;
use super::facts::MOST_CHANNELS;
use super::message::{Message, Transaction};
use super::sessions::Session;
use super::transactions::Part;
use super::{Channel, LAST_POSITION, Log, check_numbers};
use crate::limits::MAX_CHANNEL_NAME;
use crate::{ChannelNo, Counter, Error, Kind, Limits, ParticipantId, Position, Qos};

/// Where the transactions of a channel begin that the log still has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::room) struct Bounds {
    /// The position of its newest transaction that is no longer in memory.
    pub(in crate::room) trimmed: Position,
    /// A part stands for its transactions up to this position.
    pub(in crate::room) covered: Position,
    /// The position of its last reset.
    pub(in crate::room) reset: Position,
}

impl Log {
    /// An empty copy.
    pub(in crate::room) fn new_copy(limits: Limits) -> Self {
        let mut log = Log::new_stored(0, limits);
        log.directs.is_copy = true;
        log
    }

    /// True if the log is a mirror's copy.
    pub(in crate::room) fn is_copy(&self) -> bool {
        self.directs.is_copy
    }

    /// Takes over what the room is.
    pub(in crate::room) fn copy_facts(&mut self, incarnation: u64, max_part: usize) {
        self.incarnation = incarnation;
        self.limits.max_snapshot = max_part;
    }

    /// The bounds of all channels that have or had transactions.
    pub(in crate::room) fn bounds(&self) -> impl Iterator<Item = (ChannelNo, Bounds)> {
        self.transactions.bounds()
    }

    /// The counter of the participant's last transaction up to this position. Those after it are in
    /// memory.
    pub(in crate::room) fn counter_at(
        &self,
        participant: ParticipantId,
        position: Position,
    ) -> Counter {
        let last = self.session(participant).map_or(Counter(0), |session| session.counter);
        let later = self.transactions.count_after(position, participant);
        Counter(last.get().saturating_sub(later))
    }

    /// Adds a channel of the room, or changes its QoS. Returns true if it was there before.
    pub(in crate::room) fn copy_channel(
        &mut self,
        channel: ChannelNo,
        name: &str,
        qos: Qos,
    ) -> Result<bool, Error> {
        let is_sound = channel.get() <= MOST_CHANNELS
            && (1..=MAX_CHANNEL_NAME).contains(&name.len())
            && self.find_channel(name).is_none_or(|known| known == channel);
        if !is_sound {
            return Err(Error::malformed("channel of a room"));
        }
        let free = Channel { name: Default::default(), qos: Qos::transaction() };
        let count = self.channels.len().max(channel.place() + 1);
        self.channels.resize(count, free);
        let known = &mut self.channels[channel.place()];
        let was_there = !known.name.is_empty();
        *known = Channel { name: name.into(), qos };
        Ok(was_there)
    }

    /// Drops what the room no longer has of a channel.
    pub(in crate::room) fn copy_bounds(
        &mut self,
        channel: ChannelNo,
        bounds: Bounds,
    ) -> Result<(), Error> {
        self.check_channel(channel, Kind::Transaction)?;
        if bounds.reset > self.last_reset(channel) {
            self.values.reset(|one| one == channel);
            self.directs.reset(channel, bounds.reset);
        }
        self.transactions.copy_bounds(channel, bounds);
        Ok(())
    }

    /// Keeps a part of the room's snapshot.
    pub(in crate::room) fn copy_part(&mut self, part: Part) -> Result<(), Error> {
        for &channel in &part.channels {
            self.check_channel(channel, Kind::Transaction)?;
        }
        if !self.permits_part(&part.name, &part.channels) {
            return Err(Error::malformed("part of a room"));
        }
        self.transactions.copy_part(part);
        Ok(())
    }

    /// Appends a transaction of the room.
    pub(in crate::room) fn copy_transaction(
        &mut self,
        position: Position,
        counter: Counter,
        message: Message,
    ) -> Result<(), Error> {
        self.check_channel(message.channel, Kind::Transaction)?;
        check_numbers(message.sender, position, self.order)?;
        if position <= self.head() {
            return Err(Error::malformed("transaction of a room: its place"));
        }
        if let Some(session) = self.sessions.present_mut(message.sender) {
            session.counter = session.counter.max(counter);
        }
        if let Some(to) = message.to {
            self.directs.copy_place(message.sender, to, position);
        }
        self.order = self.order.next();
        let order = self.order;
        self.transactions.insert(Transaction { message, counter, position, order });
        Ok(())
    }

    /// The participant's transactions up to this counter have places, of which some were dropped
    /// before they came to this mirror.
    pub(in crate::room) fn copy_counter(&mut self, participant: ParticipantId, counter: Counter) {
        if let Some(session) = self.sessions.present_mut(participant) {
            session.counter = session.counter.max(counter);
        }
    }

    /// Keeps a direct transaction for a participant at this mirror (wire W114).
    pub(in crate::room) fn copy_direct(
        &mut self,
        position: Position,
        counter: Counter,
        message: Message,
    ) -> Result<(), Error> {
        self.check_channel(message.channel, Kind::Transaction)?;
        check_numbers(message.sender, position, self.order)?;
        let Some(to) = message.to else {
            return Err(Error::malformed("direct transaction: its receiver"));
        };
        let order = self.order;
        self.directs.copy(to, Direct { message, counter, position, order });
        Ok(())
    }

    /// The transactions up to this position may go to participants.
    pub(in crate::room) fn copy_durable(&mut self, position: Position) -> Result<(), Error> {
        if position < self.head() || position.get() >= LAST_POSITION {
            return Err(Error::malformed("end of a batch: its place"));
        }
        self.transactions.copy_head(position);
        Ok(())
    }

    /// Checks that a channel exists and carries messages of this kind.
    pub(in crate::room) fn check_channel(
        &self,
        channel: ChannelNo,
        kind: Kind,
    ) -> Result<(), Error> {
        let known = self.channels.get(channel.place());
        match known.is_some_and(|known| !known.name.is_empty() && known.qos.kind == kind) {
            true => Ok(()),
            false => Err(Error::UnknownChannel { channel: channel.get() }),
        }
    }

    /// A participant is at this mirror from now on. Its last transaction in the copy has this
    /// counter.
    pub(in crate::room) fn begin_copied_session(
        &mut self,
        participant: ParticipantId,
        counter: Counter,
    ) {
        self.sessions.begin(participant, Session { counter });
    }

    /// A participant is no longer at this mirror.
    pub(in crate::room) fn end_copied_session(&mut self, participant: ParticipantId) {
        self.sessions.end(participant, 0, 0);
        self.directs.forget(participant);
    }

    /// A participant has left the room: its values go.
    pub(in crate::room) fn forget_values(&mut self, participant: ParticipantId) {
        self.values.forget(participant);
    }
}
