//! The parts of the room's snapshot: participants offer to make them, are asked for them, and
//! upload them. Also decides where in the log a participant begins that lacks transactions (wire
//! W31 to W33, W95, W96).

use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::Peer;
use super::connection::Connection;
use super::stage::{Download, Offer, Upload};
use crate::events::event;
use crate::limits::MAX_PARTS;
use crate::room::api::{Event, Stats};
use crate::room::common::{Common, Effect};
use crate::room::delivery::{Compression, Delivery};
use crate::room::feed::Feed;
use crate::room::feed::gaps::gaps;
use crate::room::feed::private_stream::History;
use crate::room::intake::Intake;
use crate::room::log::{Cursor, Log, Part};
use crate::room::permissions::Permissions;
use crate::wire::frame::{Frame, error_frame};
use crate::wire::snapshot::{Assembly, Chunk};
use crate::{ChannelNo, Error, Kind, ParticipantId, Position};

/// A chunk of at least this many bytes gives its sender more time. Usual ones have 16 KiB.
const LEAST_PROGRESS: usize = 1024;

impl Peer {
    /// The participant offers to make this part of the snapshot. Without channels, it withdraws the
    /// offer (W95).
    pub(super) fn offer(
        &mut self,
        number: u32,
        name: &str,
        channels: &[ChannelNo],
        permissions: &Permissions,
        log: &Log,
        intake: &mut Intake,
    ) -> Result<(), Error> {
        let Some(connection) = self.connection_mut() else { return Ok(()) };
        if name.starts_with('\0') {
            // W102: the store keeps resets under such names.
            return Err(Error::malformed("PART: its name begins with U+0000"));
        }
        connection.upload.offers.remove(&number);
        intake.has_new_subscriptions = true;
        if channels.is_empty() {
            return Ok(());
        }
        if connection.upload.offers.len() >= MAX_PARTS {
            return Err(Error::TooMany { what: "parts of a snapshot", limit: MAX_PARTS });
        }
        for &channel in channels {
            if connection.channels.receives(channel).is_none() {
                return Err(Error::UnknownChannel { channel: channel.get() });
            }
            if log.channel(channel).qos.kind != Kind::Transaction {
                return Err(Error::malformed("PART: a channel without transactions"));
            }
        }
        let permitted = permissions.may_make(&self.identity, name, channels, log);
        let granted = permitted.and_then(|()| match log.permits_part(name, channels) {
            true => Ok(()),
            false => {
                Err("another part stands for one of its channels, or the room's part of this \
                              name for more channels"
                    .to_string())
            }
        });
        let Some(connection) = self.connection_mut() else { return Ok(()) };
        match granted {
            Ok(()) => {
                intake.offered.extend(channels);
                let offer = Offer { name: name.into(), channels: channels.to_vec() };
                connection.upload.offers.insert(number, offer);
            }
            Err(why) => {
                let mut frame = Vec::new();
                error_frame(&Error::PartRefused { why }, false, number, &mut frame);
                connection.link.queue_raw(frame);
            }
        }
        Ok(())
    }

    /// The first part after the one with the number `after` that this participant can be asked for,
    /// and that the log needs.
    pub(in crate::room) fn wanted_part(&self, after: Option<u32>, log: &Log) -> Option<u32> {
        let connection =
            self.connection().filter(|connection| connection.has_all_transactions())?;
        let mut offers = connection.upload.offers.iter();
        let wanted = offers.find(|(number, offer)| {
            after.is_none_or(|after| **number > after)
                && log.wants_part(&offer.channels)
                && log.permits_part(&offer.name, &offer.channels)
        });
        wanted.map(|(number, _)| *number)
    }

    /// Asks the participant for a part of the snapshot, of at most `max_size` bytes.
    pub(in crate::room) fn ask_for_part(&mut self, part: u32, max_size: usize) {
        let Some(connection) = self.connection_mut() else { return };
        // The participant will know at least this position when it reads the request, as the
        // transport keeps the order of packets.
        let carried = connection.link.coders.as_ref().map(|coders| &coders.encoder.numbering);
        let told = connection.member().map(|member| member.told);
        let at_least = told.unwrap_or(carried.map_or(Position(0), |known| known.position()));
        connection.upload.asked.insert(part);
        connection.upload.free = max_size;
        connection.upload.awaited = Some((part, at_least));
        connection.link.queue(&Frame::SnapshotWanted { part, at_least });
    }

