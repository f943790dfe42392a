//! A participant's requests about channels: to open or close one, and to change its QoS,
//! compression or rate (wire W15 to W18, W77, W78).

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::time::Duration;

use super::Peer;
use super::connection::Connection;
use super::stage::Stage;
use crate::events::event;
use crate::room::api::Event;
use crate::room::common::{Common, Effect};
use crate::room::delivery::outputs::Outputs;
use crate::room::intake::Intake;
use crate::room::log::{Cursor, Log};
use crate::room::permissions::Permissions;
use crate::room::subscriptions::Opened;
use crate::wire::frame::{Access, Frame, error_frame};
use crate::{
    ChannelNo, Compress, Error, Grant, Identity, Overflow, ParticipantId, Position, Qos, Rate,
};

impl Peer {
    /// Opens a channel, as an OPEN frame asks. `is_opening`: the frame is in the participant's
    /// first packet, so that the SYNCED frame at the end of the join is enough for this channel,
    /// too.
    pub(super) fn open(
        &mut self,
        open: &Frame<'_>,
        is_opening: bool,
        permissions: &Permissions,
        log: &mut Log,
        intake: &mut Intake,
        outputs: &mut Outputs,
    ) -> Result<(), Error> {
        let Frame::Open { reference, access, name, qos, have, compress } = *open else {
            return Ok(());
        };
        let granted = self.grant(name, access, qos, permissions, log, outputs);
        let participant = self.id;
        let Some(connection) = self.connection_mut() else { return Ok(()) };
        match granted {
            Ok((channel, access)) => {
                event!(DEBUG, "channel opened", %participant, %channel, name, ?access);
                connection.leave_stream_for_good(participant);
                intake.has_new_subscriptions = true;
                let qos = log.channel(channel).qos;
                connection.link.queue(&Frame::Channel {
                    reference,
                    id: channel,
                    access,
                    name,
                    qos,
                });
                let before = connection.channels.insert(channel, Opened { access, compress });
                let is_new =
                    access.subscribe && !before.is_some_and(|before| before.access.subscribe);
                connection.forget_history(channel);
                if is_new && connection.lacks_older(participant, channel, have, log) {
                    connection.missing.unfilled.insert(channel, have);
                    return Ok(());
                }
                let place = connection.stream.feed.cursor.log;
                if is_new && have > place {
                    // The participant has a part of the snapshot that is ahead of its place in the
                    // log.
                    let end = log.durable();
                    connection.missing.starts.insert(channel, have.min(end));
                    let counter = log.durable_counter(participant);
                    connection.missing.reach.get_or_insert((end, counter));
                }
                match &mut connection.stage {
                    Stage::Joining(_) if is_opening => {}
                    Stage::Joining(joining) => _ = joining.late.insert(channel),
                    _ => connection.link.queue(&Frame::Synced { channel }),
                }
                Ok(())
            }
            Err(error @ (Error::Refused { .. } | Error::TooMany { .. })) => {
                event!(DEBUG, "channel refused", %participant, name, %error);
                let mut frame = Vec::new();
                error_frame(&error, false, reference, &mut frame);
                connection.link.queue_raw(frame);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Finds the channel or adds it, and returns the access that the authority grants.
    fn grant(
        &mut self,
        name: &str,
        access: Access,
        qos: Qos,
        permissions: &Permissions,
        log: &mut Log,
        outputs: &mut Outputs,
    ) -> Result<(ChannelNo, Access), Error> {
        if name.is_empty() {
            return Err(Error::malformed("OPEN: the channel has no name"));
        }
        let granted = permissions.may_open(&self.identity, name, access, qos, log);
        let Grant { access: granted, qos } = granted.map_err(|why| Error::Refused { why })?;
        let access = granted.and(access);
        if let Some(channel) = log.find_channel(name) {
            return Ok((channel, access));
        }
        log.check_channels()?;
        if log.is_copy() {
            return Err(Error::Refused { why: "the room did not add this channel".into() });
        }
        qos.validate()?;
        let channel = log.add_channel(name, qos);
        outputs.emit(Event::Channel { name: name.into(), qos });
        Ok((channel, access))
    }

    /// The participant's token was renewed. If its rights on an open channel became fewer, the
    /// transport ends, and the participant opens its channels again with those that it has (W98).
    ///
    /// # Errors
    /// The token is that of another user, or takes rights away.
    pub(in crate::room) fn renew(
        &mut self,
        identity: &Identity,
        common: &Common,
    ) -> Result<(), Error> {
        let Common { config, permissions, log, .. } = common;
        if identity.subject != self.identity.subject {
            return Err(Error::Refused { why: "the new token is that of another user".into() });
        }
        if identity.rights == self.identity.rights {
            return Ok(());
        }
        self.identity.clone_from(identity);
        if common.upward.is_none() {
            self.renew_quota(permissions, config.quotas.participant);
        }
        let Some(connection) = self.connection() else { return Ok(()) };
        let fewer = || Error::NotNow { what: "the rights of the new token are fewer" };
        for (channel, opened) in connection.channels.iter() {
            let (known, access) = (log.channel(channel), opened.access);
            let granted = permissions.may_open(identity, &known.name, access, known.qos, log);
            if granted.map(|granted| granted.access.and(access)) != Ok(access) {
                return Err(fewer());
            }
        }
        for offer in connection.upload.offers.values() {
            permissions
                .may_make(identity, &offer.name, &offer.channels, log)
                .map_err(|_| fewer())?;
        }
        Ok(())
    }

    /// Closes a channel of this participant (W18).
    pub(super) fn shut(&mut self, channel: ChannelNo) -> Result<(), Error> {
        let participant = self.id;
        let Some(connection) = self.connection_mut() else { return Ok(()) };
        connection.leave_stream_for_good(participant);
        if connection.channels.remove(channel).is_none() {
            return Err(Error::UnknownChannel { channel: channel.get() });
        }
        event!(DEBUG, "channel closed", %participant, %channel);
        connection.forget_history(channel);
        connection.missing.starts.remove(&channel);
        connection.upload.offers.retain(|_, offer| offer.channels.binary_search(&channel).is_err());
        if let Stage::Joining(joining) = &mut connection.stage {
            joining.late.remove(&channel);
        }
        connection.rates.limits.remove(channel);
        if let Some(datagrams) = &mut connection.link.datagrams {
            datagrams.close(channel);
        }
        if let Some(place) = &mut connection.place {
            // W85: the datagrams of the participant's fan-out group still hold this channel, so the
            // participant leaves the group and is served alone until it enters another one.
            let before = place.group();
            place.leave(&mut connection.link);
            place.log_move(participant, before);
        }
        Ok(())
    }

    /// Changes how a channel's messages to this participant are compressed.
    pub(super) fn set_compress(
        &mut self,
        channel: ChannelNo,
        compress: Compress,
    ) -> Result<(), Error> {
        let id = self.id;
        let Some(connection) = self.connection_mut() else { return Ok(()) };
        connection.leave_stream_for_good(id);
        match connection.channels.get_mut(channel) {
            Some(opened) => {
                opened.compress = compress;
                Ok(())
            }
            None => Err(Error::UnknownChannel { channel: channel.get() }),
        }
    }

    /// Changes the QoS of a channel for everybody, to the QoS that the authority grants (W77).
    pub(super) fn change(
        &mut self,
        now: Duration,
        channel: ChannelNo,
        qos: Qos,
        common: &mut Common,
    ) -> Result<(), Error> {
        let Some(connection) = self.connection() else { return Ok(()) };
        let Some(opened) = connection.channels.get(channel) else {
            return Err(Error::UnknownChannel { channel: channel.get() });
        };
        let access = opened.access;
        if let Some(upward) = &mut common.upward {
            upward.change(connection.id, channel, access, qos);
            return Ok(());
        }
        let refused = self.change_qos(now, (channel, access, qos), common);
        if let Some(connection) = self.connection_mut() {
            match refused {
                Some(frame) => connection.link.queue_raw(frame),
                // The participant gets an answer even if nothing changed.
                None => _ = connection.notices.renewed.insert(channel),
            }
        }
        Ok(())
    }

    /// Changes the QoS of a channel that the participant has open with this access. Returns the
    /// frame that says why it does not change.
    pub(in crate::room) fn change_qos(
        &self,
        now: Duration,
        (channel, access, qos): (ChannelNo, Access, Qos),
        common: &mut Common,
    ) -> Option<Vec<u8>> {
        let Common { permissions, log, storing, delivery, accounting, timers, effects, .. } =
            common;
        let known = log.channel(channel);
        let existing = known.qos;
        // W113, W119: a client that does not know these bits does not send them, so they stay.
        let Qos { departures, speakers, .. } = existing;
        let qos = Qos { departures, speakers, ..qos };
        let qos = match permissions.may_change(&self.identity, known, access, qos) {
            Ok(qos) => qos,
            Err(why) => {
                let mut frame = Vec::new();
                error_frame(&Error::NotChanged { why }, false, channel.get(), &mut frame);
                return Some(frame);
            }
        };
        if qos != existing {
            let name = known.name.clone();
            log.change_channel(channel, qos);
            accounting.upstreams.forget(channel);
            if let Some(storing) = storing {
                storing.changed(channel);
            }
            delivery.outputs.emit(Event::Changed { name, qos, participant: self.id });
            effects.push(Effect::Changed(channel));
        }
        timers.schedule_tick(now);
        None
    }

    /// Limits the rate at which this participant is sent a channel's values (W78).
    pub(super) fn limit_rate(
        &mut self,
        now: Duration,
        channel: ChannelNo,
        rate: Rate,
        log: &Log,
        rate_limited: &mut BTreeSet<ParticipantId>,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Error> {
        let id = self.id;
        let Some(connection) = self.connection_mut() else { return Ok(()) };
        if connection.channels.get(channel).is_none() {
            return Err(Error::UnknownChannel { channel: channel.get() });
        }
        let conflates = log.channel(channel).qos.overflow == Overflow::Conflate;
        let is_limited = connection.rates.limits.contains(channel);
        let cursor = connection.served();
        let rate_to_begin = if conflates || is_limited { rate } else { Rate::ZERO };
        if !connection.rates.limits.set(now, channel, rate_to_begin, cursor) {
            // The participant had no rate limit and gets none: it goes on being sent all values.
            return Ok(());
        }
        if rate.is_zero() {
            connection.take_turns(now, id, log);
            connection.rates.limits.remove(channel);
        }
        rate_limited.insert(id);
        // A receiver with a rate limit cannot share a stream with others.
        connection.leave_stream_for_good(id);
        effects.push(Effect::TurnsMoved);
        Ok(())
    }
}

impl Connection {
    /// Queues a CHANNEL frame with the new QoS of each changed channel, before the next payload
    /// (W16).
    pub(super) fn tell_changes(&mut self, log: &Log) {
        if self.notices.renewed.is_empty() || !self.link.ready() {
            return;
        }
        while let Some(id) = self.notices.renewed.pop_first() {
            let known = log.channel(id);
            if let Some(opened) = self.channels.get(id) {
                let (name, qos, access) = (known.name.as_str(), known.qos, opened.access);
                self.link.queue(&Frame::Channel { reference: 0, id, access, name, qos });
            }
        }
    }

    /// W115: what waits for this participant on channels that it does not receive cannot be
    /// delivered.
    pub(super) fn give_up_directs(&self, id: ParticipantId, log: &mut Log) {
        let receives = |channel| self.channels.receives(channel).is_some();
        log.directs.give_up_closed(id, self.stream.feed.until.log, receives);
    }

    /// True if the participant lacks older messages of a channel that it opens now and has the
    /// transactions of up to `have` (W18).
    fn lacks_older(
        &mut self,
        id: ParticipantId,
        channel: ChannelNo,
        have: Position,
        log: &Log,
    ) -> bool {
        let sent = self.stream.feed.cursor;
        if have < sent.log {
            return true;
        }
        let until = sent.with_awareness(self.stream.feed.until.awareness.max(sent.awareness));
        let until = if self.is_joining() { sent } else { until };
        let (receiver, _) = self.split(id);
        let channels = [channel];
        let values =
            log.due(Cursor::default().with_log(sent.log), until, receiver.history(&channels));
        values.is_ok_and(|mut values| values.peek().is_some())
    }

    /// Removes the channel from the queued older messages.
    fn forget_history(&mut self, channel: ChannelNo) {
        self.missing.unfilled.remove(&channel);
        for history in &mut self.stream.history {
            history.opened.retain(|opened| *opened != channel);
            history.channels.retain(|other| *other != channel);
        }
        self.stream
            .history
            .retain(|history| !history.channels.is_empty() || !history.opened.is_empty());
    }
}
