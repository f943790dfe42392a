//! Handing the records that arrive to the application, each message once and transactions in order
//! (wire W24, W28 to W31).

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use super::channel_id::ChannelId;
use super::copies::Copies;
use super::directs::Held;
use super::event::{Event, Incoming};
use super::numbers::Numbers;
use super::pieces::Content;
use super::session::Session;
use crate::compress::choice_of;
use crate::datagrams::Datagrams;
use crate::ids::{ChannelNo, Counter, Index, Position};
use crate::wire::record::{Number, Record};
use crate::wire::snapshot::Assembly;
use crate::{Error, Overflow};

/// The state of one transport that is needed to deliver received records.
#[derive(Default)]
pub(super) struct Inbound {
    pub(super) numbers: Numbers,
    pub(super) copies: Copies,
    /// Direct transactions (W114) that wait for their places in the order.
    pub(super) held: Held,
    /// The parts of the snapshot that are announced and have not arrived, by the server's numbers.
    pub(super) parts: Vec<(u32, Announced)>,
    /// The channel and the position of the last RESET, whose GAP comes next (W102).
    pub(super) reset: Option<(ChannelNo, Position)>,
    /// The part of the snapshot whose chunks are arriving.
    pub(super) download: Option<Assembly>,
    /// True if WELCOME resumed the session on this transport.
    pub(super) resumed: bool,
}

/// A part of the snapshot that the server announced.
pub(super) struct Announced {
    pub(super) name: String,
    /// The counter of the last own transaction that it covers.
    pub(super) counter: Counter,
    /// The places of its channels among the session's channels.
    pub(super) channels: Vec<usize>,
}

/// Delivers the records of one packet.
pub(super) struct Delivery<'a> {
    pub(super) now: Duration,
    /// How long the packet took from the other end. It is zero if the ages of the records include
    /// this time.
    pub(super) transit: Duration,
    pub(super) session: &'a mut Session,
    pub(super) inbound: &'a mut Inbound,
    /// The datagrams of the transport. Their statistics are reported with the contract's state.
    pub(super) datagrams: Option<&'a Datagrams>,
}

