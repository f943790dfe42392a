//! Puts the messages that a participant publishes into the room's log.

use alloc::collections::{BTreeMap, BTreeSet};
use core::time::Duration;

use super::connection::Connection;
use super::{Peer, State};
use crate::compress::choice_of;
use crate::datagrams::Needs;
use crate::packing::{EncodingCache, Packing};
use crate::quota::Used;
use crate::room::accounting::upstream::{Upstream, Upstreams};
use crate::room::api::Stats;
use crate::room::common::{Common, is_full};
use crate::room::inspector::Inspector;
use crate::room::intake::pieces::Pieces;
use crate::room::log::{Log, Message, Value};
use crate::room::subscriptions::Subscriptions;
use crate::room::timers::Timers;
use crate::seen::Seen;
use crate::wire::payload::Batch;
use crate::wire::piece::Piece;
use crate::wire::record::{Number, Record};
use crate::{ChannelNo, Counter, Error, Kind, Order, Overflow, ParticipantId};

/// The parts of the room that change when a participant publishes a message.
pub(super) struct Publisher<'a> {
    now: Duration,
    id: ParticipantId,
    /// The part of the packet's travel time to the room that the ages in its messages do not include.
    pub(super) one_way: Duration,
    seen: &'a mut Seen<ChannelNo>,
    upstream: &'a mut BTreeMap<ChannelNo, Upstream>,
    held: &'a mut Option<ChannelNo>,
    all_held: &'a mut BTreeSet<ParticipantId>,
    offered: &'a BTreeSet<ChannelNo>,
    log: &'a mut Log,
    pieces: &'a mut Pieces,
    upstreams: &'a Upstreams,
    forms: &'a mut EncodingCache,
    timers: &'a mut Timers,
    stats: &'a mut Stats,
    used: &'a mut Used,
    receivers: &'a [u64],
    inspector: &'a mut Inspector,
    tick: Duration,
    ticked: Order,
}

/// The decompressor and the buffer with which the messages of a packet are read.
pub(super) struct Reading<'a> {
    pub(super) packing: &'a mut Packing,
    pub(super) batch: &'a mut Batch,
}

impl<'a> Publisher<'a> {
    /// `None` if the participant has no transport.
    pub(super) fn new(
        now: Duration,
        peer: &'a mut Peer,
        common: &'a mut Common,
    ) -> Option<(Self, &'a mut Connection, Reading<'a>)> {
        let Peer { id, seen, upstream, held, state: State::Here(connection), .. } = peer else {
            return None;
        };
        let Common {
            config,
            log,
            pieces,
            upstreams,
            forms,
            timers,
            stats,
            used,
            receivers,
            inspector,
            ticked,
            packing,
            batch,
            offered,
            held: all_held,
            ..
        } = common;
        let publisher = Publisher {
            now,
            id: *id,
            one_way: Duration::ZERO,
            seen,
            upstream,
            held,
            all_held,
            offered,
            log,
            pieces,
            upstreams,
            forms,
            timers,
            stats,
            used,
            receivers,
            inspector,
            tick: config.timing.tick,
            ticked: *ticked,
        };
        Some((publisher, connection, Reading { packing, batch }))
    }

    /// The kind of a channel that the participant may publish on.
    pub(super) fn kind_of(
        &self,
        channels: &Subscriptions,
        channel: ChannelNo,
    ) -> Result<Kind, Error> {
        match channels.get(channel) {
            None => Err(Error::UnknownChannel { channel: channel.get() }),
            Some(opened) if !opened.access.publish => {
                Err(Error::NotAllowed { what: "publishing on this channel" })
            }
            Some(_) => Ok(self.log.channel(channel).qos.kind),
        }
    }

    /// The QoS that the datagrams of this channel have to meet.
    pub(super) fn needs_of(
        &self,
        channels: &Subscriptions,
        channel: ChannelNo,
    ) -> Result<Needs, Error> {
        match channels.get(channel) {
            Some(opened) if opened.access.publish => {
                Ok(self.upstreams.needs(channel, self.log.channel(channel).qos))
            }
            _ => Err(Error::UnknownChannel { channel: channel.get() }),
        }
    }

