//! Sends a participant its messages over the stream until its transport accepts no more. Packets are built only when
//! the transport is ready, so that no outdated message is ever queued.

use alloc::vec::Vec;
use core::time::Duration;

use super::Peer;
use super::connection::{Connection, Download, Stage, StreamParts};
use crate::limits::{MAX_PRESENCE, MAX_USER};
use crate::link::{Link, PING_SIZE};
use crate::packing::NextChunk;
use crate::room::api::Output;
use crate::room::common::Common;
use crate::room::feed::private_stream::Payload;
use crate::room::feed::{RecordBuilder, copies};
use crate::room::roster::Presence;
use crate::wire::frame::{Frame, ParticipantEntry};
use crate::{Error, PresenceState};

/// The most bytes of a participant in PARTICIPANTS without its number, its state and the two lengths.
const LARGEST_ENTRY: usize = MAX_PRESENCE + MAX_USER;

/// The most bytes of presence and users in one packet. Further participants wait for the next packet.
const PRESENCE_PER_PACKET: usize = 16 << 10;

/// If the participant was not sent this many transactions in a row (their channels are not open), a POSITION frame is
/// worth its bytes: a later resume then starts from there.
pub(super) const WORTH_A_POSITION: u64 = 128;

impl Peer {
    /// Sends control frames and messages over the stream until there are no more or the transport is busy.
    pub(in crate::room) fn flush(&mut self, now: Duration, common: &mut Common) {
        self.flush_shared(now, common);
        let id = self.id;
        loop {
            let Some(connection) = self.connection() else { return };
            if connection.download().is_none() {
                self.catch_up(false, common);
            }
            let Some(connection) = self.connection_mut() else { return };
            connection.pass_reach();
            connection.say_synced();
            connection.feed_model();
            self.tell_changes(common);
            let Some(connection) = self.connection_mut() else { return };
            if !connection.link.ready() || !connection.has_anything() {
                return;
            }
            let before = connection.progress();
            let mut packet = connection.link.begin(now);
            // A payload is understood with the help of earlier control frames, so it is not sent while control frames
            // wait.
            let mut sent = Ok(());
            if !connection.link.has_control() {
                self.add_participants(&mut packet, common);
                if !self.add_snapshot(now, &mut packet, common) {
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
        if connection.changed.is_empty() && !connection.is_list_complete {
            return;
        }
        let mut list = Vec::new();
        let mut size = 0;
        let remaining = connection.link.remaining(packet).saturating_sub(LARGEST_ENTRY + 64);
        while size < PRESENCE_PER_PACKET.min(remaining)
            && let Some(id) = connection.changed.pop_first()
        {
            let entry = match common.roster.get(id) {
                Some(Presence { state, user, bytes }) => {
                    ParticipantEntry { id, state: *state, user: user.as_deref(), presence: bytes }
                }
                None => {
                    ParticipantEntry { id, state: PresenceState::Left, user: None, presence: &[] }
                }
            };
            size += entry.presence.len() + entry.user.map_or(0, str::len) + 10;
            list.push(entry);
        }
        if let Some(coders) = connection.link.coders.as_mut() {
            let left = list.iter().filter(|entry| entry.state == PresenceState::Left);
            left.for_each(|entry| coders.encoder.numbering.forget(entry.id));
        }
        Frame::Participants { complete: connection.is_list_complete, list }.write(packet);
        connection.is_list_complete = false;
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
        let Common { log, packing, forms, stats, inspector, .. } = &mut *common;
        let Some(connection) = self.connection_mut() else { return Ok(()) };
        let remaining = connection.link.remaining(packet);
        // Until it has caught up, the receiver does not know which transactions it will not be sent.
        let is_live = !connection.is_joining() && connection.reach.is_none();
        let (is_member, at) = (connection.is_member(), packet.len());
        let (receiver, StreamParts { stream, released, link }) = connection.split(id);
        let Link { coders: Some(coders), choosing, datagrams, .. } = &mut *link else {
            return Ok(());
        };
        coders.encoder.keep_account(inspector.is_on());
        let from = stream.feed.cursor.log;
        let told = coders.encoder.numbering.position();
        let builder = RecordBuilder { now, log, choosing, packing, forms };
        let mut payload = Payload { remaining, coders, builder, messages: 0, bytes: 0 };
        // If the log no longer has transactions that the stream lacks, the participant is sent the snapshot or a gap
        // before the next packet.
        let notices = stream.fill(&mut payload, receiver, released).unwrap_or_default();
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
        let outcome = match coders.encoder.is_empty() {
            true => Ok(()),
            false => coders.encoder.finish(choosing, packing, packet),
        };
        let skipped = until.get().saturating_sub(coders.encoder.numbering.position().get());
        let says_position = skipped >= WORTH_A_POSITION && stream.history.is_empty() && !is_member;
        if says_position {
            coders.encoder.numbering.advance(until);
        }
        for notice in &notices {
            stats.gaps += u64::from(matches!(notice, Frame::Gap { .. }));
            link.queue(notice);
        }
        link.probe(now, packet, at);
        link.stamp(now, packet, at);
        if says_position {
            link.queue(&Frame::Position(until));
        }
        packing.tidy();
        self.copies_are_due(now, common);
        outcome
    }
}
