//! Stores a part of a snapshot. Each piece is written with a commit of its own, so that appends go
//! on between them; the last commit writes the row that makes the part valid.

use rusqlite::Connection;

use crate::api::Part;
use crate::change::SavePart;
use crate::error::Error;
use crate::history;
use crate::outbox;
use crate::plan::Plan;
use crate::request::Answer;
use crate::rows::{PIECE, PIECES, PartRow, Result as Sql, RoomRow, insert_piece};
use crate::scan::seconds;
use crate::state::State;
use crate::writer::Writer;

/// A part whose pieces are being written.
pub(crate) struct Saving {
    save: SavePart,
    id: i64,
    written: usize,
    pub(crate) answer: Answer,
}

impl Writer {
    pub(crate) fn begin_saving(&mut self, save: SavePart, answer: Answer) {
        let planned = save.plan(&mut self.shared.state());
        match planned {
            Ok(id) => self.saving.push_back(Saving { save, id, written: 0, answer }),
            Err(error) => answer.send(Err(error)),
        }
    }

    /// Writes the next piece of the part that has waited longest, or makes the part valid.
    pub(crate) fn continue_saving(&mut self) {
        let Some(mut saving) = self.saving.pop_front() else { return };
        let bytes = &saving.save.part.bytes;
        if saving.written < bytes.len() {
            let piece = &bytes[saving.written..bytes.len().min(saving.written + PIECE)];
            let id = saving.id * PIECES + (saving.written / PIECE) as i64;
            self.unsaved += piece.len() as u64;
            match self.transaction(|db| insert_piece(db, id, piece)) {
                Ok(()) => {
                    saving.written += piece.len();
                    self.saving.push_front(saving);
                }
                Err(error) => self.give_up(saving, error),
            }
            return;
        }
        match self.finish_part(&saving) {
            Ok(()) => saving.answer.send(Ok(())),
            Err(error) => self.give_up(saving, error),
        }
    }

    fn give_up(&mut self, saving: Saving, error: Error) {
        let written = saving.written as u64;
        self.shared.state().garbage.add_pieces(saving.id, written);
        saving.answer.send(Err(error));
    }

    /// Makes the part valid, and then trims the records and parts that are no longer needed.
    fn finish_part(&mut self, saving: &Saving) -> Result<(), Error> {
        let SavePart { room: name, part, meta, events, .. } = &saving.save;
        let now = self.shared.now();
        let room = saving.save.room_id(&self.shared.state())?;
        let row = part_row(room, saving.id, part, now);
        let next_event = self.shared.state().outbox.map(|outbox| outbox.next);
        self.transaction(|db| {
            row.insert(db)?;
            if let Some(next_event) = next_event {
                outbox::insert(db, next_event, name, now, events)?;
            }
            save_meta(db, room, meta.as_ref(), now)
        })?;
        self.unsaved += events.iter().map(|event| event.len() as u64).sum::<u64>();
        self.add_to_outbox(events, now);
        saving.save.apply(&mut self.shared.state(), row, self.shared.options.history_ms());
        Ok(())
    }
}

impl SavePart {
    /// Checks that the part can be stored, and returns the number that it gets.
    pub(crate) fn plan(&self, state: &mut State) -> Result<i64, Error> {
        self.check_limits()?;
        Plan::new(state).save_part(self)?;
        state.next_part += 1;
        Ok(state.next_part - 1)
    }

    /// The number of the room, if it has the incarnation of the part, and no newer part.
    fn room_id(&self, state: &State) -> Result<u32, Error> {
        let room = state.rooms.get(self.room.as_str()).ok_or(Error::NoRoom)?;
        let (expected, found) = (room.covered(&self.part.name), self.part.as_of);
        match room.incarnation == self.incarnation {
            false => Err(Error::Incarnation),
            true if found < expected => Err(Error::Position { expected, found }),
            true => Ok(room.id),
        }
    }

    /// Adds the part, which is stored, to the state in memory, and trims the room.
    pub(crate) fn apply(&self, state: &mut State, row: PartRow, history: u64) {
        let now = row.taken;
        let surplus = state.change(&self.room, |room| {
            debug_assert!(row.as_of <= room.head, "a part covers records that its room has had");
            if let Some(meta) = &self.meta {
                room.set_meta_size(meta.len());
            }
            room.push_part(row);
            history::trim(room, now, history)
        });
        state.garbage.add(&surplus.unwrap_or_default());
    }
}

/// Replaces a room's meta data, if there is any with the part.
pub(crate) fn save_meta(db: &Connection, room: u32, meta: Option<&Vec<u8>>, now: u64) -> Sql<()> {
    if let (Some(meta), Some((stored, _))) = (meta, RoomRow::find(db, room)?) {
        RoomRow { meta: meta.clone(), active: seconds(now), ..stored }.put(db)?;
    }
    Ok(())
}

pub(crate) fn part_row(room: u32, id: i64, part: &Part, taken: u64) -> PartRow {
    PartRow {
        id,
        room,
        name: part.name.as_str().into(),
        channels: part.channels.clone().into(),
        as_of: part.as_of,
        taken,
        size: part.bytes.len() as u64,
    }
}