    /// Puts a message into the log.
    pub(super) fn publish(&mut self, record: &Record<'_>) -> Result<(), Error> {
        let message = Message {
            channel: record.channel,
            sender: self.id,
            key: record.key.map(Into::into),
            priority: record.priority,
            departed: None,
            to: record.to,
            text: record.text,
            piece: record.piece,
            bytes: record.bytes.into(),
            born: self.now.saturating_sub(record.age).saturating_sub(self.one_way),
        };
        self.inspector.published(self.now, self.id, message.born, record);
        match record.number {
            Number::Awareness { index, after } => {
                let value = Value::new(message, index, after);
                if !self.put(value, record) {
                    return Ok(());
                }
            }
            Number::Transaction { counter, .. } | Number::Copy { counter, .. } => {
                let is_copy = matches!(record.number, Number::Copy { .. });
                if !self.append(message, counter, is_copy)? {
                    return Ok(());
                }
            }
            Number::Fill { .. } | Number::Direct { .. } => {
                return Err(Error::malformed("record"));
            }
        }
        self.record(record);
        // A piece that goes on is not in the log yet, so the newest message there is another one.
        if !record.piece.goes_on()
            && record.to.is_none()
            && let Some(packed) = record.packed.filter(|packed| packed.len() < record.bytes.len())
            && let Some(choice) = packed.first().and_then(|&first| choice_of(first))
        {
            self.forms.put(self.log.order(), choice, Some(packed));
        }
        // W97: a transaction in pieces is one message.
        if !record.piece.goes_on() {
            let receivers = match record.to {
                Some(_) => Some(1),
                None => self.receivers.get(record.channel.place()).copied(),
            };
            self.used.deliveries += receivers.unwrap_or(0).max(1);
        }
        self.stats.messages_in += 1;
        self.stats.bytes_in_before += record.bytes.len() as u64;
        // Transactions of a stored room wait until they are durable.
        let waits = self.log.is_stored() && !matches!(record.number, Number::Awareness { .. });
        if !waits {
            self.timers.schedule_tick(self.now);
        }
        Ok(())
    }

    /// Puts a transaction, or a piece of one, into the log. Returns false if it came before, or cannot be taken now.
    fn append(&mut self, message: Message, counter: Counter, is_copy: bool) -> Result<bool, Error> {
        let channel = message.channel;
        if self.held.is_none() && is_full(self.log, self.pieces, self.offered, channel) {
            *self.held = Some(channel);
            self.all_held.insert(self.id);
        }
        if self.held.is_some() {
            // W93: the sender keeps it, and sends it again on its next transport.
            return Ok(false);
        }
        let begun = self.pieces.last(self.id);
        let last = begun.or_else(|| self.log.counter(self.id));
        match last {
            Some(last) if counter <= last => {
                self.inspector.was_repeated();
                return Ok(false);
            }
            Some(last) if counter == last.next() => {}
            // W83: this copy came before earlier transactions. The stream will bring the transaction later, in order.
            _ if is_copy => return Ok(false),
            _ => return Err(Error::malformed("record: transactions are missing")),
        }
        self.used.transactions += 1;
        if begun.is_none() && message.piece == Piece::Whole {
            self.log.check_positions(1)?;
            self.log.append(message, counter);
            return Ok(true);
        }
        if !self.log.is_stored() {
            return Err(Error::malformed("record: a piece, in a room that is not stored"));
        }
        if let Some(pieces) = self.pieces.add(message, counter)? {
            self.log.check_positions(pieces.len())?;
            for (message, counter) in pieces {
                self.log.append(message, counter);
            }
        }
        Ok(true)
    }

    /// Hands what was put into the log to a recording. A transaction in pieces is recorded as one.
    fn record(&mut self, record: &Record<'_>) {
        // Direct transactions are not recorded.
        if record.piece.goes_on() || record.to.is_some() {
            return self.inspector.piece_came(self.log.head());
        }
        let whole = match record.piece {
            Piece::Last if self.inspector.is_recording() => Some(self.log.newest_bytes()),
            _ => None,
        };
        let record = Record { bytes: whole.as_deref().unwrap_or(record.bytes), ..*record };
        self.inspector.record(self.now, self.one_way, self.id, &record, self.log.head());
    }

    /// Puts a value into the log. Returns false if this value, or a newer one of its key, came before.
    fn put(&mut self, value: Value, record: &Record<'_>) -> bool {
        let (channel, index) = (record.channel, value.index);
        let qos = self.log.channel(channel).qos;
        let key = (qos.overflow == Overflow::Conflate).then(|| record.key.unwrap_or_default());
        if !self.seen.is_news(ParticipantId(0), channel, key, index) {
            self.inspector.was_repeated();
            return false;
        }
        match self.upstream.get_mut(&channel) {
            Some(upstream) => upstream.came(self.now, index, record.age + self.one_way, &qos),
            None => {
                self.upstream.insert(channel, Upstream::at(index, value.message.born));
            }
        }
        let pairs = qos.outruns(self.tick).then_some(self.ticked);
        let replaced = self.log.put(self.now, value, pairs);
        self.stats.conflated += u64::from(replaced);
        true
    }
}
