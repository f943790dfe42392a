//! Taking packets in.

use alloc::string::ToString;
use alloc::vec::Vec;
use core::time::Duration;

use super::class::Classes;
use super::{
    Client, Event, GapReason, Incoming, Output, ParticipantChange, Phase, Session, Status,
};
use crate::client::ChannelId;
use crate::compress::choice_of;
use crate::datagrams::{Datagrams, Needs, Settings};
use crate::error::NOT_CHANGED;
use crate::ids::{ChannelNo, Counter, Index, ParticipantId, Position};
use crate::limits::DEFAULT_MAX_PACKET;
use crate::link::Bodies;
use crate::wire::body::{BodyDecoder, BodyEncoder, Form, Lane};
use crate::wire::frame::{Access, Frame, Frames, ParticipantEntry};
use crate::wire::handshake::{Outcome, Welcome};
use crate::wire::numbering::Numbering;
use crate::wire::record::{Direction, Number, Record};
use crate::wire::snapshot::{Assembly, Chunk};
use crate::{Error, Limits, Overflow, PresenceState, Qos};

impl Client {
    pub(super) fn receive(&mut self, now: Duration, packet: &[u8]) -> Result<(), Error> {
        let Some(link) = self.link.as_mut() else { return Ok(()) };
        let limit = self.config.limits.max_packet;
        if packet.len() > limit {
            return Err(Error::TooLarge { what: "packet", size: packet.len(), limit });
        }
        let mut frames = Frames::new(link.unwrap(packet)?);
        self.hear(now, packet);
        while let Some(frame) = frames.next()? {
            self.frame(now, frame)?;
        }
        Ok(())
    }

    /// W38: what is wrong with a datagram costs nothing but itself.
    pub(super) fn receive_datagram(&mut self, now: Duration, packet: &[u8]) {
        if self.phase != Phase::Joined {
            return;
        }
        let Some(link) = self.link.as_mut() else { return };
        let one_way = link.clock.one_way();
        self.hear(now, packet);
        let packet = self.take_shared(now, packet);
        let link = self.link.as_mut();
        let Some(mut datagrams) = link.and_then(|link| link.datagrams.take()) else { return };
        let known = core::mem::take(&mut self.known);
        let mut packing = core::mem::take(&mut self.packing);
        let needs_of = |id: ChannelNo| {
            known
                .get(id.get() as usize)
                .copied()
                .flatten()
                .ok_or(Error::UnknownChannel { channel: id.get() })
        };
        let mut batch = core::mem::take(&mut self.batch);
        if let Ok(mut incoming) = datagrams.read(now, packet, one_way, &mut batch) {
            let outcome = loop {
                match datagrams.next(now, &mut incoming, &mut packing, needs_of) {
                    Ok(Some(record)) => {
                        let delivered = match record.number {
                            Number::Copy { counter, position, previous } => {
                                self.deliver_copy(&record, counter, position, previous)
                            }
                            _ => self.deliver(Duration::ZERO, &record),
                        };
                        if let Err(error) = delivered {
                            break Err(error);
                        }
                    }
                    Ok(None) => break Ok(()),
                    Err(error) => break Err(error),
                }
            };
            let _ = datagrams.finish(now, incoming, outcome);
        }
        self.batch = batch;
        self.packing = packing;
        self.known = known;
        datagrams.settled(self.ordered);
        self.tell_missed(&mut datagrams);
        if let Some(link) = self.link.as_mut() {
            link.datagrams = Some(datagrams);
        }
        self.heed_path(now);
    }

    fn hear(&mut self, now: Duration, packet: &[u8]) {
        if let Some(link) = self.link.as_mut() {
            link.hear(now, packet.len());
        }
        self.set_quiet(false);
        self.stats.packets_in += 1;
        self.stats.bytes_in_after += packet.len() as u64;
    }

