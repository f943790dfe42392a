//! Reads received packets and datagrams, frame by frame.

use alloc::string::ToString;
use core::time::Duration;

use super::Client;
use super::channel::Stage;
use super::channel_id::ChannelId;
use super::delivery::{Announced, Delivery, Inbound};
use super::event::{Event, GapReason};
use super::participants::changes;
use super::phase::{Hold, Joined, Phase};
use super::session::Session;
use crate::datagrams::Needs;
use crate::error::{NOT_CHANGED, NOT_NOW, PART_REFUSED};
use crate::ids::{ChannelNo, Counter, GroupId, Position};
use crate::limits::MAX_PARTS;
use crate::packing::Packing;
use crate::trace::Carrier;
use crate::wire::coding::PayloadForm;
use crate::wire::frame::{Access, Frame, Frames, ParticipantEntry};
use crate::wire::payload::Batch;
use crate::wire::record::Number;
use crate::wire::snapshot::{Assembly, Chunk};
use crate::{Error, PresenceState, Qos};

/// The longest time for which a HOLD frame is heeded (wire W99): no server can silence a client for good by one frame.
const MAX_HOLD: Duration = Duration::from_secs(60);

/// The state that is needed to read a packet, apart from the transport that it was received over.
pub(super) struct Reading<'a> {
    pub(super) now: Duration,
    pub(super) session: &'a mut Session,
    pub(super) packing: &'a mut Packing,
    /// Scratch memory for the messages of one payload.
    pub(super) batch: &'a mut Batch,
}

/// A CHANNEL frame: the server's answer to OPEN, or a change of a channel that is open.
struct ChannelFrame<'a> {
    reference: u32,
    id: ChannelNo,
    access: Access,
    name: &'a str,
    qos: Qos,
}

impl Client {
    /// Reads a received packet of the stream.
    ///
    /// # Errors
    /// Any error in the packet. The caller then gives the transport up.
    pub(super) fn on_packet(&mut self, now: Duration, packet: &[u8]) -> Result<(), Error> {
        let Some(link) = self.phase.link_mut() else { return Ok(()) };
        let limit = self.session.config.limits.max_packet;
        if packet.len() > limit {
            return Err(Error::TooLarge { what: "packet", size: packet.len(), limit });
        }
        let mut frames = Frames::new(link.unwrap(packet)?);
        link.on_packet(now, packet.len());
        self.session.count_in(packet.len());
        // BYE ends the transport: the frames after it are ignored.
        while self.phase.link().is_some()
            && let Some(frame) = frames.next()?
        {
            self.on_frame(now, frame)?;
        }
        let ordered = self.session.ordered;
        if let Some(joined) = self.phase.welcomed_mut() {
            joined.say_received();
            if let Some(datagrams) = &mut joined.datagrams {
                datagrams.on_ordered(ordered);
            }
        }
        Ok(())
    }

    /// W38: reads a received datagram. If it has an error, the rest of the datagram is dropped, and the transport stays
    /// open.
    pub(super) fn on_datagram(&mut self, now: Duration, packet: &[u8]) {
        let Client { phase: Phase::Joined(joined), session, packing, batch, .. } = self else {
            return;
        };
        joined.link.on_packet(now, packet.len());
        session.count_in(packet.len());
        let mut packet = packet;
        if joined.groups.takes(packet) {
            if let Ok(Some(Frame::SharedDatagram { group, rest })) = Frames::new(packet).next() {
                let transit = joined.link.clock.one_way();
                let reading = Reading { now, session, packing, batch };
                joined.on_group_payload(reading, (group, rest), transit, false);
            }
            // The datagram of a group has no part for this end alone. The call below still does what follows every
            // datagram.
            packet = &[];
        }
        if joined.datagrams.is_some() {
            joined.on_datagram(Reading { now, session, packing, batch }, packet);
        }
    }

