//! Snapshots of the application's state: asks participants for them, receives them, and decides where in the log a
//! participant begins (wire W31 to W33).

use super::Peer;
use super::connection::Download;
use crate::events::event;
use crate::room::api::Event;
use crate::room::common::{Common, Effect};
use crate::wire::frame::Frame;
use crate::wire::numbering::Numbering;
use crate::wire::snapshot::{Assembly, Chunk};
use crate::{Error, Position};

impl Peer {
    /// Asks the participant for a snapshot.
    pub(in crate::room) fn ask_for_snapshot(&mut self) {
        let Some(connection) = self.connection_mut() else { return };
        // The participant will know at least this position when it reads the request, as the transport keeps the order
        // of packets.
        let carried = connection.link.coders.as_ref().map(|coders| &coders.encoder.numbering);
        let told = connection.member().map(|member| member.told);
        let at_least = told.unwrap_or(carried.map_or(Position(0), Numbering::position));
        // If the participant is asked twice, its answer to the first request is accepted, too.
        connection.upload.at_least.get_or_insert(at_least);
        connection.upload.was_asked = true;
        connection.link.queue(&Frame::SnapshotWanted { at_least });
    }

    /// Receives a chunk of a snapshot from the participant. Stores the snapshot once it is complete.
    pub(super) fn take_chunk(
        &mut self,
        chunk: &Chunk<'_>,
        is_packed: bool,
        common: &mut Common,
    ) -> Result<(), Error> {
        let limit = common.config.limits.max_snapshot;
        let Some(connection) = self.connection_mut() else { return Ok(()) };
        let upload = &mut connection.upload;
        if !upload.was_asked {
            return Err(Error::NotAllowed { what: "a snapshot that was not asked for" });
        }
        if chunk.as_of > common.log.durable() {
            return Err(Error::NotAllowed { what: "a snapshot of the future" });
        }
        let is_rest = chunk.offset > 0 && upload.arriving.is_none();
        if is_rest || upload.at_least.is_none_or(|at_least| chunk.as_of < at_least) {
            // This chunk belongs to an answer that is no longer needed: another participant's snapshot came first.
            return Ok(());
        }
        let whole = match is_packed {
            false => Assembly::add(&mut upload.arriving, chunk, limit)?,
            true => {
                let chunk = chunk.unpacked(&mut common.packing, limit)?;
                Assembly::add(&mut upload.arriving, &chunk, limit)?
            }
        };
        common.packing.tidy();
        let Some(Assembly { as_of, bytes, .. }) = whole else { return Ok(()) };
        upload.forget();
        common.effects.push(Effect::SnapshotCame);
        let size = bytes.len();
        if common.log.set_snapshot(as_of, bytes) {
            common.emit(Event::Snapshot { as_of, size });
        }
        Ok(())
    }

    /// If transactions that the participant lacks are no longer in memory, or if it joins with nothing, begins to send
    /// it the snapshot. Without a newer snapshot, reports the missing transactions as a gap. `is_join`: the participant
    /// joins just now.
    pub(in crate::room) fn catch_up(&mut self, is_join: bool, common: &Common) {
        let (participant, log) = (self.id, &common.log);
        let tail = log.tail();
        let Some(connection) = self.connection_mut() else { return };
        let position = connection.stream.feed.cursor.log;
        let has_nothing = is_join && position == Position(0);
        if position >= tail && !has_nothing {
            return;
        }
        let snapshot = log.snapshot().filter(|snapshot| snapshot.as_of > position).cloned();
        if !is_join {
            event!(INFO, "participant fell behind the log", %participant, %position, %tail);
        }
        let entry = snapshot.as_ref().map_or(tail, |snapshot| snapshot.as_of);
        let counter = log.counter_at(participant, entry);
        if let Some(snapshot) = snapshot {
            event!(DEBUG, "snapshot is being sent", %participant, %entry);
            connection.begin_download(Download { snapshot, counter, offset: 0 });
        } else if position < tail {
            event!(INFO, "transactions are missing", %participant, %position, %tail);
            connection.link.queue(&Frame::Gap { position: tail, counter });
            connection.enter(participant, tail, counter);
        }
    }
}
