//! Rooms that are copied: into the file of an export, out of it, and when they are taken back.

use std::path::Path;

use rusqlite::Connection;

use super::{Memory, MemoryStore};
use crate::api::{Moment, Record, Snapshots, Summary};
use crate::error::{Error, reading};
use crate::export::write_export;
use crate::import::Export;
use crate::index::Entry;
use crate::restore::{kept, snapshots};
use crate::room::Room;
use crate::rows::{self, LogHeader, PartRow, Result as Sql, RoomRow, insert_part};
use crate::scan::seconds;
use crate::schema;
use crate::stores::{History, Transfer};

impl History for MemoryStore {
    fn snapshots(&self, room: &str) -> Option<Snapshots> {
        self.memory().state.rooms.get(room).map(|room| snapshots(room))
    }

    fn take_back(&self, name: &str, to: Moment, incarnation: u64) -> Result<(), Error> {
        let mut memory = self.memory();
        let kept = kept(memory.state.rooms.get(name).ok_or(Error::NoRoom)?, to)?;
        let content = memory.content(&kept);
        memory.put_room(name, incarnation, &kept, content, seconds(self.now()));
        Ok(())
    }
}

impl Transfer for MemoryStore {
    fn export(&self, file: &Path, wanted: &dyn Fn(&str) -> bool) -> Result<Summary, Error> {
        let memory = self.memory();
        write_export(file, |unfinished| {
            let written = memory.write(unfinished, wanted);
            written.map_err(|error| schema::describe(unfinished, error))
        })
    }

    fn import(
        &self,
        file: &Path,
        wanted: &dyn Fn(&str) -> bool,
        replace: bool,
        incarnation: &mut dyn FnMut() -> u64,
    ) -> Result<Vec<String>, Error> {
        let export = Export::open(file, wanted, self.now())?;
        let mut memory = self.memory();
        export.check(&memory.state, &self.options, replace)?;
        for (name, room) in &export.rooms {
            let content = Content::read(&export.db, room)?;
            memory.put_room(name, incarnation(), room, content, seconds(self.now()));
        }
        Ok(export.rooms.into_keys().collect())
    }
}

/// The content of a room, of which [`Room`] has the index.
struct Content {
    meta: Vec<u8>,
    records: Vec<(u32, Record)>,
    parts: Vec<Vec<u8>>,
}

impl Content {
    fn read(db: &Connection, room: &Room) -> Result<Self, Error> {
        let (row, _) = RoomRow::find(db, room.id).map_err(reading)?.ok_or(Error::NoRoom)?;
        let damaged = |what: &str| Error::Damaged(format!("the export's {what}"));
        let mut records = Vec::new();
        for Entry { row, position, .. } in room.entries.iter() {
            let read = |row: &rows::LogRow<'_>| (row.header.time, row.to_record());
            let found = rows::find_record(db, row, room.id, position, read).map_err(reading)?;
            records.push(found.ok_or_else(|| damaged("log"))?);
        }
        let mut parts = Vec::new();
        for part in room.parts() {
            let found = part.content(db).map_err(reading)?;
            parts.push(found.ok_or_else(|| damaged("parts"))?);
        }
        Ok(Content { meta: row.meta, records, parts })
    }
}

impl Memory {
    fn content(&self, room: &Room) -> Content {
        let records = room.entries.iter().map(|entry| self.records[&entry.row].clone());
        let parts = room.parts().iter().map(|part| self.parts[&part.id].clone());
        Content { meta: self.meta(room), records: records.collect(), parts: parts.collect() }
    }

    /// Puts a copy of `from`, which counts as used at `now`, in the place of the room of this name.
    fn put_room(&mut self, name: &str, incarnation: u64, from: &Room, content: Content, now: u32) {
        let _ = self.delete(name);
        let id = self.state.next_room;
        self.state.next_room += 1;
        let mut room = Room::new(id, incarnation, name);
        (room.reserved, room.head) = (from.reserved, from.head);
        room.set_meta_size(content.meta.len());
        self.metas.insert(id, content.meta);
        for (entry, (time, record)) in from.entries.iter().zip(content.records) {
            let row = self.state.next_row;
            self.state.next_row += 1;
            room.push(Entry { row, ..entry }, time);
            self.records.insert(row, (time, record));
        }
        for (part, bytes) in from.parts().iter().zip(content.parts) {
            let number = self.state.next_part;
            self.state.next_part += 1;
            room.push_part(PartRow { id: number, room: id, ..part.clone() });
            self.parts.insert(number, bytes);
        }
        room.active = now;
        self.state.insert(name.into(), room);
    }

    /// Writes the wanted rooms to a new file of an export.
    fn write(&self, file: &Path, wanted: &dyn Fn(&str) -> bool) -> Sql<Summary> {
        let mut summary = Summary::default();
        let db = schema::create_export(file)?;
        db.execute_batch("BEGIN")?;
        for (name, room) in self.state.rooms.iter().filter(|(name, _)| wanted(name)) {
            let Room { id, incarnation, reserved, head, active, .. } = **room;
            let (name, meta) = (name.to_string(), self.meta(room));
            RoomRow { id, name, incarnation, reserved, head, active, meta }.put(&db)?;
            for entry in room.entries.iter() {
                let (time, record) = &self.records[&entry.row];
                LogHeader::of(id, *time, record).insert(&db, entry.row, &record.bytes)?;
                summary.records += 1;
            }
            for part in room.parts() {
                insert_part(&db, part, &self.parts[&part.id])?;
                summary.parts += 1;
            }
            summary.rooms += 1;
        }
        db.execute_batch("COMMIT")?;
        db.close().map_err(|(_, error)| error)?;
        Ok(summary)
    }
}