    fn on_frame(&mut self, now: Duration, frame: Frame<'_>) -> Result<(), Error> {
        let Client { phase, session, packing, batch, .. } = self;
        match (phase, frame) {
            (_, Frame::Error { code, fault, fatal, subject, detail }) => {
                let detail = detail.to_string();
                self.on_error(Error::Remote { code, fault, detail }, fatal, subject)
            }
            (Phase::Greeting(_), Frame::Welcome(welcome)) => self.on_welcome(now, &welcome),
            // W36: the server may send BYE instead of WELCOME.
            (_, Frame::Bye { retry_ms, .. }) => {
                self.on_bye(retry_ms);
                Ok(())
            }
            (Phase::Greeting(_), _) => Err(Error::malformed("opening: WELCOME comes first")),
            (Phase::Joined(joined) | Phase::Leaving(joined), frame) => {
                joined.on_frame(Reading { now, session, packing, batch }, frame)
            }
            _ => Ok(()),
        }
    }

    fn on_error(&mut self, error: Error, fatal: bool, subject: u32) -> Result<(), Error> {
        if fatal {
            // The server closes the transport; `fail` decides whether to dial again.
            return Err(error);
        }
        let session = &mut self.session;
        let code = error.code();
        if code == PART_REFUSED
            && let Error::Remote { detail, .. } = &error
        {
            session.on_part_refused(subject, detail);
            return Ok(());
        }
        if (code == NOT_CHANGED || code == NOT_NOW)
            && let Some(joined) = self.phase.welcomed()
            && let Some(at) = joined.inbound.numbers.at(ChannelNo(subject))
        {
            if code == NOT_CHANGED {
                session.channels[at].wish = None;
            }
            session.emit_error(at, error);
            return Ok(());
        }
        let at = subject as usize;
        match session.channels.get_mut(at).filter(|channel| channel.id.is_none()) {
            Some(channel) => {
                channel.refused = true;
                session.give_up_all(at);
                session.emit_error(at, error);
            }
            None => session.emit(Event::Error { error, channel: None, fatal: false }),
        }
        Ok(())
    }
}

