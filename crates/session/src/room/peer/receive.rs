//! Handles the packets that a participant sends over the stream (wire W8, W17, W20, W28).

use alloc::string::ToString;
use alloc::vec::Vec;
use core::time::Duration;

use super::Peer;
use super::connection::Connection;
use super::publish::{Publisher, Reading};
use crate::limits::MAX_PRESENCE;
use crate::link::{Coders, Link};
use crate::room::api::Output;
use crate::room::common::{Common, Effect};
use crate::room::delivery::Delivery;
use crate::room::feed::Groups;
use crate::room::intake::Intake;
use crate::room::log::Log;
use crate::trace::Carrier;
use crate::wire::acknowledged::Acknowledged;
use crate::wire::coding::PayloadForm;
use crate::wire::contract;
use crate::wire::frame::{ACKNOWLEDGED, Frame, Frames};
use crate::wire::opening::Opening;
use crate::{ChannelNo, Error, GroupId, Position};

/// Why a frame is refused that only a server sends, or that contracts need.
const UNEXPECTED: &str = "frame: only a server sends this, or it was not agreed on";

impl Peer {
    /// Handles a packet of the stream. The caller closes the transport on an error.
    pub(in crate::room) fn receive(
        &mut self,
        now: Duration,
        packet: &[u8],
        common: &mut Common,
    ) -> Result<(), Error> {
        let limit = common.config.limits.max_packet;
        if packet.len() > limit {
            return Err(Error::TooLarge { what: "packet", size: packet.len(), limit });
        }
        common.accounting.count_received(packet.len());
        let before = common.accounting.stats.bytes_in_before;
        if let Some(connection) = self.connection_mut() {
            connection.link.on_packet(now, packet.len());
        }
        let outcome = self.frames(now, packet, common);
        common.accounting.use_bytes(packet.len(), before);
        outcome
    }

