//! Sends a participant its messages over the stream until its transport accepts no more. Packets
//! are built only when the transport is ready, so that no outdated message is ever queued.

use alloc::vec::Vec;
use core::time::Duration;

use super::Peer;
use super::connection::{Connection, StreamParts};
use super::stage::{Download, Stage};
use crate::link::{Link, PING_SIZE};
use crate::packing::NextChunk;
use crate::room::accounting::Accounting;
use crate::room::api::Output;
use crate::room::common::Common;
use crate::room::delivery::{Compression, Delivery};
use crate::room::feed::participants::{Introductions, introduce};
use crate::room::feed::private_stream::Payload;
use crate::room::feed::{RecordBuilder, copies};
use crate::room::inspector::Inspector;
use crate::room::log::Log;
use crate::room::members::roster::Roster;
use crate::room::timers::Timers;
use crate::wire::frame::Frame;
use crate::{Error, ParticipantId};

/// If the participant was not sent this many transactions in a row (their channels are not open), a
/// POSITION frame is worth its bytes: a later resume then starts from there.
pub(super) const WORTH_A_POSITION: u64 = 128;

/// In a large room, the ages of late-joiner state may be too small by less than this (wire W31). It
/// is far less than the time for which such messages have been in the room, and long enough that in
/// a storm hundreds are sent the same.
const STATE_STEP: Duration = Duration::from_millis(250);

impl Peer {
    /// Sends control frames and messages over the stream until there are no more or the transport
    /// is busy. Closes the transport if they cannot be coded.
    pub(in crate::room) fn flush(&mut self, now: Duration, common: &mut Common) {
        let Common { log, members, timers, delivery, accounting, .. } = &mut *common;
        let roster = &mut members.roster;
        if let Err(error) = self.send(now, log, roster, timers, delivery, accounting) {
            self.fail(now, error, common);
        }
    }

    fn send(
        &mut self,
        now: Duration,
        log: &mut Log,
        roster: &mut Roster,
        timers: &mut Timers,
        delivery: &mut Delivery,
        accounting: &mut Accounting,
    ) -> Result<(), Error> {
        // Direct transactions go before later payloads of a shared stream (W114).
        if self.connection().is_some_and(|connection| connection.stream.directs.is_due()) {
            self.send_private(now, log, roster, timers, delivery, accounting)?;
        }
        self.send_shared(now, log, roster, delivery, accounting);
        self.send_private(now, log, roster, timers, delivery, accounting)
    }

    fn send_private(
        &mut self,
        now: Duration,
        log: &mut Log,
        roster: &mut Roster,
        timers: &mut Timers,
        delivery: &mut Delivery,
        accounting: &mut Accounting,
    ) -> Result<(), Error> {
        let id = self.id;
        let Delivery { outputs, streams, compression, .. } = delivery;
        loop {
            let Some(connection) = self.connection_mut() else { return Ok(()) };
            if connection.download().is_none() {
                connection.catch_up(id, false, log, &mut accounting.stats);
            }
            connection.pass_reach();
            connection.say_synced();
            connection.say_position_of_directs(streams);
            connection.feed_model();
            connection.tell_changes(log);
            // The answer to a ping says how long it waited. Over a stream alone it shares nothing
            // by waiting.
            let is_urgent = connection.has_anything_but_answer()
                || connection.link.datagrams.is_none()
                || connection.link.is_answer_late(now)
                || !timers.expects_tick(now);
            if !connection.link.ready() || !connection.has_anything() || !is_urgent {
                return Ok(());
            }
            let before = connection.progress();
            let mut packet = connection.link.begin(now);
            // A payload is understood with the help of earlier control frames, so it is not sent
            // while control frames wait.
            let mut sent = Ok(());
            if !connection.link.has_control() {
                let Connection { participants, link, .. } = &mut *connection;
                participants.add_changes(&mut packet, link, roster);
                participants.add_page(id, &mut packet, link, roster);
                // Payloads wait until the receiver knows their senders.
                let is_told = !participants.has_changes();
                let inspector = &mut accounting.inspector;
                if !connection.add_chunk(now, &mut packet, compression, inspector) && is_told {
                    let to = (id, &mut packet);
                    sent = connection.add_payload(now, to, log, roster, compression, accounting);
                    connection.copies_are_due(now, id, timers);
                }
            }
            sent?;
            if packet.is_empty() {
                // The messages were skipped because none is for the participant. If even the cursor
                // did not move, a message fits no packet.
                if connection.progress() == before {
                    return Ok(());
                }
                continue;
            }
            connection.link.launched(packet.len());
            let link = connection.id;
            accounting.count_sent(packet.len());
            let coders = connection.link.coders.as_mut();
            accounting.inspector.sent_packet(now, id, coders, packet.len());
            outputs.push_back(Output::Send { link, packet, body: None });
        }
    }
}

