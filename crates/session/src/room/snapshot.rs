//! Snapshots: asking a participant for one, taking it, and where a participant enters the log (wire.md W31 to W33).

use core::time::Duration;

use super::participant::{Connection, Download, Participant};
use super::{Channel, Event, Output, Room};
use crate::ids::{ChannelNo, ParticipantId, Position};
use crate::wire::frame::Frame;
use crate::wire::numbering::Numbering;
use crate::wire::snapshot::{Assembly, Chunk};
use crate::{Error, Kind};

/// How long a participant may take to answer before another one is asked.
const PATIENCE: Duration = Duration::from_secs(5);

impl Room {
    /// The log is long: asks a participant that has all of it for a snapshot.
    pub(super) fn ask_for_snapshot(&mut self, now: Duration) {
        if !self.journal.wants_snapshot(&self.config.limits) {
            return;
        }
        if self.snapshot_due.is_some_and(|due| now < due) {
            return;
        }
        // In turn, so that one that does not answer is not asked for ever.
        let able =
            |one: &&Participant| one.connection.as_deref().is_some_and(|to| self.has_all(to));
        let later =
            self.participants.range(ParticipantId(self.last_asked.get().saturating_add(1))..);
        let next = later.chain(&self.participants).find(|(_, one)| able(one)).map(|(&id, _)| id);
        let Some(id) = next else { return };
        self.last_asked = id;
        if let Some(participant) = self.participants.get_mut(&id)
            && let Some(connection) = participant.connection.as_deref_mut()
        {
            // What its transport has carried is what it will know when it reads this.
            let carried = connection.link.bodies.as_ref().map(|bodies| &bodies.encoder.numbering);
            let told = connection.membership.told();
            let at_least = told.unwrap_or(carried.map_or(Position(0), Numbering::position));
            // Asked twice, an answer to the first time is as good.
            participant.asked.get_or_insert(at_least);
            connection.was_asked = true;
            connection.link.queue(&Frame::SnapshotWanted { at_least });
            self.snapshot_due = Some(now + PATIENCE);
            self.flush(now, id);
        }
    }

    /// Whether a participant knows all that the log says: only then does its state stand for the log.
    fn has_all(&self, connection: &Connection) -> bool {
        let transactions = |channel: &Channel| channel.qos.kind == Kind::Transaction;
        let numbered = (1..).map(ChannelNo).zip(&self.channels);
        connection.joining.is_none()
            && connection.download.is_none()
            && connection.fills.is_empty()
            && numbered
                .filter(|(_, channel)| transactions(channel))
                .all(|(channel, _)| connection.subscription(channel).is_some())
    }

    pub(super) fn take_chunk(
        &mut self,
        id: ParticipantId,
        chunk: &Chunk<'_>,
        is_packed: bool,
    ) -> Result<(), Error> {
        let limit = self.config.limits.max_snapshot;
        let Some(participant) = self.participants.get_mut(&id) else { return Ok(()) };
        if !participant.connection.as_deref().is_some_and(|from| from.was_asked) {
            return Err(Error::NotAllowed { what: "a snapshot that was not asked for" });
        }
        if chunk.as_of > self.journal.head() {
            return Err(Error::NotAllowed { what: "a snapshot of the future" });
        }
        let is_rest = chunk.offset > 0 && participant.upload.is_none();
        if is_rest || participant.asked.is_none_or(|at_least| chunk.as_of < at_least) {
            // Of an answer that another one's forestalled.
            return Ok(());
        }
        let whole = match is_packed {
            false => Assembly::add(&mut participant.upload, chunk, limit)?,
            true => {
                let chunk = chunk.unpacked(&mut self.packing, limit)?;
                Assembly::add(&mut participant.upload, &chunk, limit)?
            }
        };
        self.packing.tidy();
        let Some(whole) = whole else { return Ok(()) };
        let Assembly { as_of, bytes, .. } = whole;
        for participant in self.participants.values_mut() {
            participant.asked = None;
            participant.upload = None;
        }
        self.snapshot_due = None;
        if self.journal.snapshot().is_none_or(|snapshot| snapshot.as_of < as_of) {
            let size = bytes.len();
            self.outputs.push_back(Output::Event(Event::Snapshot { as_of, size }));
            self.journal.set_snapshot(as_of, bytes);
        }
        Ok(())
    }

    /// Lets a participant into the log: where it stands, or at the snapshot, or after a gap.
    pub(super) fn catch_up(&mut self, id: ParticipantId, joining: bool) {
        let tail = self.journal.tail();
        let Some(participant) = self.participants.get(&id) else { return };
        let Some(connection) = participant.connection.as_deref() else { return };
        let position = connection.log_cursor;
        let fresh = joining && position == Position(0);
        if position >= tail && !fresh {
            return;
        }
        let snapshot =
            self.journal.snapshot().filter(|snapshot| snapshot.as_of > position).cloned();
        let entry = snapshot.as_ref().map_or(tail, |snapshot| snapshot.as_of);
        let counter = participant.counter_at(id, entry, &self.journal);
        let Some(connection) = self.connection(id) else { return };
        if let Some(snapshot) = snapshot {
            connection.download = Some(Download { snapshot, counter, offset: 0 });
        } else if position < tail {
            connection.link.queue(&Frame::Gap { position: tail, counter });
            connection.enter(id, tail, counter);
        }
    }
}