    /// Receives a chunk of a part of the snapshot from the participant. Keeps the part once it is
    /// complete.
    pub(super) fn take_chunk(
        &mut self,
        chunk: &Chunk<'_>,
        is_packed: bool,
        common: &mut Common,
    ) -> Result<(), Error> {
        let Common { log, delivery, accounting, effects, upward, .. } = common;
        let limit = log.max_part();
        let Delivery { outputs, compression: Compression { packing, .. }, .. } = delivery;
        let Some(connection) = self.connection_mut() else { return Ok(()) };
        let Upload { offers, asked, awaited, arriving, free } = &mut connection.upload;
        if !asked.contains(&chunk.part) {
            return Err(Error::NotAllowed { what: "a snapshot that was not asked for" });
        }
        if chunk.as_of > log.durable() {
            return Err(Error::NotAllowed { what: "a snapshot of the future" });
        }
        if offers.get(&chunk.part).is_some_and(|offer| log.splits(&offer.channels, chunk.as_of)) {
            return Err(Error::malformed("SNAPSHOT: it ends within a transaction"));
        }
        let is_rest = chunk.offset > 0 && arriving.is_none();
        let is_awaited =
            awaited.is_some_and(|(part, at_least)| part == chunk.part && at_least <= chunk.as_of);
        if is_rest || !is_awaited {
            // This chunk belongs to an answer that is no longer needed: another participant's part
            // came first.
            return Ok(());
        }
        let size = chunk.bytes.len().min(*free);
        *free -= size;
        accounting.asked_for += size as u64;
        if chunk.bytes.len() >= LEAST_PROGRESS {
            effects.push(Effect::SnapshotComes);
        }
        let whole = match is_packed {
            false => Assembly::add(arriving, chunk, limit)?,
            true => Assembly::add(arriving, &chunk.unpacked(packing, limit)?, limit)?,
        };
        packing.tidy();
        let Some(Assembly { part, as_of, bytes, .. }) = whole else { return Ok(()) };
        (*awaited, *arriving) = (None, None);
        effects.push(Effect::SnapshotCame);
        // The participant may have withdrawn its offer, or another part may have taken one of its
        // channels.
        let Some(Offer { name, channels }) = offers.get(&part) else { return Ok(()) };
        let size = bytes.len();
        if let Some(upward) = upward {
            if log.permits_part(name, channels) {
                upward.part(name, channels, as_of, bytes);
            }
            return Ok(());
        }
        if log.permits_part(name, channels) && log.set_part(name, channels, as_of, bytes) {
            outputs.emit(Event::Snapshot { part: name.clone(), as_of, size });
        }
        Ok(())
    }
}

impl Connection {
    /// Decides what the participant is sent before the transactions after its place in the log:
    /// parts of the snapshot for channels whose older transactions are no longer in memory, and
    /// older messages of channels that it opened late. The rest is reported as gaps. `is_join`:
    /// true while the participant joins.
    pub(in crate::room) fn catch_up(
        &mut self,
        participant: ParticipantId,
        is_join: bool,
        log: &Log,
        stats: &mut Stats,
    ) {
        let place = self.stream.feed.cursor.log;
        let is_new = is_join && place == Position(0);
        let is_behind = self.is_behind(participant, log);
        // Own transactions may be among the trimmed ones, also on channels that the participant
        // does not receive.
        let may_lack_own = self.is_behind_any(log) && self.missing.reach.is_none();
        if !is_new && !is_behind && !may_lack_own && self.missing.unfilled.is_empty() {
            return;
        }
        if is_behind && !is_join {
            event!(INFO, "participant fell behind the log", %participant, %place);
        }
        for part in log.parts() {
            if self.needs_part(part, log) {
                self.send_part(participant, part);
            }
        }
        if self.download().is_none() {
            stats.gaps += self.tell_gaps(participant, log);
        }
        self.enter(participant, log);
        self.send_older_messages();
    }

    /// The participant has the channel's transactions up to here, or will have them before it is
    /// sent later ones.
    fn has(&self, channel: ChannelNo) -> Position {
        let late = self.missing.unfilled.get(&channel).copied();
        late.unwrap_or_else(|| {
            let start = self.missing.starts.get(&channel).copied().unwrap_or_default();
            self.stream.feed.cursor.log.max(start)
        })
    }

    /// True if the part has to be sent: it replaces transactions that the participant lacks and
    /// that are no longer in memory, or the participant has nothing of its channels yet.
    fn needs_part(&self, part: &Part, log: &Log) -> bool {
        let place = self.stream.feed.cursor.log;
        // W95: a part is for participants that receive all its channels.
        if !self.channels.receives_all(&part.channels) {
            return false;
        }
        let mut is_behind = false;
        let (mut is_empty, mut is_older, mut is_newer) = (true, false, false);
        for &channel in &part.channels {
            let has = self.has(channel);
            is_behind |= has < log.trimmed(channel);
            is_empty &= has == Position(0);
            is_older |= has > part.as_of && part.as_of > place;
            is_newer |= has < part.as_of;
        }
        (is_behind || is_empty) && is_newer && !is_older
    }