impl Connection {
    /// Adds the next chunk of the part of the snapshot that is being sent, if one is. Returns true
    /// if it did: payloads wait until the part is complete.
    fn add_chunk(
        &mut self,
        now: Duration,
        packet: &mut Vec<u8>,
        compression: &mut Compression,
        inspector: &mut Inspector,
    ) -> bool {
        let Compression { packing, chunks, .. } = compression;
        let Connection { stage, link, .. } = self;
        let downloads = match stage {
            Stage::Joining(joining) => &mut joining.downloads,
            Stage::CatchingUp(downloads) => downloads,
            Stage::Live(_) => return false,
        };
        let Some(Download { part, number, offset }) = downloads.front_mut() else { return false };
        let (as_of, bytes) = (part.as_of, &part.bytes[..]);
        let first = part.channels.first().copied().unwrap_or_default();
        let (from, at) = (*offset, packet.len());
        let remaining = link.remaining(packet).saturating_sub(PING_SIZE);
        let chunk = NextChunk { part: *number, as_of, first, bytes, offset: from };
        *offset += chunk.write(now, remaining, &mut link.choosing, packing, Some(chunks), packet);
        inspector.sent_chunk(from, *offset - from, packet.len() - at);
        let is_whole = *offset == bytes.len();
        link.probe(now, packet, at);
        packing.tidy();
        if is_whole {
            downloads.pop_front();
            if let Stage::CatchingUp(downloads) = stage
                && downloads.is_empty()
            {
                *stage = Stage::Live(None);
            }
        }
        true
    }

    /// Adds a payload with the messages that the participant `id` still has to be sent, as many as
    /// fit.
    fn add_payload(
        &mut self,
        now: Duration,
        (id, packet): (ParticipantId, &mut Vec<u8>),
        log: &mut Log,
        roster: &mut Roster,
        compression: &mut Compression,
        accounting: &mut Accounting,
    ) -> Result<(), Error> {
        if self.stream.directs.is_due() {
            self.give_up_directs(id, log);
        }
        let Compression { packing, forms, state, .. } = compression;
        let remaining = self.link.remaining(packet);
        // Until it has caught up, the receiver does not know which transactions it will not be
        // sent.
        let is_live = !self.is_joining() && self.missing.reach.is_none();
        let (is_member, mut at) = (self.is_member(), packet.len());
        let (receiver, parts) = self.split(id);
        let StreamParts { stream, released, link, participants } = parts;
        let Link { coders: Some(coders), choosing, datagrams, .. } = &mut *link else {
            return Ok(());
        };
        coders.encoder.keep_account(accounting.inspector.is_on());
        let from = stream.feed.cursor.log;
        let told = coders.encoder.numbering.position();
        let builder = RecordBuilder { now, log, choosing, packing, forms };
        let introductions = Introductions { roster, participants, list: Vec::new() };
        let is_large = roster.is_large();
        let state_at = if is_large { state_time(now) } else { now };
        let mut payload =
            Payload { remaining, coders, builder, state_at, messages: 0, bytes: 0, introductions };
        // If the log no longer has transactions that the stream lacks, the participant is sent the
        // snapshot or a gap before the next packet.
        let notices = stream.fill(&mut payload, receiver, released).unwrap_or_default();
        let until = stream.feed.cursor.log;
        if let Some(datagrams) = datagrams
            && is_live
            && !is_member
            && until > from
        {
            copies::copy((from, until), told, datagrams, receiver, &mut payload.builder);
        }
        accounting.count_delivered(payload.messages, payload.bytes);
        let senders = payload.introductions.list;
        let encoder = &mut coders.encoder;
        let records = encoder.len() as u64;
        let is_timed = encoder.take_timed();
        let outcome = match (records, encoder.has_state()) {
            (0, _) => Ok(()),
            (_, false) => {
                encoder.own_model(&mut stream.model);
                encoder.finish(choosing, packing, packet)
            }
            (_, true) => {
                let known = (is_large.then_some(state), &mut stream.model);
                let coded = encoder.finish_state(choosing, packing, known, packet);
                coded.map(|is_coded| accounting.stats.count_state(records, is_coded))
            }
        };
        if !senders.is_empty() {
            at += introduce(roster, senders, packet, at);
        }
        let skipped = until.get().saturating_sub(coders.encoder.numbering.position().get());
        // The receiver delivers a direct transaction when its own position has reached it (W114).
        let owes_position = stream.directs.is_owed(coders.encoder.numbering.position(), until);
        let says_position = (skipped >= WORTH_A_POSITION || owes_position)
            && stream.history.is_empty()
            && !is_member;
        if says_position {
            coders.encoder.numbering.advance(until);
        }
        for notice in &notices {
            accounting.stats.gaps += u64::from(matches!(notice, Frame::Gap { .. }));
            link.queue(notice);
        }
        link.probe(now, packet, at);
        link.stamp(now, is_timed, packet, at);
        if says_position {
            link.queue(&Frame::Position(until));
        }
        packing.tidy();
        outcome
    }
}

/// The time to which the ages of late-joiner state are counted in a large room. It moves in steps,
/// so that newcomers of the same step are sent the same bytes.
fn state_time(now: Duration) -> Duration {
    let step = STATE_STEP.as_millis() as u64;
    Duration::from_millis(now.as_millis() as u64 / step * step)
}
