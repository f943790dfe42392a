//! Sends a participant its messages over the stream until its transport accepts no more. Packets are built only when
//! the transport is ready, so that no outdated message is ever queued.

use alloc::vec::Vec;
use core::time::Duration;

use super::Peer;
use super::connection::{Connection, StreamParts};
use super::stage::{Download, Stage};
use crate::limits::{MAX_PRESENCE, MAX_USER};
use crate::link::{Link, PING_SIZE};
use crate::packing::NextChunk;
use crate::room::api::Output;
use crate::room::common::Common;
use crate::room::feed::private_stream::{Introductions, Payload};
use crate::room::feed::{RecordBuilder, copies};
use crate::room::members::news::{self, PRESENCE_PER_PACKET};
use crate::room::members::roster::Roster;
use crate::wire::frame::Frame;
use crate::{Error, ParticipantId, PresenceState};

/// The most bytes of a participant in PARTICIPANTS without its number, its state and the two lengths.
const LARGEST_ENTRY: usize = MAX_PRESENCE + MAX_USER;

/// If the participant was not sent this many transactions in a row (their channels are not open), a POSITION frame is
/// worth its bytes: a later resume then starts from there.
pub(super) const WORTH_A_POSITION: u64 = 128;

/// In a large room, the ages of late-joiner state may be too small by less than this (wire W31). It is far less than the time for
/// which such messages have been in the room, and long enough that in a storm hundreds are sent the same.
const STATE_STEP: Duration = Duration::from_millis(250);

/// The most participants in a page (W105).
const PAGE: usize = 256;

impl Peer {
    /// Sends control frames and messages over the stream until there are no more or the transport is busy.
    pub(in crate::room) fn flush(&mut self, now: Duration, common: &mut Common) {
        // Direct transactions go before later payloads of a shared stream (W114).
        if self.connection().is_some_and(|connection| connection.directs.is_due()) {
            self.flush_private(now, common);
        }
        self.flush_shared(now, common);
        self.flush_private(now, common);
    }

    fn flush_private(&mut self, now: Duration, common: &mut Common) {
        let id = self.id;
        loop {
            let Some(connection) = self.connection() else { return };
            if connection.download().is_none() {
                self.catch_up(false, common);
            }
            let Some(connection) = self.connection_mut() else { return };
            connection.pass_reach();
            connection.say_synced();
            connection.say_position_of_directs(&common.streams);
            connection.feed_model();
            self.tell_changes(common);
            let Some(connection) = self.connection_mut() else { return };
            // The answer to a ping says how long it waited. Over a stream alone it shares nothing by waiting.
            let is_urgent = connection.has_anything_but_answer()
                || connection.link.datagrams.is_none()
                || connection.link.is_answer_late(now)
                || !common.timers.expects_tick(now);
            if !connection.link.ready() || !connection.has_anything() || !is_urgent {
                return;
            }
            let before = connection.progress();
            let mut packet = connection.link.begin(now);
            // A payload is understood with the help of earlier control frames, so it is not sent while control frames
            // wait.
            let mut sent = Ok(());
            if !connection.link.has_control() {
                self.add_participants(&mut packet, common);
                self.add_page(&mut packet, common);
                // Payloads wait until the receiver knows their senders.
                let is_told = self.connection().is_some_and(|one| one.changed.is_empty());
                if !self.add_snapshot(now, &mut packet, common) && is_told {
                    sent = self.add_payload(now, &mut packet, common);
                }
            }
            if let Err(error) = sent {
                return self.fail(now, error, common);
            }
            let Some(connection) = self.connection_mut() else { return };
            if packet.is_empty() {
                // The messages were skipped because none is for the participant. If even the cursor did not move, a
                // message fits no packet.
                if connection.progress() == before {
                    return;
                }
                continue;
            }
            connection.link.launched(packet.len());
            let link = connection.id;
            common.stats.packets_out += 1;
            common.stats.bytes_out_after += packet.len() as u64;
            let coders = connection.link.coders.as_mut();
            common.inspector.sent_packet(now, id, coders, packet.len());
            common.outputs.push_back(Output::Send { link, packet, body: None });
        }
    }