    fn frame(&mut self, now: Duration, frame: Frame<'_>) -> Result<(), Error> {
        let greeted = !matches!(self.phase, Phase::Greeting(_));
        match frame {
            Frame::Welcome(welcome) if !greeted => self.welcome(welcome),
            Frame::Error { code, fault, fatal, subject, detail } => {
                let detail = detail.to_string();
                self.reported(Error::Remote { code, fault, detail }, fatal, subject)
            }
            _ if !greeted => Err(Error::malformed("opening: WELCOME comes first")),
            Frame::PackedMessages(_) | Frame::PackedSnapshot(_) if !self.takes_blocks() => {
                Err(Error::malformed("PACKED: it was not agreed on"))
            }
            Frame::Channel { reference, id, access, name, qos } => {
                self.opened(reference, id, access, name, qos)
            }
            Frame::Messages(body) => self.body(body, Form::Plain),
            Frame::Coded(body) => self.body(body, Form::Coded),
            Frame::PackedMessages(body) => self.body(body, Form::Packed),
            Frame::Participants { complete, list } => {
                self.participants(complete, &list);
                Ok(())
            }
            Frame::Snapshot(chunk) => self.chunk(&chunk, false),
            Frame::PackedSnapshot(chunk) => self.chunk(&chunk, true),
            Frame::SnapshotWanted { at_least } => {
                if at_least > self.position {
                    return Err(Error::malformed("SNAPSHOT_WANTED: of the future"));
                }
                self.snapshot_wanted = Some(self.position);
                self.tell(Event::SnapshotWanted { as_of: self.position });
                Ok(())
            }
            Frame::Synced { channel } => self.synced(channel),
            Frame::Position(position) => self.moved_to(position),
            Frame::Gap { position, counter } => {
                // What a channel opened late has lost moves nothing.
                if position > self.copies.streamed(self.position) {
                    self.settle(counter, position);
                    self.moved_to(position)?;
                    self.counted(counter);
                }
                self.tell(Event::Gap { reason: GapReason::History, uncertain: 0 });
                Ok(())
            }
            Frame::Ping { time } => {
                if let Some(link) = self.link.as_mut() {
                    link.answer_ping(now, time);
                }
                Ok(())
            }
            Frame::Pong { time, received, sent } => {
                let asked = Duration::from_micros(time);
                if let Some(link) = self.link.as_mut() {
                    let transport = self.transports;
                    self.channels.iter_mut().for_each(|channel| channel.arrived(transport, asked));
                    link.pong(now, time, received, sent);
                }
                Ok(())
            }
            Frame::Bye { retry_ms, .. } => {
                self.outputs.push_back(Output::Hangup);
                // A day at most: a server cannot send anybody away for good.
                let retry = Duration::from_millis(retry_ms.min(24 * 3600 * 1000));
                self.link = None;
                if self.phase == Phase::Leaving {
                    self.end();
                } else {
                    // `Closed` comes from the shell and starts the wait.
                    self.stay_away = retry;
                    self.phase = Phase::Dialing;
                }
                Ok(())
            }
            Frame::Contract(octets) => self.contract_came(now, octets),
            Frame::Standing(octets) => self.inspected.wished(now, octets),
            Frame::Codecs { set } => {
                if let Some(link) = self.link.as_mut() {
                    link.choosing.reads(set);
                }
                Ok(())
            }
            Frame::Model { lane: Lane::Stream, class, total, offset, rest }
                if self.shared.agreed =>
            {
                self.model(class, total, offset, rest)
            }
            Frame::Shared(body) if self.shared.agreed => self.shared_body(body),
            Frame::Leave { lane: Lane::Stream, .. } if self.shared.agreed => self.leave_shared(),
            Frame::Model { lane: Lane::Datagrams, .. }
            | Frame::SharedAgain { .. }
            | Frame::Leave { lane: Lane::Datagrams, .. } => self.class_frame(now, &frame),
            Frame::Model { .. }
            | Frame::Shared(_)
            | Frame::SharedDatagram { .. }
            | Frame::Leave { .. } => Err(Error::malformed("frame: it was not agreed on")),
            Frame::Hello(_)
            | Frame::Welcome(_)
            | Frame::Open { .. }
            | Frame::Shut { .. }
            | Frame::Compress { .. }
            | Frame::Change { .. }
            | Frame::Rate { .. }
            | Frame::Acknowledged { .. }
            | Frame::Presence(_) => Err(Error::malformed("frame: only a client sends this")),
        }
    }