impl Joined {
    fn on_frame(&mut self, mut reading: Reading<'_>, frame: Frame<'_>) -> Result<(), Error> {
        let Reading { now, ref mut session, .. } = reading;
        match frame {
            Frame::PackedMessages(_) | Frame::PackedSnapshot(_) if !self.agreed.blocks => {
                Err(Error::malformed("PACKED: it was not agreed on"))
            }
            Frame::Model { carrier: Carrier::Datagrams, .. } if !self.agreed.groups => {
                Err(Error::malformed("MODEL: it was not agreed on"))
            }
            // Without this capability, this end is in no fan-out group: it ignores frames about groups.
            Frame::SharedAgain { .. } | Frame::Leave { carrier: Carrier::Datagrams, .. }
                if !self.agreed.groups =>
            {
                Ok(())
            }
            Frame::Channel { reference, id, access, name, qos } => {
                let answer = ChannelFrame { reference, id, access, name, qos };
                self.on_channel(now, session, &answer)
            }
            Frame::Messages(payload) => self.on_payload(reading, payload, PayloadForm::Plain),
            Frame::Coded(payload) => self.on_payload(reading, payload, PayloadForm::Coded),
            Frame::PackedMessages(payload) => {
                self.on_payload(reading, payload, PayloadForm::Packed)
            }
            Frame::Participants { complete, list } => {
                self.on_participants(now, session, complete, &list);
                Ok(())
            }
            Frame::Count { everybody, count } => {
                session.on_count(everybody, count);
                Ok(())
            }
            Frame::Page { after, last, list } => {
                let participants = changes(&list);
                session.emit(Event::Page { after, participants, last });
                Ok(())
            }
            Frame::Snapshot(chunk) => self.on_chunk(session, &chunk),
            Frame::PackedSnapshot(chunk) => {
                let Reading { session, packing, .. } = reading;
                let chunk = chunk.unpacked(packing, session.config.limits.max_snapshot)?;
                self.on_chunk(session, &chunk)
            }
            Frame::Part { part, counter, name, channels } => {
                self.on_part(part, counter, name, &channels)
            }
            Frame::SnapshotWanted { part, at_least } => {
                self.on_snapshot_wanted(session, part, at_least)
            }
            Frame::Synced { channel } => self.on_synced(session, channel),
            Frame::Position(position) => self.move_to(session, position),
            Frame::Reset { channel, position } => {
                self.inbound.reset = Some((channel, position));
                Ok(())
            }
            Frame::Gap { channel, position } => self.on_gap(session, channel, position),
            Frame::Ordered { counter } => self.on_ordered(session, counter),
            Frame::Receipt { counter, receipt } => {
                session.on_receipt(counter, receipt);
                Ok(())
            }
            Frame::Ping { time } => {
                self.link.on_ping(now, time);
                Ok(())
            }
            Frame::Pong { time, received, sent } => {
                let (asked, transport) = (Duration::from_micros(time), session.transports);
                let keeps = session.is_stored();
                session
                    .channels
                    .iter_mut()
                    .for_each(|channel| channel.arrived(transport, asked, keeps));
                self.link.on_pong(now, time, received, sent);
                Ok(())
            }
            Frame::Contract(bytes) => self.on_contract(now, session, bytes),
            Frame::Quality(_) if !self.agreed.quality => {
                Err(Error::malformed("QUALITY: it was not agreed on"))
            }
            Frame::Quality(bytes) => self.reports.on_wish(now, bytes),
            Frame::Room { durability, load } => {
                session.on_room(durability, load, self.joined_at + self.timing.away);
                Ok(())
            }
            Frame::Codecs { set } => {
                self.link.choosing.set_peer_codecs(set);
                Ok(())
            }
            Frame::Hold { counter, hold_ms } => {
                let hold = Duration::from_millis(hold_ms).min(MAX_HOLD);
                self.hold = Hold { until: now + hold, from: counter };
                Ok(())
            }
            Frame::TokenWanted => {
                session.emit(Event::TokenWanted);
                Ok(())
            }
            Frame::Model { carrier: Carrier::Datagrams, group, total, offset, rest } => {
                self.on_group_model(session, group, total, offset, rest)
            }
            Frame::SharedAgain { group, waited, rest } => {
                let transit = self.link.transit() + Duration::from_millis(waited.into());
                self.on_group_payload(reading, (group, rest), transit, true);
                Ok(())
            }
            Frame::Leave { carrier: Carrier::Datagrams, group, .. } => {
                self.groups.leave(group);
                Ok(())
            }
            Frame::Model { carrier: Carrier::Stream, group, total, offset, rest }
                if self.agreed.shared_streams =>
            {
                self.on_stream_model(session, group, total, offset, rest)
            }
            Frame::Shared(payload) if self.agreed.shared_streams => {
                self.on_shared(reading, payload)
            }
            Frame::Leave { carrier: Carrier::Stream, .. } if self.agreed.shared_streams => {
                self.shared_stream.leave()?;
                self.coders.decoder.restart();
                Ok(())
            }
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
            | Frame::PageWanted { .. }
            | Frame::Received { .. }
            | Frame::Token(_)
            | Frame::Presence(_) => Err(Error::malformed("frame: only a client sends this")),
            // `Client::on_frame` handles these two frames before.
            Frame::Bye { .. } | Frame::Error { .. } => Ok(()),
        }
    }