    /// Adds a PARTICIPANTS frame with changes of the other participants, if there are any.
    pub(super) fn add_participants(&mut self, packet: &mut Vec<u8>, common: &Common) {
        let Some(connection) = self.connection_mut() else { return };
        if let Some(news) = connection.news.take() {
            if packet.len() + news.frames.len() <= connection.link.max_packet() {
                packet.extend_from_slice(&news.frames);
                if let Some(coders) = connection.link.coders.as_mut() {
                    news.left.iter().for_each(|&id| coders.encoder.numbering.forget(id));
                }
                return;
            }
            connection.changed.extend(&news.changed);
            connection.owes_count |= news.counts;
        }
        if common.roster.is_large() && core::mem::take(&mut connection.owes_count) {
            common.roster.count_frame().write(packet);
        }
        if connection.changed.is_empty() && !connection.is_list_complete && !connection.owes_count {
            return;
        }
        let mut list = Vec::new();
        let mut size = 0;
        let remaining = connection.link.remaining(packet).saturating_sub(LARGEST_ENTRY + 64);
        while size < PRESENCE_PER_PACKET.min(remaining)
            && let Some(id) = connection.changed.pop_first()
        {
            let entry = news::entry(id, &common.roster);
            size += news::size(&entry);
            list.push(entry);
        }
        if let Some(coders) = connection.link.coders.as_mut() {
            let left = list.iter().filter(|entry| entry.state == PresenceState::Left);
            left.for_each(|entry| coders.encoder.numbering.forget(entry.id));
        }
        Frame::Participants { complete: connection.is_list_complete, list }.write(packet);
        connection.is_list_complete = false;
        if connection.changed.is_empty() && core::mem::take(&mut connection.owes_count) {
            // The room is no longer large, and the list is whole (W103).
            common.roster.count_frame().write(packet);
        }
    }

    /// Adds the page of participants that this one asked for (W105), if the packet has place for it.
    fn add_page(&mut self, packet: &mut Vec<u8>, common: &Common) {
        let id = self.id;
        let Some(connection) = self.connection_mut() else { return };
        let remaining = connection.link.remaining(packet).saturating_sub(LARGEST_ENTRY + 64);
        if !connection.may_page || remaining == 0 {
            return;
        }
        let Some(after) = connection.page_wanted.take() else { return };
        connection.may_page = false;
        let mut others = common.roster.after(after).filter(|&other| other != id).peekable();
        let (mut list, mut size) = (Vec::new(), 0);
        while list.len() < PAGE
            && size < PRESENCE_PER_PACKET.min(remaining)
            && let Some(other) = others.next()
        {
            let entry = news::entry(other, &common.roster);
            size += news::size(&entry);
            list.push(entry);
        }
        Frame::Page { after, last: others.peek().is_none(), list }.write(packet);
    }