    fn welcome(&mut self, welcome: Welcome) -> Result<(), Error> {
        let largest = welcome.max_packet.min(DEFAULT_MAX_PACKET);
        if largest < Limits::packet_for(welcome.max_message) {
            return Err(Error::malformed("WELCOME: its messages do not fit its packets"));
        }
        let before = self.session;
        let resumed = welcome.outcome == Outcome::Resumed;
        if resumed && before.is_none_or(|session| session.participant != welcome.participant) {
            return Err(Error::malformed("WELCOME: resumed what was not asked for"));
        }
        if !resumed {
            let same = before.is_some_and(|session| session.incarnation == welcome.incarnation);
            self.start_over(welcome.outcome, same);
        }
        if welcome.counter > self.numbered || welcome.counter < self.ordered {
            return Err(Error::malformed("WELCOME: it counts transactions never sent"));
        }
        // What the room has not is numbered again when it is sent again: in the same order, so equally, unless
        // something was given up meanwhile.
        for pending in &mut self.pending {
            pending.sent = pending.counter.is_some_and(|counter| counter <= welcome.counter);
            pending.counter = pending.counter.filter(|_| pending.sent);
        }
        self.numbered = welcome.counter;
        let Some(link) = self.link.as_mut() else { return Ok(()) };
        let agreed = self.offered.answered(welcome.capabilities)?;
        link.stamps.agreed = agreed.contracts;
        self.inspected.begin_anew(agreed.quality);
        let up = Numbering::new(ParticipantId(0), welcome.counter, Position(0));
        let down = Numbering::new(welcome.participant, self.ordered, self.position);
        self.classes = Classes::new(agreed.groups);
        link.limit_packets(welcome.max_packet);
        self.shared.agreed = agreed.shared_streams;
        if agreed.blocks {
            link.choosing.blocks.agree();
        }
        link.bodies = Some(Bodies {
            encoder: BodyEncoder::new(Direction::ToServer, up, agreed.coded),
            decoder: BodyDecoder::new(
                Direction::ToClient,
                down,
                agreed.coded,
                self.config.limits.max_message,
            ),
        });
        if agreed.datagrams {
            link.datagrams = Datagrams::new(Settings {
                max: link.max_datagram,
                sends: Direction::ToServer,
                coded: agreed.coded,
                copies: agreed.copies,
                max_message: self.config.limits.max_message,
                redundancy: self.config.redundancy,
            });
        }
        let heard = link.heard();
        link.ping(heard);
        self.session = Some(Session {
            participant: welcome.participant,
            secret: welcome.secret,
            incarnation: welcome.incarnation,
            timing: welcome.timing,
            max_message: welcome.max_message,
            max_snapshot: welcome.max_snapshot,
            resumed,
        });
        self.phase = Phase::Joined;
        self.drop_larger_than(welcome.max_message);
        self.joined_at = Some(heard);
        if before.is_some() {
            self.stats.reconnects += 1;
        }
        self.tell(Event::Joined { participant: welcome.participant, resumed });
        self.tell(Event::Status(Status::Connected));
        Ok(())
    }

    fn opened(
        &mut self,
        reference: u32,
        id: ChannelNo,
        access: Access,
        name: &str,
        qos: Qos,
    ) -> Result<(), Error> {
        let is_known = self.by_id.contains_key(&id);
        let at = match self.by_id.get(&id) {
            // W16: of a channel that is open, unasked if the reference is 0.
            Some(&at) if reference == 0 || at as u32 == reference => at,
            Some(_) => return Err(Error::malformed("CHANNEL: one number for two channels")),
            None => reference as usize,
        };
        let Some(channel) = self.channels.get_mut(at).filter(|channel| channel.name == name) else {
            return Err(Error::malformed("CHANNEL: it was not asked for"));
        };
        if id == ChannelNo(0) || id > MAX_CHANNEL_ID {
            return Err(Error::malformed("CHANNEL: its number"));
        }
        channel.id = Some(id);
        let before = core::mem::replace(&mut channel.qos, qos);
        let kind = before.kind;
        channel.access = channel.access.and(access);
        let may_publish = channel.access.publish;
        self.by_id.insert(id, at);
        if self.known.len() <= id.get() as usize {
            self.known.resize(id.get() as usize + 1, None);
        }
        self.known[id.get() as usize] = Some(Needs { qos, upstream: None });
        self.tell_compress(at);
        self.terms_came(at, is_known, before);
        if kind != qos.kind {
            self.change_kind(at);
        }
        if !may_publish && self.give_up(at, |_| true).is_some() {
            self.tell_of(at, Error::NotAllowed { what: "publishing on this channel" });
        }
        Ok(())
    }

