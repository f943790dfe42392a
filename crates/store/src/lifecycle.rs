//! Deletes rooms, begins them again after damage, and trims their history.

use rusqlite::Connection;

use crate::error::{Error, reading};
use crate::history;
use crate::outbox;
use crate::room::{Damaged, Room};
use crate::rows::{self, Result as Sql, RoomRow, delete_room};
use crate::scan::seconds;
use crate::schema;
use crate::state::State;
use crate::writer::Writer;

impl Writer {
    /// Deletes a room. Its records and parts become garbage, which is erased step by step.
    pub(crate) fn delete(&mut self, name: &str) -> Result<(), Error> {
        let id = room_of(&self.shared.state(), name)?.id;
        let has_events = self.shared.state().outbox.is_some_and(|outbox| outbox.waiting > 0);
        self.transaction(|db| {
            delete_room(db, id)?;
            if has_events { outbox::erase_room(db, name) } else { Ok(()) }
        })?;
        self.shared.state().remove(name);
        if has_events {
            self.measure_outbox();
        }
        self.sweep.erase_soon();
        Ok(())
    }

    /// Gives a room a new incarnation, and drops what is damaged of it.
    pub(crate) fn begin_again(&mut self, name: &str, incarnation: u64) -> Result<(), Error> {
        let room = room_of(&self.shared.state(), name)?;
        // A new connection has no pages in memory, so that it reads what is damaged on the disk.
        let fresh = schema::open_reader(&self.shared.folder, self.shared.options.vfs.as_deref())
            .map_err(reading)?;
        let (records, parts) = damaged_rows(&fresh, &room).map_err(reading)?;
        let found = RoomRow::find(&fresh, room.id).map_err(reading)?;
        let meta = found.map(|(row, _)| row.meta).unwrap_or_default();
        let Room { id, reserved, head, .. } = room;
        let active = seconds(self.shared.now());
        let row = RoomRow { id, name: name.to_owned(), incarnation, reserved, head, active, meta };
        self.transaction(|db| row.put(db))?;

        let mut state = self.shared.state();
        let State { rooms, garbage, live, .. } = &mut *state;
        let Some(room) = rooms.get_mut(name) else { return Err(Error::NoRoom) };
        let before = room.bytes;
        room.incarnation = incarnation;
        let entries = room.remove_entries(|entry| !records.contains(&entry.row));
        let dropped = room.remove_parts(|part| !parts.contains(&part.id));
        garbage.add(&history::Surplus { entries, parts: dropped });
        let damaged = std::mem::take(room.damaged_mut());
        *live = *live - before + room.bytes;
        damaged.records.iter().for_each(|&(row, _)| garbage.add_row(row, 0));
        damaged.parts.iter().for_each(|part| garbage.add_part(part));
        // The same row may be among the damaged rows of other rooms.
        for other in rooms.values_mut().filter(|room| room.damaged().is_some()) {
            let Damaged { records, .. } = other.damaged_mut();
            records.retain(|record| !damaged.records.contains(record));
        }
        state.count_nameless();
        Ok(())
    }

    /// Trims everything older than the time of history.
    pub(crate) fn trim(&mut self) {
        let (now, history) = (self.shared.now(), self.shared.options.history_ms());
        let mut state = self.shared.state();
        let State { rooms, garbage, live, .. } = &mut *state;
        for room in rooms.values_mut().filter(|room| !room.parts().is_empty()) {
            let before = room.bytes;
            garbage.add(&history::trim(room, now, history));
            *live = *live - before + room.bytes;
        }
        state.check_sums();
    }
}

fn room_of(state: &State, name: &str) -> Result<Room, Error> {
    state.rooms.get(name).map(|room| Room::clone(room)).ok_or(Error::NoRoom)
}

// The rows of the room's records and parts that the index has and that cannot be read back.
fn damaged_rows(db: &Connection, room: &Room) -> Sql<(Vec<i64>, Vec<i64>)> {
    let mut records = Vec::new();
    for entry in room.entries.iter() {
        if rows::find_record(db, entry.row, room.id, entry.position, |_| ())?.is_none() {
            records.push(entry.row);
        }
    }
    let mut parts = Vec::new();
    for part in room.parts() {
        if part.content(db)?.is_none() {
            parts.push(part.id);
        }
    }
    Ok((records, parts))
}