    /// Begins to send a part of the snapshot to the participant.
    fn send_part(&mut self, participant: ParticipantId, part: &Arc<Part>) {
        let Part { name, channels, as_of, counters, .. } = &**part;
        event!(DEBUG, "part of the snapshot is being sent", %participant, name, %as_of);
        self.missing.parts_sent += 1;
        let number = self.missing.parts_sent;
        let counter = counters.get(&participant).copied().unwrap_or_default();
        let name = name.as_str();
        self.link.queue(&Frame::Part { part: number, counter, name, channels: channels.clone() });
        self.begin_download(Download { part: Arc::clone(part), number, offset: 0 });
        let opened: Vec<ChannelNo> = channels
            .iter()
            .copied()
            .filter(|one| self.missing.unfilled.remove(one).is_some())
            .collect();
        if *as_of > self.stream.feed.cursor.log {
            self.missing.starts.extend(channels.iter().map(|&channel| (channel, *as_of)));
            if !opened.is_empty() {
                self.add_history(opened, Vec::new(), Position(0));
            }
        } else {
            // The participant's place in the log is after the part, so messages after the part are
            // sent as older messages.
            self.add_history(opened, channels.clone(), *as_of);
        }
    }

    /// Reports the transactions that the participant lacks and that can no longer be had (W33).
    /// Returns the number of reports.
    fn tell_gaps(&mut self, participant: ParticipantId, log: &Log) -> u64 {
        let mut count = 0;
        let received: Vec<ChannelNo> = self.channels.received().collect();
        for channel in received {
            let position = log.trimmed(channel);
            if self.missing.unfilled.contains_key(&channel) || self.has(channel) >= position {
                continue;
            }
            let frames = gaps(log, channel, self.has(channel), position);
            self.missing.starts.insert(channel, position);
            for frame in &frames {
                event!(INFO, "transactions are missing", %participant, ?frame);
                self.link.queue(frame);
                count += u64::from(matches!(frame, Frame::Gap { .. }));
            }
        }
        count
    }

    /// Moves the participant to the place in the log from which it needs transactions.
    fn enter(&mut self, participant: ParticipantId, log: &Log) {
        let place = self.stream.feed.cursor.log;
        let is_transaction =
            |channel: &ChannelNo| log.channel(*channel).qos.kind == Kind::Transaction;
        let starts = self
            .channels
            .received()
            .filter(is_transaction)
            .map(|channel| self.missing.starts.get(&channel).copied().unwrap_or_default());
        let mut entry = starts.min().unwrap_or(place).max(place);
        if self.download().is_none() {
            // After gaps were reported, the participant needs no transactions that are no longer in
            // memory.
            entry = entry.max(log.begin().min(log.durable()));
        }
        self.stream.feed.cursor.log = entry;
        if entry > place || !self.missing.starts.is_empty() || place < log.trimmed_any() {
            self.missing.reach = Some((log.durable(), log.durable_counter(participant)));
        }
    }

    /// Queues the older messages of channels that were opened late.
    fn send_older_messages(&mut self) {
        while let Some((channel, have)) = self.missing.unfilled.pop_first() {
            self.add_history([channel].into(), [channel].into(), have);
        }
    }

    /// Queues the older messages of `channels` after the position `from`, and after them SYNCED for
    /// the channels `opened` (W18).
    fn add_history(&mut self, opened: Vec<ChannelNo>, channels: Vec<ChannelNo>, from: Position) {
        let sent = self.stream.feed.cursor;
        // Once the join is complete, datagrams may have brought the other channels' values up to
        // the last tick. During the join, the stream itself brings these channels' values, too.
        let released = self.stream.feed.until.awareness.max(sent.awareness);
        let awareness = if self.is_joining() { sent.awareness } else { released };
        let cursor = Cursor { log: from, ..Cursor::default() };
        let feed = Feed { cursor, until: sent.with_awareness(awareness) };
        // The transactions up to this position are sent as history, so the participant must know it
        // first.
        self.announce_position();
        self.stream.history.push_back(History { opened, channels, feed });
    }

    /// True if transactions after the participant's place in the log are no longer in memory,
    /// whoever they are for.
    fn is_behind_any(&self, log: &Log) -> bool {
        self.stream.feed.cursor.log < log.trimmed_any() && !self.is_member()
    }

    /// True if transactions that the participant still has to be sent are no longer in memory.
    pub(super) fn is_behind(&mut self, participant: ParticipantId, log: &Log) -> bool {
        let place = self.stream.feed.cursor.log;
        self.is_behind_any(log) && {
            let (receiver, _) = self.split(participant);
            log.lacks(place, log.durable(), &receiver.all())
        }
    }

    /// Once the participant was sent everything up to the position in `reach`, queues POSITION and
    /// ORDERED: some of its own transactions up to there had no record (W96).
    pub(super) fn pass_reach(&mut self) {
        let Some((position, counter)) = self.missing.reach else { return };
        if self.download().is_some() || self.stream.feed.cursor.log < position {
            return;
        }
        self.missing.reach = None;
        self.missing.starts.clear();
        self.announce_position();
        if counter.get() > 0 {
            self.link.queue(&Frame::Ordered { counter });
        }
    }
}