    fn on_payload(
        &mut self,
        reading: Reading<'_>,
        payload: &[u8],
        form: PayloadForm,
    ) -> Result<(), Error> {
        let Reading { now, session, packing, batch } = reading;
        session.count_payload(payload);
        let Joined { link, coders, datagrams, inbound, .. } = self;
        let (transit, datagrams) = (link.transit(), datagrams.as_ref());
        let mut delivery = Delivery { now, transit, session, inbound, datagrams };
        let decoder = &mut coders.decoder;
        let mut records = decoder.open(form, payload, packing, batch)?;
        let outcome = loop {
            let kind_of = |id: ChannelNo| delivery.inbound.numbers.kind(id);
            let record = match records.next(decoder, packing, kind_of) {
                Ok(Some(record)) => record,
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            };
            if let Err(error) = delivery.deliver(&record) {
                break Err(error);
            }
        };
        records.finish(outcome)
    }

    #[inline(never)] // At the boundary of the browser's core, see crates/wasm/second.txt.
    fn on_shared(&mut self, reading: Reading<'_>, payload: &[u8]) -> Result<(), Error> {
        let Reading { now, session, packing, batch } = reading;
        session.count_payload(payload);
        let Joined { participant, link, datagrams, shared_stream, inbound, .. } = self;
        let (transit, datagrams) = (link.transit(), datagrams.as_ref());
        let delivery = Delivery { now, transit, session, inbound, datagrams };
        shared_stream.read(delivery, packing, batch, *participant, payload)
    }

    #[inline(never)] // At the boundary of the browser's core, see crates/wasm/second.txt.
    fn on_group_payload(
        &mut self,
        reading: Reading<'_>,
        payload: (GroupId, &[u8]),
        transit: Duration,
        is_again: bool,
    ) {
        let Reading { now, session, packing, batch } = reading;
        // Payloads that come again over the stream count as headers, as the room's inspector counts them.
        if !is_again {
            session.count_payload(payload.1);
        }
        let Joined { participant, datagrams, groups, inbound, .. } = self;
        let delivery = Delivery { now, transit, session, inbound, datagrams: datagrams.as_ref() };
        groups.read(delivery, packing, batch, *participant, payload, is_again);
    }

    /// W61: a piece of the model of a shared stream. With the last one, the payloads for this end alone begin anew.
    #[inline(never)] // At the boundary of the browser's core, see crates/wasm/second.txt.
    fn on_stream_model(
        &mut self,
        session: &Session,
        group: GroupId,
        total: u32,
        offset: u32,
        piece: &[u8],
    ) -> Result<(), Error> {
        let (total, offset) = (total as usize, offset as usize);
        let max_message = session.config.limits.max_message;
        if self.shared_stream.add_model(group, total, offset, piece, max_message)? {
            self.coders.decoder.restart();
        }
        Ok(())
    }

    /// W71: a piece of the model of a fan-out group's datagrams.
    #[inline(never)] // At the boundary of the browser's core, see crates/wasm/second.txt.
    fn on_group_model(
        &mut self,
        session: &Session,
        group: GroupId,
        total: u32,
        offset: u32,
        piece: &[u8],
    ) -> Result<(), Error> {
        let max_message = session.config.limits.max_message;
        if let Some(answer) = self.groups.add_model(group, total, offset, piece, max_message)? {
            self.link.queue_raw(answer);
        }
        Ok(())
    }

    #[inline(never)] // At the boundary of the browser's core, see crates/wasm/second.txt.
    fn on_datagram(&mut self, reading: Reading<'_>, packet: &[u8]) {
        let Reading { now, session, packing, batch } = reading;
        let Joined { link, datagrams: Some(datagrams), inbound, .. } = self else { return };
        let transit = link.clock.one_way();
        let read = datagrams.read(now, packet, transit, batch).and_then(|mut incoming| {
            let outcome = loop {
                let needs_of = |id: ChannelNo| inbound.numbers.needs(id);
                let record = match datagrams.next(now, &mut incoming, packing, needs_of) {
                    Ok(Some(record)) => record,
                    Ok(None) => break Ok(()),
                    Err(error) => break Err(error),
                };
                let mut delivery = Delivery {
                    now,
                    transit: Duration::ZERO,
                    session,
                    inbound,
                    datagrams: Some(datagrams),
                };
                let delivered = match record.number {
                    Number::Copy { .. } => delivery.deliver_copy(&record),
                    _ => delivery.deliver(&record),
                };
                if let Err(error) = delivered {
                    break Err(error);
                }
            };
            datagrams.finish(now, incoming, outcome)
        });
        if read.is_ok() {
            let payload = packet.len() - datagrams.before_body();
            session.stats.payload_bytes_in += payload as u64;
        }
        // W38: a datagram that cannot be read is only counted.
        session.stats.datagrams_unread += u64::from(read.is_err() && !packet.is_empty());
        datagrams.on_ordered(session.ordered);
        session.pass_missed(datagrams);
        self.say_received();
        self.heed_notices(now, session);
    }

