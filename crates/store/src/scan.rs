//! Builds the state in memory from the tables, once, when a store is opened.

use std::collections::{HashMap, HashSet};

use rusqlite::Connection;

use crate::api::OVERHEAD;
use crate::index::Entry;
use crate::room::Room;
use crate::rows::{LogRow, PIECE, PIECES, PartRow, Result, RoomRow, corrupt};
use crate::state::State;

/// Reads all rows. `now` is in milliseconds. Later times count as `now`, because the clock was
/// wrong when they were written.
pub(crate) fn scan(db: &Connection, now: u64) -> Result<State> {
    check_structure(db)?;
    let mut scan = Scan { now, ..Scan::default() };
    scan.rooms(db)?;
    scan.parts(db)?;
    scan.pieces(db)?;
    scan.log(db)?;
    Ok(scan.finish())
}

/// Runs SQLite's own check, which finds damaged pages: the checksums of rows do not show that rows
/// are missing.
pub(crate) fn check_structure(db: &Connection) -> Result<()> {
    let found: String = db.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if found == "ok" {
        return Ok(());
    }
    // The lines before the last one are headings.
    let found = found.lines().last();
    Err(corrupt(found.unwrap_or_default()))
}

#[derive(Default)]
struct Scan {
    now: u64,
    rooms: HashMap<u32, (Box<str>, Box<Room>)>,
    parts: HashSet<i64>,
    state: State,
}

impl Scan {
    fn rooms(&mut self, db: &Connection) -> Result<()> {
        let mut statement = db.prepare("SELECT * FROM rooms")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (row, intact) = RoomRow::read(row)?;
            let mut room = Room::new(row.id, row.incarnation, &row.name);
            room.reserved = row.reserved;
            room.head = row.head;
            room.active = row.active.min(self.now_s());
            room.set_meta_size(row.meta.len());
            if !intact {
                room.damaged_mut().meta = true;
            }
            self.state.next_room = self.state.next_room.max(row.id);
            self.rooms.insert(row.id, (row.name.into(), Box::new(room)));
        }
        Ok(())
    }

    fn parts(&mut self, db: &Connection) -> Result<()> {
        let mut statement = db.prepare("SELECT * FROM parts ORDER BY id")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (mut part, intact) = PartRow::read(row)?;
            part.taken = part.taken.min(self.now);
            self.state.next_part = self.state.next_part.max(part.id);
            self.state.next_room = self.state.next_room.max(part.room);
            let Some((_, room)) = self.rooms.get_mut(&part.room) else {
                // The room was deleted, and the server ended before the part was erased.
                self.state.garbage.add_part(&part);
                continue;
            };
            self.parts.insert(part.id);
            room.active = room.active.max((part.taken / 1000) as u32);
            if intact {
                room.push_part(part);
            } else {
                room.damaged_mut().parts.push(part);
            }
        }
        Ok(())
    }

    fn pieces(&mut self, db: &Connection) -> Result<()> {
        let mut statement = db.prepare("SELECT id FROM pieces ORDER BY id")?;
        let mut rows = statement.query([])?;
        let mut orphan = None;
        while let Some(row) = rows.next()? {
            let part = row.get::<_, i64>(0)? / PIECES;
            self.state.next_part = self.state.next_part.max(part);
            if !self.parts.contains(&part) && orphan != Some(part) {
                self.state.garbage.add_pieces(part, PIECE as u64);
                orphan = Some(part);
            }
        }
        Ok(())
    }

    fn log(&mut self, db: &Connection) -> Result<()> {
        let mut statement = db.prepare("SELECT * FROM log ORDER BY id")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let row = LogRow::read(row)?;
            self.state.next_row = self.state.next_row.max(row.id);
            if row.is_intact() {
                self.record(&row);
            } else {
                self.damaged(&row);
            }
        }
        Ok(())
    }

    fn record(&mut self, row: &LogRow<'_>) {
        let header = row.header;
        let size = u32::try_from(row.bytes.len()).unwrap_or(u32::MAX);
        let entry = Entry { row: row.id, position: header.position, channel: header.channel, size };
        let time = header.time.min(self.now_s());
        self.state.next_room = self.state.next_room.max(header.room);
        match self.rooms.get_mut(&header.room) {
            Some((_, room)) => room.push(entry, time),
            // The room was deleted, and the server ended before the record was erased.
            None => self.state.garbage.add_row(row.id, entry.cost()),
        }
    }

    // Notes the damage for every room that the row may have belonged to: the room that it names,
    // and, in case that number is damaged, the rooms with which the checksum holds.
    fn damaged(&mut self, row: &LogRow<'_>) {
        let mut rooms = row.rooms_that_fit(self.rooms.keys().copied());
        rooms.push(row.header.room);
        let mut known = false;
        for id in rooms {
            if let Some((_, room)) = self.rooms.get_mut(&id) {
                room.damaged_mut().records.push((row.id, row.header.position));
                known = true;
            }
        }
        if !known {
            self.state.garbage.add_row(row.id, OVERHEAD);
        }
    }

    fn finish(self) -> State {
        let mut state = self.state;
        state.next_room += 1;
        state.next_row += 1;
        state.next_part += 1;
        state.rooms.reserve(self.rooms.len());
        for (name, mut room) in self.rooms.into_values() {
            for copy in room.entries.sort() {
                room.bytes -= copy.cost();
                state.garbage.add_row(copy.row, copy.cost());
            }
            state.live += room.bytes;
            state.rooms.insert(name, room);
        }
        state.count_nameless();
        state.check_sums();
        state
    }

    fn now_s(&self) -> u32 {
        seconds(self.now)
    }
}

/// Milliseconds since 1970 as the seconds that rows and rooms have.
pub(crate) fn seconds(ms: u64) -> u32 {
    u32::try_from(ms / 1000).unwrap_or(u32::MAX)
}