    /// Adds the next chunk of the part of the snapshot that is being sent, if one is. Returns true if it did: payloads wait until the
    /// part is complete.
    fn add_snapshot(&mut self, now: Duration, packet: &mut Vec<u8>, common: &mut Common) -> bool {
        let Common { packing, chunks, inspector, .. } = common;
        let Some(connection) = self.connection_mut() else { return false };
        let Connection { stage, link, .. } = &mut *connection;
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

    /// Adds a payload with the messages that the participant still has to be sent, as many as fit.
    fn add_payload(
        &mut self,
        now: Duration,
        packet: &mut Vec<u8>,
        common: &mut Common,
    ) -> Result<(), Error> {
        let id = self.id;
        if self.connection().is_some_and(|connection| connection.directs.is_due()) {
            self.give_up_directs(common);
        }
        let Common { log, packing, forms, stats, inspector, roster, state, .. } = &mut *common;
        let Some(connection) = self.connection_mut() else { return Ok(()) };
        let remaining = connection.link.remaining(packet);
        // Until it has caught up, the receiver does not know which transactions it will not be sent.
        let is_live = !connection.is_joining() && connection.reach.is_none();
        let (is_member, mut at) = (connection.is_member(), packet.len());
        let (receiver, parts) = connection.split(id);
        let StreamParts { stream, directs, model, released, link, told: known, told_from } = parts;
        let Link { coders: Some(coders), choosing, datagrams, .. } = &mut *link else {
            return Ok(());
        };
        coders.encoder.keep_account(inspector.is_on());
        let from = stream.feed.cursor.log;
        let told = coders.encoder.numbering.position();
        let builder = RecordBuilder { now, log, choosing, packing, forms };
        let introductions = Introductions { roster, told: known, told_from, list: Vec::new() };
        let is_large = roster.is_large();
        let state_at = if is_large { state_time(now) } else { now };
        let mut payload =
            Payload { remaining, coders, builder, state_at, messages: 0, bytes: 0, introductions };
        // If the log no longer has transactions that the stream lacks, the participant is sent the snapshot or a gap
        // before the next packet.
        let notices = stream.fill(&mut payload, receiver, released, directs).unwrap_or_default();
        let until = stream.feed.cursor.log;
        if let Some(datagrams) = datagrams
            && is_live
            && !is_member
            && until > from
        {
            copies::copy((from, until), told, datagrams, receiver, &mut payload.builder);
        }
        stats.deliveries += payload.messages;
        stats.bytes_out_before += payload.bytes;
        let senders = payload.introductions.list;
        let encoder = &mut coders.encoder;
        let records = encoder.len() as u64;
        let is_timed = encoder.take_timed();
        let outcome = match (records, encoder.has_state()) {
            (0, _) => Ok(()),
            (_, false) => {
                encoder.own_model(model);
                encoder.finish(choosing, packing, packet)
            }
            (_, true) => {
                let known = (is_large.then_some(state), model);
                let coded = encoder.finish_state(choosing, packing, known, packet);
                coded.map(|is_coded| stats.count_state(records, is_coded))
            }
        };
        if !senders.is_empty() {
            at += introduce(roster, senders, packet, at);
        }
        let skipped = until.get().saturating_sub(coders.encoder.numbering.position().get());
        // The receiver delivers a direct transaction when its own position has reached it (W114).
        let owes_position = directs.is_owed(coders.encoder.numbering.position(), until);
        let says_position = (skipped >= WORTH_A_POSITION || owes_position)
            && stream.history.is_empty()
            && !is_member;
        if says_position {
            coders.encoder.numbering.advance(until);
        }
        for notice in &notices {
            stats.gaps += u64::from(matches!(notice, Frame::Gap { .. }));
            link.queue(notice);
        }
        link.probe(now, packet, at);
        link.stamp(now, is_timed, packet, at);
        if says_position {
            link.queue(&Frame::Position(until));
        }
        packing.tidy();
        self.copies_are_due(now, common);
        outcome
    }
}

/// The time to which the ages of late-joiner state are counted in a large room. It moves in steps, so that newcomers of the same
/// step are sent the same bytes.
fn state_time(now: Duration) -> Duration {
    let step = STATE_STEP.as_millis() as u64;
    Duration::from_millis(now.as_millis() as u64 / step * step)
}

/// Inserts a PARTICIPANTS frame with these senders before the payload, which begins at `at` (W104). Returns its length.
fn introduce(
    roster: &mut Roster,
    senders: Vec<ParticipantId>,
    packet: &mut Vec<u8>,
    at: usize,
) -> usize {
    let list = senders.iter().map(|&id| news::entry(id, roster)).collect();
    let mut frame = Vec::new();
    Frame::Participants { complete: false, list }.write(&mut frame);
    senders.iter().for_each(|&id| roster.was_named(id));
    let length = frame.len();
    packet.splice(at..at, frame);
    length
}