    /// W16: the server opened a channel, or changed its QoS.
    fn on_channel(
        &mut self,
        now: Duration,
        session: &mut Session,
        frame: &ChannelFrame<'_>,
    ) -> Result<(), Error> {
        let ChannelFrame { reference, id, access, name, qos } = *frame;
        let numbered = self.inbound.numbers.at(id);
        let at = match numbered {
            // W16: the number belongs to an open channel. With reference 0, the frame is no answer to OPEN.
            Some(at) if reference == 0 || at as u32 == reference => at,
            Some(_) => return Err(Error::malformed("CHANNEL: one number for two channels")),
            None => reference as usize,
        };
        let Some(channel) = session.channels.get_mut(at).filter(|channel| channel.name == name)
        else {
            return Err(Error::malformed("CHANNEL: it was not asked for"));
        };
        self.inbound.numbers.insert(id, at, Needs { qos, upstream: None })?;
        if channel.stage == Stage::Closed {
            // The application closed a refused channel which the room now opens; otherwise SHUT was already sent.
            if numbered.is_none() {
                self.link.queue(&Frame::Shut { id });
            }
            return Ok(());
        }
        let is_change = channel.id.is_some();
        if numbered.is_some() && !is_change && at as u32 != reference {
            // The room made this frame before it read SHUT and the second OPEN. It will answer that OPEN with another
            // frame.
            return Ok(());
        }
        channel.id = Some(id);
        let before = channel.qos;
        channel.qos = qos;
        channel.access = channel.access.and(access);
        let may_publish = channel.access.publish;
        channel.announce_compress(&mut self.link);
        self.on_terms(now, session, at, is_change, before);
        session.check_pieces(at);
        if before.kind != qos.kind {
            session.change_kind(at);
        }
        if !may_publish && session.give_up_all(at) {
            session.emit_error(at, Error::NotAllowed { what: "publishing on this channel" });
        }
        session.offer_parts(&mut self.link);
        Ok(())
    }