    fn reported(&mut self, error: Error, fatal: bool, subject: u32) -> Result<(), Error> {
        if fatal {
            // The server closes; `fail` decides whether to come back.
            return Err(error);
        }
        if error.code() == NOT_CHANGED && self.not_changed(ChannelNo(subject), &error) {
            return Ok(());
        }
        match self.channels.get_mut(subject as usize).filter(|channel| channel.id.is_none()) {
            Some(channel) => {
                channel.refused = true;
                self.give_up(subject as usize, |_| true);
                self.tell_of(subject as usize, error);
            }
            None => self.tell(Event::Error { error, channel: None, fatal: false }),
        }
        Ok(())
    }

    fn body(&mut self, body: &[u8], form: Form) -> Result<(), Error> {
        let Some(link) = self.link.as_mut() else { return Ok(()) };
        let one_way = link.transit();
        let Some(mut bodies) = link.bodies.take() else { return Ok(()) };
        let known = core::mem::take(&mut self.known);
        let mut packing = core::mem::take(&mut self.packing);
        let kind_of = |id: ChannelNo| {
            let needs = known.get(id.get() as usize).copied().flatten();
            needs.map(|needs| needs.qos.kind).ok_or(Error::UnknownChannel { channel: id.get() })
        };
        let each = |record: Record<'_>| self.deliver(one_way, &record);
        let outcome = bodies.decoder.read_body(form, body, &mut packing, kind_of, each);
        self.packing = packing;
        self.known = known;
        if let Some(link) = self.link.as_mut() {
            link.bodies = Some(bodies);
        }
        outcome
    }

    pub(super) fn deliver(&mut self, one_way: Duration, record: &Record<'_>) -> Result<(), Error> {
        if let Number::Transaction { position, .. } = record.number
            && position <= self.position
        {
            if self.copies.came(position) {
                return Ok(());
            }
            return Err(Error::malformed("record: its position went back"));
        }
        if let (true, Number::Transaction { counter, position }) = (record.own, record.number) {
            self.own(counter, position)?;
            self.position = position;
            return Ok(());
        }
        let at = *self.by_id.get(&record.channel).ok_or(Error::malformed("record"))?;
        let channel = ChannelId(at as u32);
        let mut incoming = Incoming {
            channel,
            sender: record.sender,
            bytes: Vec::new(),
            text: record.text,
            key: record.key.map(Into::into),
            priority: record.priority,
            age: record.age + one_way,
            position: Position(0),
            index: Index(0),
            own: false,
            stale: false,
            state: record.state,
        };
        match record.number {
            Number::Transaction { counter, position } | Number::Copy { counter, position, .. } => {
                self.position = position;
                self.delivered.note(record.sender, counter);
                // After a break the room counts from a place before what filled a channel that was opened late.
                if position <= self.channels[at].have {
                    return Ok(());
                }
                self.channels[at].have = position;
                (incoming.position, incoming.index) = (position, Index(counter.get()));
            }
            Number::Fill { counter, position } => {
                if position <= self.channels[at].have {
                    return Ok(());
                }
                self.channels[at].have = position;
                self.delivered.note(record.sender, counter);
                (incoming.position, incoming.index) = (position, Index(counter.get()));
            }
            Number::Awareness { index, after } => {
                let conflates = self.channels[at].qos.overflow == Overflow::Conflate;
                let key = conflates.then(|| record.key.unwrap_or_default());
                if !self.seen.is_news(record.sender, channel, key, index) {
                    return Ok(());
                }
                incoming.index = index;
                incoming.stale = self.delivered.is_beyond(record.sender, after);
            }
        }
        incoming.bytes = record.bytes.to_vec();
        let packed = record.packed;
        self.channels[at]
            .stats
            .received
            .count(record, packed.and_then(|packed| choice_of(*packed.first()?)));
        self.stats.messages_in += 1;
        self.stats.bytes_in_before += incoming.bytes.len() as u64;
        self.judge(&incoming, matches!(record.number, Number::Fill { .. }));
        self.tell(Event::Message(incoming));
        Ok(())
    }

