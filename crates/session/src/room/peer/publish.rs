//! Puts the messages that a participant publishes into the room's log.

use core::time::Duration;

use super::connection::Connection;
use super::sender::Sender;
use super::{Peer, State};
use crate::compress::choice_of;
use crate::datagrams::Needs;
use crate::packing::{EncodingCache, Packing};
use crate::room::accounting::Accounting;
use crate::room::accounting::upstream::Upstream;
use crate::room::common::Common;
use crate::room::delivery::Compression;
use crate::room::intake::Intake;
use crate::room::log::{Log, Message, Value};
use crate::room::mirror::{Upward, follows};
use crate::room::subscriptions::Subscriptions;
use crate::room::timers::Timers;
use crate::wire::payload::Batch;
use crate::wire::piece::Piece;
use crate::wire::record::{Number, Record};
use crate::{ChannelNo, Counter, Error, Index, Kind, LinkId, Overflow, ParticipantId, Qos};

/// Publishes the messages of a packet: the sender, and the parts of the room that change.
pub(super) struct Publisher<'a> {
    now: Duration,
    id: ParticipantId,
    /// The part of the packet's travel time to the room that the ages in its messages do not
    /// include.
    pub(super) one_way: Duration,
    sender: &'a mut Sender,
    log: &'a mut Log,
    intake: &'a mut Intake,
    accounting: &'a mut Accounting,
    timers: &'a mut Timers,
    forms: &'a mut EncodingCache,
    /// In a mirror: the way to its room, and the participant's transport.
    upward: Option<(&'a mut Upward, LinkId)>,
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
        let Peer { id, sender, state: State::Here(connection), .. } = peer else { return None };
        let Common { log, intake, batch, delivery, accounting, timers, upward, .. } = common;
        let Compression { packing, forms, .. } = &mut delivery.compression;
        let (id, one_way) = (*id, Duration::ZERO);
        let upward = upward.as_deref_mut().map(|upward| (upward, connection.id));
        let publisher =
            Publisher { now, id, one_way, sender, log, intake, accounting, timers, forms, upward };
        Some((publisher, connection, Reading { packing, batch }))
    }

    /// The publisher of a participant whose transport is at a mirror.
    pub(super) fn of_guest(now: Duration, peer: &'a mut Peer, common: &'a mut Common) -> Self {
        let Peer { id, sender, .. } = peer;
        let Common { log, intake, delivery, accounting, timers, .. } = common;
        let forms = &mut delivery.compression.forms;
        let (id, one_way, upward) = (*id, Duration::ZERO, None);
        Publisher { now, id, one_way, sender, log, intake, accounting, timers, forms, upward }
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
                Ok(self.accounting.upstreams.needs(channel, self.log.channel(channel).qos))
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
        self.accounting.inspector.published(self.now, self.id, message.born, record);
        if self.upward.is_some() {
            return self.pass_on(message, record);
        }
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
        // A piece that further pieces follow is not in the log yet, so the newest message of the
        // log is another one.
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
                None => self.intake.receivers.get(record.channel.place()).copied(),
            };
            self.accounting.used.deliveries += receivers.unwrap_or(0).max(1);
        }
        self.accounting.count_published(record.bytes.len());
        // Transactions of a stored room wait until they are durable.
        let waits = self.log.is_stored() && !matches!(record.number, Number::Awareness { .. });
        if !waits {
            self.timers.schedule_tick(self.now);
        }
        Ok(())
    }

    /// Passes a message on to the room, in a mirror, unless it came before.
    fn pass_on(&mut self, message: Message, record: &Record<'_>) -> Result<(), Error> {
        let Some((upward, seat)) = &mut self.upward else { return Ok(()) };
        let is_news = match record.number {
            Number::Awareness { index, .. } => {
                let conflates = self.log.channel(record.channel).qos.overflow == Overflow::Conflate;
                let key = conflates.then(|| record.key.unwrap_or_default());
                self.sender.seen.is_news(ParticipantId(0), record.channel, key, index)
            }
            Number::Transaction { counter, .. } => follows(self.sender.passed_on, counter, false)?,
            Number::Copy { counter, .. } => follows(self.sender.passed_on, counter, true)?,
            Number::Fill { .. } | Number::Direct { .. } => false,
        };
        if !is_news {
            self.accounting.inspector.was_repeated();
            return Ok(());
        }
        upward.publish(*seat, message, record)?;
        if let Number::Transaction { counter, .. } | Number::Copy { counter, .. } = record.number {
            self.sender.passed_on = counter;
        }
        self.accounting.count_published(record.bytes.len());
        Ok(())
    }

    /// Puts a transaction, or a piece of one, into the log. Returns false if it came before, or
    /// cannot be taken now.
    fn append(&mut self, message: Message, counter: Counter, is_copy: bool) -> Result<bool, Error> {
        let channel = message.channel;
        if self.sender.held.is_none() && self.intake.is_full(self.log, channel) {
            self.sender.held = Some(channel);
            self.intake.held.insert(self.id);
        }
        if self.sender.held.is_some() {
            // W93: the sender keeps the transaction, and sends it again on its next transport.
            return Ok(false);
        }
        let begun = self.intake.pieces.last(self.id);
        let last = begun.or_else(|| self.log.counter(self.id));
        match last {
            Some(last) if counter <= last => {
                self.accounting.inspector.was_repeated();
                return Ok(false);
            }
            Some(last) if counter == last.next() => {}
            // W83: this copy came before earlier transactions. The stream will bring the
            // transaction later, in order.
            _ if is_copy => return Ok(false),
            _ => return Err(Error::malformed("record: transactions are missing")),
        }
        self.accounting.used.transactions += 1;
        if begun.is_none() && message.piece == Piece::Whole {
            self.log.check_positions(1)?;
            self.log.append(message, counter);
            return Ok(true);
        }
        if !self.log.is_stored() {
            return Err(Error::malformed("record: a piece, in a room that is not stored"));
        }
        if let Some(pieces) = self.intake.pieces.add(message, counter)? {
            self.log.check_positions(pieces.len())?;
            for (message, counter) in pieces {
                self.log.append(message, counter);
            }
        }
        Ok(true)
    }

    /// Records a message that was put into the log, if recording is on. A transaction in pieces is
    /// recorded as one message.
    fn record(&mut self, record: &Record<'_>) {
        // Frames of sound are not recorded (W119).
        if self.log.channel(record.channel).qos.has_speakers() {
            return self.accounting.inspector.advance(self.log.head());
        }
        // Direct transactions are not recorded.
        if record.piece.goes_on() || record.to.is_some() {
            return self.accounting.inspector.piece_came(self.log.head());
        }
        let whole = match record.piece {
            Piece::Last if self.accounting.inspector.is_recording() => {
                Some(self.log.newest_bytes())
            }
            _ => None,
        };
        let record = Record { bytes: whole.as_deref().unwrap_or(record.bytes), ..*record };
        self.accounting.inspector.record(self.now, self.one_way, self.id, &record, self.log.head());
    }

    /// Puts a value into the log. Returns false if this value, or a newer one of its key, came
    /// before, or if it is a frame of sound that is not passed on.
    fn put(&mut self, mut value: Value, record: &Record<'_>) -> bool {
        let (channel, index) = (record.channel, value.index);
        let qos = self.log.channel(channel).qos;
        let key = (qos.overflow == Overflow::Conflate).then(|| record.key.unwrap_or_default());
        if !self.sender.seen.is_news(ParticipantId(0), channel, key, index) {
            self.accounting.inspector.was_repeated();
            return false;
        }
        match self.sender.upstream.get_mut(&channel) {
            Some(upstream) => upstream.came(self.now, index, record.age + self.one_way, &qos),
            None => {
                self.sender.upstream.insert(channel, Upstream::at(index, value.message.born));
            }
        }
        if qos.has_speakers() {
            if !self.is_heard(&qos, record) {
                return false;
            }
            let unheard = self.sender.unheard.get(&channel).copied().unwrap_or(0);
            value.index = Index(index.get().wrapping_sub(unheard));
            self.timers.schedule_frames(self.now);
        }
        let replaced = self.log.put(self.now, value, self.timers.pairs_after(&qos));
        self.accounting.stats.conflated += u64::from(replaced);
        true
    }

    /// True if a frame of sound is passed on (wire W119). Otherwise the later frames are numbered
    /// as if it had not been sent, so that receivers do not miss it.
    fn is_heard(&mut self, qos: &Qos, record: &Record<'_>) -> bool {
        let (channel, first) = (record.channel, record.bytes.first().copied());
        let speakers = self.intake.speakers.entry(channel).or_default();
        let is_heard = speakers.hear(self.now, self.id, first, qos.speakers);
        if !is_heard {
            let unheard = self.sender.unheard.entry(channel).or_default();
            *unheard = unheard.wrapping_add(1);
            self.accounting.count_published(record.bytes.len());
        }
        is_heard
    }
}