    fn on_participants(
        &mut self,
        now: Duration,
        session: &mut Session,
        complete: bool,
        list: &[ParticipantEntry<'_>],
    ) {
        for entry in list.iter().filter(|entry| entry.state == PresenceState::Left) {
            session.delivered.forget(entry.id);
            session.seen.forget(entry.id);
            session.channels.iter_mut().for_each(|channel| channel.judge.forget(entry.id));
            self.coders.decoder.numbering.forget(entry.id);
        }
        session.on_participants(now, complete, changes(list));
    }

    /// W95: the server announces a part of the snapshot, which follows in chunks.
    fn on_part(
        &mut self,
        number: u32,
        counter: Counter,
        name: &str,
        channels: &[ChannelNo],
    ) -> Result<(), Error> {
        let Inbound { parts, numbers, .. } = &mut self.inbound;
        if parts.len() >= MAX_PARTS {
            return Err(Error::TooMany { what: "parts of a snapshot", limit: MAX_PARTS });
        }
        let at =
            |id: &ChannelNo| numbers.at(*id).ok_or(Error::UnknownChannel { channel: id.get() });
        let channels = channels.iter().map(at).collect::<Result<_, _>>()?;
        parts.push((number, Announced { name: name.to_string(), counter, channels }));
        Ok(())
    }

    fn on_chunk(&mut self, session: &mut Session, chunk: &Chunk<'_>) -> Result<(), Error> {
        let limit = session.config.limits.max_snapshot;
        let Inbound { parts, download, .. } = &mut self.inbound;
        let Some(at) = parts.iter().position(|(number, _)| *number == chunk.part) else {
            return Err(Error::malformed("SNAPSHOT: of a part that was not announced"));
        };
        let Some(Assembly { as_of, bytes, .. }) = Assembly::add(download, chunk, limit)? else {
            return Ok(());
        };
        let (_, Announced { name: part, counter, channels }) = parts.remove(at);
        session.confirm_covered(&channels, counter);
        for at in channels {
            // The part may end before the old `have`: then the server sends the later transactions again (W18).
            session.channels[at].have = as_of;
            session.channels[at].forget_begun();
        }
        session.emit(Event::Snapshot { part, as_of, bytes });
        Ok(())
    }

    /// W33, W102: this end lacks transactions of a channel that the room no longer has, or that were reset.
    fn on_gap(
        &mut self,
        session: &mut Session,
        channel: ChannelNo,
        position: Position,
    ) -> Result<(), Error> {
        let at = self.inbound.numbers.at(channel);
        let at = at.ok_or(Error::UnknownChannel { channel: channel.get() })?;
        let known = &mut session.channels[at];
        if known.id.is_some() {
            known.have = known.have.max(position);
            known.forget_begun();
            let missing = Some((ChannelId(at as u32), position));
            let reason = match self.inbound.reset.take() {
                Some(reset) if reset == (channel, position) => GapReason::Reset,
                _ => GapReason::History,
            };
            session.emit(Event::Gap { reason, uncertain: 0, missing });
        }
        Ok(())
    }

    /// W115: tells the server up to which position the application has its direct transactions.
    fn say_received(&mut self) {
        if let Some(position) = self.inbound.held.received.take() {
            self.link.queue(&Frame::Received { position });
        }
    }

    /// W96: own transactions up to this counter are ordered.
    fn on_ordered(&mut self, session: &mut Session, counter: Counter) -> Result<(), Error> {
        if counter > session.numbered {
            return Err(Error::malformed("ORDERED: transactions that were never sent"));
        }
        session.confirm(counter);
        Ok(())
    }

    /// Sets the position of the stream: its next transaction has a greater position than `position`.
    fn move_to(&mut self, session: &mut Session, position: Position) -> Result<(), Error> {
        let copies = &mut self.inbound.copies;
        if position < copies.streamed(session.position) {
            return Err(Error::malformed("position: it went back"));
        }
        copies.passed(position);
        session.position = session.position.max(position);
        self.inbound.held.release(session, session.position);
        self.coders.decoder.numbering.advance(position);
        Ok(())
    }

    /// Processes SYNCED: late-joiner state is complete for one channel or, with number 0, for all channels that were
    /// opened with HELLO.
    fn on_synced(&mut self, session: &mut Session, id: ChannelNo) -> Result<(), Error> {
        if id != ChannelNo(0) {
            let at = self.inbound.numbers.at(id);
            let at = at.ok_or(Error::UnknownChannel { channel: id.get() })?;
            // A channel without a number was closed in the meantime.
            if session.channels[at].id.is_some() {
                session.channels[at].synced = true;
                session.emit(Event::Synced { channel: Some(ChannelId(at as u32)) });
            }
            return Ok(());
        }
        for at in 0..session.channels.len() {
            let channel = &mut session.channels[at];
            if channel.with_join && !channel.synced && channel.id.is_some() {
                channel.synced = true;
                session.emit(Event::Synced { channel: Some(ChannelId(at as u32)) });
            }
        }
        session.emit(Event::Synced { channel: None });
        Ok(())
    }
}