    fn frames(&mut self, now: Duration, packet: &[u8], common: &mut Common) -> Result<(), Error> {
        let mut frames = Frames::new(packet);
        while let Some(frame) = frames.next()? {
            self.frame(now, frame, common)?;
            if self.connection().is_some_and(|connection| connection.link.is_flooded()) {
                return Err(Error::Stalled);
            }
            if common.effects.contains(&Effect::Left(self.id)) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Handles the frames that follow HELLO in the first packet. `has_been_here`: the client was in
    /// this incarnation of the room before; otherwise `have` in OPEN refers to another room.
    pub(in crate::room) fn receive_opening(
        &mut self,
        now: Duration,
        opening: &Opening<'_>,
        has_been_here: bool,
        common: &mut Common,
    ) -> Result<(), Error> {
        let mut frames = Frames::new(opening.rest);
        while let Some(frame) = frames.next()? {
            match frame {
                Frame::Open { reference, access, name, qos, have, compress } => {
                    let have = if has_been_here { have } else { Position(0) };
                    let frame = Frame::Open { reference, access, name, qos, have, compress };
                    let Common { permissions, log, intake, delivery, .. } = &mut *common;
                    self.open(&frame, true, permissions, log, intake, &mut delivery.outputs)?;
                }
                Frame::Presence(presence) => self.receive_presence(now, presence, common)?,
                Frame::Codecs { set } => self.set_codecs(set),
                _ => {
                    return Err(Error::malformed(
                        "opening: only OPEN, PRESENCE and CODECS may follow",
                    ));
                }
            }
        }
        Ok(())
    }

    /// Hands a frame to the method for its kind.
    fn frame(&mut self, now: Duration, frame: Frame<'_>, common: &mut Common) -> Result<(), Error> {
        let Some(connection) = self.connection_mut() else { return Ok(()) };
        let link = &mut connection.link;
        check_agreed(link, &frame)?;
        match frame {
            Frame::Messages(bytes) => self.payload(now, bytes, PayloadForm::Plain, common)?,
            Frame::Coded(bytes) => self.payload(now, bytes, PayloadForm::Coded, common)?,
            Frame::PackedMessages(bytes) => {
                self.payload(now, bytes, PayloadForm::Packed, common)?
            }
            Frame::Open { access, name, qos, .. } => {
                let Common { permissions, log, intake, delivery, upward, .. } = common;
                if let Some(upward) = upward
                    && (log.find_channel(name).is_none() || upward.has_opens(connection.id))
                {
                    let mut open = Vec::new();
                    frame.write(&mut open);
                    return upward.open(connection.id, open, (access, name, qos));
                }
                self.open(&frame, false, permissions, log, intake, &mut delivery.outputs)?;
            }
            Frame::Shut { id } => self.receive_shut(id, &mut common.log, &mut common.intake)?,
            Frame::Compress { id, compress } => self.set_compress(id, compress)?,
            Frame::Change { id, qos } => {
                self.count_request(now)?;
                self.change(now, id, qos, common)?;
            }
            Frame::Rate { id, rate } => {
                self.count_request(now)?;
                let Common { log, attention, effects, .. } = common;
                self.limit_rate(now, id, rate, log, &mut attention.rate_limited, effects)?;
            }
            Frame::Contract(bytes) => receive_contract(now, link, bytes)?,
            Frame::Quality(report) => connection.receive_quality(report)?,
            Frame::Codecs { set } => self.set_codecs(set),
            Frame::Presence(presence) => self.receive_presence(now, presence, common)?,
            Frame::PageWanted { after } => connection.participants.page_wanted = Some(after),
            Frame::Token(token) => self.receive_token(now, token, &mut common.delivery)?,
            Frame::Received { position } => self.receive_received(position, &mut common.log)?,
            Frame::Part { part, name, channels, .. } => {
                self.count_request(now)?;
                let Common { permissions, log, intake, .. } = common;
                self.offer(part, name, &channels, permissions, log, intake)?;
            }
            Frame::Snapshot(ref chunk) | Frame::PackedSnapshot(ref chunk) => {
                let is_packed = matches!(frame, Frame::PackedSnapshot(_));
                self.take_chunk(chunk, is_packed, common)?;
            }
            Frame::Ping { time } => link.on_ping(now, time),
            Frame::Pong { time, received, sent } => link.on_pong(now, time, received, sent),
            Frame::Bye { .. } => self.receive_bye(&mut common.delivery, &mut common.effects),
            Frame::Error { code, fault, fatal: true, detail, .. } => {
                return Err(Error::Remote { code, fault, detail: detail.to_string() });
            }
            Frame::Error { .. } => {}
            Frame::Acknowledged { group, rest } => {
                let groups = &mut common.delivery.groups;
                self.acknowledged(now, group, Carrier::Stream, rest, groups)?;
            }
            _ => return Err(Error::malformed(UNEXPECTED)),
        }
        Ok(())
    }

    /// Opens a channel on which the room has decided, in a mirror. `packet`: the participant's
    /// OPEN.
    pub(in crate::room) fn open_decided(
        &mut self,
        packet: &[u8],
        common: &mut Common,
    ) -> Result<(), Error> {
        let Some(frame) = Frames::new(packet).next()? else { return Ok(()) };
        let Common { permissions, log, intake, delivery, .. } = common;
        self.open(&frame, false, permissions, log, intake, &mut delivery.outputs)
    }

    /// W85: the participant closes a channel.
    fn receive_shut(
        &mut self,
        channel: ChannelNo,
        log: &mut Log,
        intake: &mut Intake,
    ) -> Result<(), Error> {
        intake.has_new_subscriptions = true;
        self.shut(channel)?;
        if let Some(connection) = self.connection() {
            connection.give_up_directs(self.id, log);
        }
        Ok(())
    }

    /// W98: another token of the participant, which the program that drives the room checks.
    fn receive_token(
        &mut self,
        now: Duration,
        token: &[u8],
        delivery: &mut Delivery,
    ) -> Result<(), Error> {
        self.count_request(now)?;
        if let Some(connection) = self.connection() {
            let (link, token) = (connection.id, token.to_vec());
            delivery.outputs.push_back(Output::Token { link, token });
        }
        Ok(())
    }

    /// Counts a request whose number is limited.
    fn count_request(&mut self, now: Duration) -> Result<(), Error> {
        let Some(connection) = self.connection_mut() else { return Ok(()) };
        connection.requests.count(now, connection.channels.len())
    }

    /// W115: the participant's application has its direct transactions up to this position.
    fn receive_received(&mut self, position: Position, log: &mut Log) -> Result<(), Error> {
        // A mirror does not know what the participant was sent by other servers.
        let waiting = match log.is_copy() {
            true => log.durable(),
            false => log.directs.last_of(self.id),
        };
        let Some(connection) = self.connection_mut() else { return Ok(()) };
        let directs = &mut connection.stream.directs;
        // An earlier transport may have brought what this one was not handed yet.
        if position > directs.last.max(waiting).max(directs.acknowledged) {
            return Err(Error::malformed("RECEIVED: what was not sent"));
        }
        directs.acknowledged = position.max(directs.acknowledged);
        log.directs.received(self.id, position);
        Ok(())
    }

    /// W36: the participant leaves.
    fn receive_bye(&self, delivery: &mut Delivery, effects: &mut Vec<Effect>) {
        if let Some(connection) = self.connection() {
            let (link, packet, reason) = (connection.id, Vec::new(), None);
            delivery.outputs.push_back(Output::Close { link, packet, reason });
            effects.push(Effect::Left(self.id));
        }
    }

    /// W46: the participant can read these codecs.
    fn set_codecs(&mut self, set: u64) {
        if let Some(connection) = self.connection_mut() {
            connection.link.choosing.set_peer_codecs(set);
        }
    }

    fn receive_presence(
        &mut self,
        now: Duration,
        presence: &[u8],
        common: &mut Common,
    ) -> Result<(), Error> {
        if presence.len() > MAX_PRESENCE {
            let (what, size, limit) = ("presence", presence.len(), MAX_PRESENCE);
            return Err(Error::TooLarge { what, size, limit });
        }
        match (&mut common.upward, self.connection()) {
            (Some(upward), Some(connection)) => upward.presence(connection.id, presence),
            _ => self.set_presence(now, presence, common),
        }
        Ok(())
    }

    /// Shows other presence data to the others.
    pub(in crate::room) fn set_presence(
        &mut self,
        now: Duration,
        presence: &[u8],
        common: &mut Common,
    ) {
        let Common { members, timers, accounting, .. } = common;
        if members.roster.set(self.id, presence) {
            members.act(now, self.id, timers);
            members.announce(now, self.id, timers);
            accounting.used.deliveries += members.count_here();
        }
    }

    fn payload(
        &mut self,
        now: Duration,
        payload: &[u8],
        form: PayloadForm,
        common: &mut Common,
    ) -> Result<(), Error> {
        self.account.check(now, &common.config.quotas)?;
        let before = common.accounting.stats.messages_in;
        let is_inspected = common.accounting.inspector.is_on();
        let held = self.sender.held;
        let Some((mut publisher, connection, Reading { packing, batch })) =
            Publisher::new(now, self, common)
        else {
            return Ok(());
        };
        let Connection { link, channels, .. } = connection;
        publisher.one_way = link.transit();
        let Some(Coders { decoder, .. }) = link.coders.as_mut() else { return Ok(()) };
        decoder.keep_account(is_inspected);
        let outcome = decoder.open(form, payload, packing, batch).and_then(|mut records| {
            let mut publish_all = || {
                while let Some(record) = records
                    .next(decoder, packing, |channel| publisher.kind_of(channels, channel))?
                {
                    publisher.publish(&record)?;
                }
                Ok(())
            };
            let outcome = publish_all();
            records.finish(outcome)
        });
        packing.tidy();
        self.tell_if_held(held, &common.log, &common.intake);
        if common.accounting.stats.messages_in > before {
            common.members.act(now, self.id, &mut common.timers);
        }
        outcome
    }

    /// Handles the participant's acknowledgement of a fan-out group's datagrams (W72).
    fn acknowledged(
        &mut self,
        now: Duration,
        group: GroupId,
        carrier: Carrier,
        acknowledgement: &[u8],
        groups: &mut Groups,
    ) -> Result<(), Error> {
        let acknowledgement = Acknowledged::read(acknowledgement)?;
        let id = self.id;
        let Some(Connection { place, link, .. }) = self.connection_mut() else { return Ok(()) };
        let Some(place) = place else {
            return Err(Error::malformed("ACKNOWLEDGED: it was not agreed on"));
        };
        place.acknowledged(now, id, (group, carrier), &acknowledgement, groups, link);
        Ok(())
    }

    /// Handles the ACKNOWLEDGED frames at the beginning of a datagram. Returns the bytes after
    /// them, or `None` if the datagram ends there.
    ///
    /// # Errors
    /// A frame or acknowledgement is malformed. Those before it have been handled.
    pub(super) fn take_acknowledged<'p>(
        &mut self,
        now: Duration,
        packet: &'p [u8],
        groups: &mut Groups,
    ) -> Result<Option<&'p [u8]>, Error> {
        let mut rest = packet;
        while rest.first() == Some(&ACKNOWLEDGED) {
            let mut frames = Frames::new(rest);
            let Some(Frame::Acknowledged { group, rest: acknowledgement }) = frames.next()? else {
                return Err(Error::malformed("datagram: its header"));
            };
            self.acknowledged(now, group, Carrier::Datagrams, acknowledgement, groups)?;
            rest = frames.remaining();
        }
        let is_all = rest.is_empty() && !packet.is_empty();
        Ok((!is_all).then_some(rest))
    }
}

/// # Errors
/// The frame needs a capability that was not agreed on (wire W10).
fn check_agreed(link: &Link, frame: &Frame<'_>) -> Result<(), Error> {
    match frame {
        Frame::PackedMessages(_) | Frame::PackedSnapshot(_)
            if !link.choosing.blocks.are_agreed() =>
        {
            Err(Error::malformed("PACKED: it was not agreed on"))
        }
        Frame::Change { .. } | Frame::Rate { .. } | Frame::Contract(_) if !link.stamps.agreed => {
            Err(Error::malformed(UNEXPECTED))
        }
        _ => Ok(()),
    }
}

/// W79: reads the time at which the participant made the packet.
fn receive_contract(now: Duration, link: &mut Link, bytes: &[u8]) -> Result<(), Error> {
    if let Some(stamp) = contract::read(bytes, drop)? {
        link.stamps.came(now, stamp, &link.clock);
    }
    Ok(())
}