    /// W29: the oldest pending transaction has its place in the order.
    pub(super) fn own(&mut self, counter: Counter, position: Position) -> Result<(), Error> {
        // What lies before it and was covered by a snapshot is settled already.
        let expected = self.pending.front().and_then(|pending| pending.counter);
        if expected != Some(counter) {
            return Err(Error::malformed("record: an own transaction out of order"));
        }
        self.settle(counter, position);
        Ok(())
    }

    fn participants(&mut self, complete: bool, list: &[ParticipantEntry<'_>]) {
        for entry in list.iter().filter(|entry| entry.state == PresenceState::Left) {
            self.delivered.forget(entry.id);
            self.seen.forget(entry.id);
            self.channels.iter_mut().for_each(|channel| channel.judge.forget(entry.id));
            if let Some(bodies) = self.link.as_mut().and_then(|link| link.bodies.as_mut()) {
                bodies.decoder.numbering.forget(entry.id);
            }
        }
        let changes = list
            .iter()
            .map(|entry| ParticipantChange {
                id: entry.id,
                state: entry.state,
                presence: entry.presence.to_vec(),
            })
            .collect();
        self.tell(Event::Participants { complete, changes });
    }

    fn takes_blocks(&self) -> bool {
        self.link.as_ref().is_some_and(|link| link.choosing.blocks.are_agreed())
    }

    fn chunk(&mut self, chunk: &Chunk<'_>, is_packed: bool) -> Result<(), Error> {
        let limit = self.config.limits.max_snapshot;
        let whole = match is_packed {
            false => Assembly::add(&mut self.download, chunk, limit)?,
            true => {
                let chunk = chunk.unpacked(&mut self.packing, limit)?;
                Assembly::add(&mut self.download, &chunk, limit)?
            }
        };
        let Some(whole) = whole else { return Ok(()) };
        let Assembly { as_of, counter, bytes, .. } = whole;
        self.settle(counter, as_of);
        self.moved_to(as_of)?;
        self.covered = as_of;
        for channel in &mut self.channels {
            channel.have = channel.have.max(as_of);
        }
        self.counted(counter);
        self.tell(Event::Snapshot { as_of, bytes });
        Ok(())
    }

    /// Own transactions up to `counter` came another way than as records.
    fn counted(&mut self, counter: Counter) {
        let bodies = self.link.as_mut().and_then(|link| link.bodies.as_mut());
        if let (Some(session), Some(bodies)) = (self.session, bodies) {
            bodies.decoder.numbering.counted(session.participant, counter);
        }
    }

    fn moved_to(&mut self, position: Position) -> Result<(), Error> {
        if position < self.copies.streamed(self.position) {
            return Err(Error::malformed("position: it went back"));
        }
        self.copies.passed(position);
        self.position = self.position.max(position);
        if let Some(bodies) = self.link.as_mut().and_then(|link| link.bodies.as_mut()) {
            bodies.decoder.numbering.advance(position);
        }
        Ok(())
    }

    fn synced(&mut self, id: ChannelNo) -> Result<(), Error> {
        let channel = match id {
            ChannelNo(0) => {
                for at in 0..self.channels.len() {
                    let channel = &mut self.channels[at];
                    if channel.with_join && !channel.synced && channel.id.is_some() {
                        channel.synced = true;
                        self.tell(Event::Synced { channel: Some(ChannelId(at as u32)) });
                    }
                }
                None
            }
            id => {
                let at = *self.by_id.get(&id).ok_or(Error::UnknownChannel { channel: id.get() })?;
                self.channels[at].synced = true;
                Some(ChannelId(at as u32))
            }
        };
        self.tell(Event::Synced { channel });
        Ok(())
    }

    pub(super) fn tell(&mut self, event: Event) {
        self.outputs.push_back(Output::Event(event));
    }
}

/// Channel numbers are given out from 1 up, and a room has few; this bounds a table.
const MAX_CHANNEL_ID: ChannelNo = ChannelNo(4096);
