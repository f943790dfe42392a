//! Storing a part of a snapshot: one piece per commit, so that appends go on between them, and at last the row that makes the
//! part valid.

use crate::api::Part;
use crate::error::Error;
use crate::history;
use crate::limits::{MAX_CHANNELS, MAX_EVENT, MAX_META, MAX_NAME, MAX_PART};
use crate::outbox;
use crate::plan::check;
use crate::request::{Answer, SavePart};
use crate::rows::{PIECE, PIECES, PartRow, RoomRow, insert_piece};
use crate::scan::seconds;
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
        match self.check_part(&save) {
            Ok(id) => self.saving.push_back(Saving { save, id, written: 0, answer }),
            Err(error) => answer.send(Err(error)),
        }
    }

    // Checks that the part can be stored, and returns the number that it gets.
    fn check_part(&self, save: &SavePart) -> Result<i64, Error> {
        let part = &save.part;
        check("the part's name", part.name.len(), MAX_NAME)?;
        check("a part", part.bytes.len(), MAX_PART)?;
        check("a part's list of channels", part.channels.len(), MAX_CHANNELS)?;
        check("the room's meta data", save.meta.as_ref().map_or(0, Vec::len), MAX_META)?;
        for event in &save.events {
            check("an event", event.len(), MAX_EVENT)?;
        }
        let mut state = self.shared.state();
        let room = state.rooms.get(save.room.as_str()).ok_or(Error::NoRoom)?;
        if room.incarnation != save.incarnation {
            return Err(Error::Incarnation);
        }
        // Quotas do not hold a snapshot back, because it makes room in a full store. The history bounds the parts that are kept:
        // three of each name.
        if part.as_of > room.head {
            return Err(Error::Position { expected: room.head, found: part.as_of });
        }
        state.next_part += 1;
        Ok(state.next_part - 1)
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

    // Makes the part valid, and then trims the records and parts that are no longer needed.
    fn finish_part(&mut self, saving: &Saving) -> Result<(), Error> {
        let SavePart { room: name, incarnation, part, meta, events } = &saving.save;
        let now = self.shared.now();
        let id = {
            let state = self.shared.state();
            let room = state.rooms.get(name.as_str()).ok_or(Error::NoRoom)?;
            if room.incarnation != *incarnation {
                return Err(Error::Incarnation);
            }
            room.id
        };
        let row = part_row(id, saving.id, part, now);
        let next_event = self.shared.state().outbox.map(|outbox| outbox.next);
        self.transaction(|db| {
            row.insert(db)?;
            if let Some(next_event) = next_event {
                outbox::insert(db, next_event, name, now, events)?;
            }
            if let (Some(meta), Some((stored, _))) = (meta, RoomRow::find(db, id)?) {
                RoomRow { meta: meta.clone(), active: seconds(now), ..stored }.put(db)?;
            }
            Ok(())
        })?;
        self.add_to_outbox(events, now);
        let history = self.shared.history();
        let mut state = self.shared.state();
        let surplus = state.change(name, |room| {
            if let Some(meta) = meta {
                room.set_meta_size(meta.len());
            }
            room.push_part(row);
            history::trim(room, now, history)
        });
        state.garbage.add(&surplus.unwrap_or_default());
        Ok(())
    }
}

fn part_row(room: u32, id: i64, part: &Part, taken: u64) -> PartRow {
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
