//! Reads received packets and datagrams, frame by frame.

use alloc::string::ToString;
use core::time::Duration;

use super::Client;
use super::channels::ChannelFrame;
use super::event::Event;
use super::participants::changes;
use super::payloads::Reading;
use super::phase::{Hold, Joined, Phase};
use super::session::Session;
use crate::error::{NOT_CHANGED, NOT_NOW, PART_REFUSED};
use crate::ids::{ChannelNo, Counter, GroupId};
use crate::trace::Carrier;
use crate::wire::coding::PayloadForm;
use crate::wire::frame::{Frame, Frames, ParticipantEntry};
use crate::{Error, Owner, PresenceState, Timing};

/// The longest time for which a HOLD frame is heeded (wire W99): no server can silence a client for
/// good by one frame.
const MAX_HOLD: Duration = Duration::from_secs(60);

/// The longest time that a client waits before it connects to the server of an OWNER frame (wire
/// W117).
const LONGEST_AFTER: Duration = Duration::from_secs(3600);

/// The longest time from HELLO to WELCOME (wire W120). After it another transport may be better,
/// even if the server's datagrams arrive.
const LONGEST_GREETING: Duration = Duration::from_secs(30);

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
        let ordered = self.session.outbox.ordered;
        if let Some(joined) = self.phase.welcomed_mut() {
            joined.say_received();
            if let Some(datagrams) = &mut joined.datagrams {
                datagrams.on_ordered(ordered);
            }
        }
        Ok(())
    }

    /// W38: reads a received datagram. If it has an error, the rest of the datagram is dropped, and
    /// the transport stays open.
    pub(super) fn on_datagram(&mut self, now: Duration, packet: &[u8]) {
        if let Phase::Greeting(greeting) = &mut self.phase {
            // The server has HELLO, so that WELCOME is on its way (wire W120). The rest of the
            // datagram cannot be read before WELCOME.
            let latest = greeting.link.last_packet() + LONGEST_GREETING;
            greeting.give_up_at = latest.min(now + Timing::default().dead);
        }
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
            // The datagram of a group has no part for this end alone. The call below still does
            // what follows every datagram.
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

impl Session {
    /// W117: the room is on another server.
    fn on_owner(&mut self, after_ms: u64, address: &str, port: u32) -> Result<(), Error> {
        let port = u16::try_from(port).map_err(|_| Error::malformed("OWNER: port"))?;
        let after = Duration::from_millis(after_ms).min(LONGEST_AFTER);
        self.emit(Event::Owner(Owner { after, address: address.to_string(), port }));
        Ok(())
    }
}

impl Joined {
    /// Hands a frame to the method for its kind.
    fn on_frame(&mut self, mut reading: Reading<'_>, frame: Frame<'_>) -> Result<(), Error> {
        self.check_agreed(&frame)?;
        let Reading { now, ref mut session, .. } = reading;
        match frame {
            Frame::Channel { reference, id, access, name, qos } => {
                let answer = ChannelFrame { reference, id, access, name, qos };
                self.on_channel(now, session, &answer)?;
            }
            Frame::Messages(bytes) => self.on_payload(reading, bytes, PayloadForm::Plain)?,
            Frame::Coded(bytes) => self.on_payload(reading, bytes, PayloadForm::Coded)?,
            Frame::PackedMessages(bytes) => self.on_payload(reading, bytes, PayloadForm::Packed)?,
            Frame::Participants { complete, list } => {
                self.on_participants(now, session, complete, &list);
            }
            Frame::Count { everybody, count } => session.on_count(everybody, count),
            Frame::Page { after, last, list } => {
                session.emit(Event::Page { after, participants: changes(&list), last });
            }
            Frame::Snapshot(chunk) => self.on_chunk(session, &chunk)?,
            Frame::PackedSnapshot(chunk) => self.on_packed_chunk(reading, &chunk)?,
            Frame::Part { part, counter, name, channels } => {
                self.on_part(part, counter, name, &channels)?;
            }
            Frame::SnapshotWanted { part, at_least } => {
                self.on_snapshot_wanted(session, part, at_least)?;
            }
            Frame::Synced { channel } => self.on_synced(session, channel)?,
            Frame::Position(position) => self.move_to(session, position)?,
            Frame::Reset { channel, position } => self.inbound.reset = Some((channel, position)),
            Frame::Gap { channel, position } => self.on_gap(session, channel, position)?,
            Frame::Ordered { counter } => self.on_ordered(session, counter)?,
            Frame::Receipt { counter, receipt } => session.on_receipt(counter, receipt),
            Frame::Ping { time } => self.link.on_ping(now, time),
            Frame::Pong { time, received, sent } => {
                session.on_pong(time);
                self.link.on_pong(now, time, received, sent);
            }
            Frame::Contract(bytes) => self.on_contract(now, session, bytes)?,
            Frame::Quality(bytes) => self.reports.on_wish(now, bytes)?,
            Frame::Room { durability, load } => {
                session.on_room(durability, load, self.joined_at + self.timing.away);
            }
            Frame::Codecs { set } => self.link.choosing.set_peer_codecs(set),
            Frame::Hold { counter, hold_ms } => self.on_hold(now, counter, hold_ms),
            Frame::TokenWanted => session.emit(Event::TokenWanted),
            Frame::Owner { after_ms, address, port } => {
                session.on_owner(after_ms, address, port)?;
            }
            Frame::Model { carrier, group, total, offset, rest } => {
                let limits = &session.config.limits;
                match carrier {
                    Carrier::Stream => self.on_stream_model(limits, group, total, offset, rest)?,
                    Carrier::Datagrams => {
                        self.on_group_model(limits, group, total, offset, rest)?
                    }
                }
            }
            Frame::Shared(payload) => self.on_shared(reading, payload)?,
            Frame::SharedAgain { group, waited, rest } => {
                self.on_payload_again(reading, group, waited, rest);
            }
            Frame::Leave { carrier, group, .. } => self.on_leave(carrier, group)?,
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
            | Frame::Presence(_) => {
                return Err(Error::malformed("frame: only a client sends this"));
            }
            // `Client::on_frame` handles BYE and ERROR, and `check_agreed` refuses SHARED_DATAGRAM.
            Frame::Bye { .. } | Frame::Error { .. } | Frame::SharedDatagram { .. } => {}
        }
        Ok(())
    }

    /// # Errors
    /// The frame needs a capability that was not agreed on (wire W10), or is SHARED_DATAGRAM, which
    /// no stream carries.
    fn check_agreed(&self, frame: &Frame<'_>) -> Result<(), Error> {
        let agreed = &self.agreed;
        let (is_agreed, error) = match frame {
            Frame::PackedMessages(_) | Frame::PackedSnapshot(_) => {
                (agreed.blocks, "PACKED: it was not agreed on")
            }
            Frame::Quality(_) => (agreed.quality, "QUALITY: it was not agreed on"),
            Frame::Contract(_) => (agreed.contracts, "CONTRACT: it was not agreed on"),
            Frame::Model { carrier: Carrier::Datagrams, .. } => {
                (agreed.groups, "MODEL: it was not agreed on")
            }
            Frame::Model { carrier: Carrier::Stream, .. }
            | Frame::Leave { carrier: Carrier::Stream, .. }
            | Frame::Shared(_) => (agreed.shared_streams, "frame: it was not agreed on"),
            Frame::SharedDatagram { .. } => (false, "frame: it was not agreed on"),
            _ => return Ok(()),
        };
        if is_agreed { Ok(()) } else { Err(Error::malformed(error)) }
    }

    /// Handles PARTICIPANTS (W34): forgets what it knew of participants that left.
    fn on_participants(
        &mut self,
        now: Duration,
        session: &mut Session,
        complete: bool,
        list: &[ParticipantEntry<'_>],
    ) {
        for entry in list.iter().filter(|entry| entry.state == PresenceState::Left) {
            session.delivered.forget(entry.id);
            session.channels.iter_mut().for_each(|channel| channel.judge.forget(entry.id));
            self.coders.decoder.numbering.forget(entry.id);
        }
        let limit = session.config.limits.max_participants;
        let Session { participants, outputs, .. } = session;
        participants.update(now, complete, changes(list), limit, outputs);
    }

    /// W99: the server asks to hold transactions back from this counter on.
    fn on_hold(&mut self, now: Duration, counter: Counter, hold_ms: u64) {
        let hold = Duration::from_millis(hold_ms).min(MAX_HOLD);
        self.hold = Hold { until: now + hold, from: counter };
    }

    /// W74: a payload of a fan-out group comes over the stream, `waited` ms after it was made.
    /// Without groups, this end is in none, and ignores it.
    fn on_payload_again(
        &mut self,
        reading: Reading<'_>,
        group: GroupId,
        waited: u32,
        payload: &[u8],
    ) {
        if self.agreed.groups {
            let transit = self.link.transit() + Duration::from_millis(waited.into());
            self.on_group_payload(reading, (group, payload), transit, true);
        }
    }

    /// W64, W75: this end is no longer in the fan-out group. The payloads of the stream for this
    /// end alone begin anew.
    fn on_leave(&mut self, carrier: Carrier, group: GroupId) -> Result<(), Error> {
        match carrier {
            Carrier::Stream => {
                self.shared_stream.leave()?;
                self.coders.decoder.restart();
            }
            // Without groups, this end is in none.
            Carrier::Datagrams if !self.agreed.groups => {}
            Carrier::Datagrams => self.groups.leave(group),
        }
        Ok(())
    }
}