impl Delivery<'_> {
    /// Delivers a record.
    ///
    /// # Errors
    /// A record that no room sends.
    pub(super) fn deliver(&mut self, record: &Record<'_>) -> Result<(), Error> {
        let session = &mut *self.session;
        if let (true, Number::Direct { counter, position }) = (record.own, record.number) {
            return self.inbound.held.add(session, (position, counter), None);
        }
        if let Number::Transaction { position, .. } | Number::Copy { position, .. } = record.number
        {
            self.inbound.held.release(session, Position(position.get().saturating_sub(1)));
        }
        if let Number::Transaction { position, .. } = record.number
            && position <= session.delivered.position
        {
            if self.inbound.copies.is_delivered(position) {
                return Ok(());
            }
            return Err(Error::malformed("record: its position went back"));
        }
        if let (true, Number::Transaction { counter, position }) = (record.own, record.number) {
            return session.confirm_next(counter, position);
        }
        let at = self.inbound.numbers.at(record.channel).ok_or(Error::malformed("record"))?;
        if let Number::Transaction { position, .. } | Number::Copy { position, .. } = record.number
        {
            session.delivered.position = position;
        }
        if !self.is_news(at, record) {
            return Ok(());
        }
        let content = self.content(at, record)?;
        let Session { channels, stats, .. } = &mut *self.session;
        let choice = record.packed.and_then(|packed| choice_of(*packed.first()?));
        channels[at].stats.received.count(record, choice);
        stats.messages_in += 1;
        stats.bytes_in_before += record.bytes.len() as u64;
        match content {
            Some(content) => self.hand_over(record, self.incoming(at, record, content)),
            None => Ok(()),
        }
    }

    /// True if the application has not received the message of this record, and uses the channel at
    /// place `at`. The room may send records before it reads SHUT.
    fn is_news(&mut self, at: usize, record: &Record<'_>) -> bool {
        let Session { channels, delivered, directs, .. } = &mut *self.session;
        let channel = &channels[at];
        let is_open = channel.id.is_some();
        match record.number {
            // After a resume, the room may send again transactions which this channel, opened late,
            // already received as its history.
            Number::Transaction { position, .. }
            | Number::Copy { position, .. }
            | Number::Fill { position, .. } => is_open && position > channel.received.have,
            Number::Awareness { index, .. } => {
                let conflates = channel.qos.overflow == Overflow::Conflate;
                let key = conflates.then(|| record.key.unwrap_or_default());
                is_open && delivered.is_news(record.sender, ChannelId(at as u32), key, index)
            }
            Number::Direct { position, .. } => {
                let received = directs.received;
                if position <= received {
                    // It came over an earlier transport, which did not tell the server.
                    self.inbound.held.received = Some(received);
                }
                is_open && position > received
            }
        }
    }

    /// The content of the message that the record completes; `None` if other pieces follow.
    fn content(&mut self, at: usize, record: &Record<'_>) -> Result<Option<Content>, Error> {
        let Session { channels, delivered, .. } = &mut *self.session;
        match record.number {
            Number::Transaction { counter, position }
            | Number::Copy { counter, position, .. }
            | Number::Fill { counter, position } => {
                let content = channels[at].received.add_piece(record, position)?;
                if content.is_some() {
                    delivered.note(record.sender, counter);
                }
                Ok(content)
            }
            Number::Awareness { .. } | Number::Direct { .. } => Ok(Some(Content::whole(record))),
        }
    }

    /// The message as the application receives it.
    fn incoming(&self, at: usize, record: &Record<'_>, content: Content) -> Incoming {
        let Content { key, priority, bytes } = content;
        // W31: what was said between two transports of a session is in the room when the session
        // resumes, but the participant had joined long before, so to the application it is news.
        let is_fill = matches!(record.number, Number::Fill { .. });
        let was_here = self.inbound.resumed && self.session.channels[at].synced && !is_fill;
        let mut incoming = Incoming {
            channel: ChannelId(at as u32),
            sender: record.sender,
            bytes,
            text: record.text,
            key,
            priority,
            age: record.age + self.transit,
            position: Position(0),
            index: Index(0),
            own: false,
            stale: false,
            state: record.state && !was_here,
            departed: record.departed,
            to: None,
        };
        match record.number {
            Number::Awareness { index, after } => {
                incoming.index = index;
                incoming.stale = self.session.delivered.is_beyond(record.sender, after);
            }
            Number::Transaction { counter, position }
            | Number::Copy { counter, position, .. }
            | Number::Fill { counter, position }
            | Number::Direct { counter, position } => {
                (incoming.position, incoming.index) = (position, Index(counter.get()));
            }
        }
        if let Number::Direct { .. } = record.number {
            incoming.to = self.session.membership.map(|membership| membership.participant);
        }
        incoming
    }

    /// Hands the message to the application, now or once what it depends on has come.
    fn hand_over(&mut self, record: &Record<'_>, incoming: Incoming) -> Result<(), Error> {
        let session = &mut *self.session;
        if let Number::Direct { counter, position } = record.number {
            return self.inbound.held.add(session, (position, counter), Some(incoming));
        }
        session.judge(self.now, &incoming, self.datagrams);
        let is_awareness = matches!(record.number, Number::Awareness { .. });
        let limit = session.config.limits.max_participants;
        match is_awareness && session.participants.lacks(record.sender, limit) {
            true => session.participants.hold(self.now, incoming),
            false => session.emit(Event::Message(incoming)),
        }
        Ok(())
    }

    /// W83: delivers the copy of a transaction that was received in a datagram, if the transaction
    /// is the next one. Otherwise the copy is ignored, because the stream brings the transaction.
    ///
    /// # Errors
    /// A record that no room sends.
    pub(super) fn deliver_copy(&mut self, record: &Record<'_>) -> Result<(), Error> {
        let Number::Copy { counter, position, previous } = record.number else {
            return Err(Error::malformed("record"));
        };
        let before = self.session.delivered.position;
        let is_next = previous <= before && before < position;
        let at = self.inbound.numbers.at(record.channel);
        // Before the channel is synced, older transactions of it may be on their way over the
        // stream.
        let is_synced = at.is_some_and(|at| self.session.channels[at].synced);
        if !is_next
            || !is_synced
            || !self.inbound.parts.is_empty()
            || !self.inbound.copies.takes_more()
        {
            return Ok(());
        }
        if record.own {
            let until = Position(position.get().saturating_sub(1));
            self.inbound.held.release(self.session, until);
            self.session.confirm_next(counter, position)?;
        } else {
            self.deliver(record)?;
        }
        self.inbound.copies.delivered(before, position);
        Ok(())
    }
}
