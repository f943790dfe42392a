//! Rooms that are copied: into the file of an export, out of it, and when they are taken back.

use std::path::Path;

use rusqlite::Connection;

use super::{Memory, MemoryStore};
use crate::api::{Moment, Snapshots, Summary};
use crate::change::{Change, RoomCopy};
use crate::error::Error;
use crate::export::write_export;
use crate::import::Export;
use crate::restore::{kept, snapshots};
use crate::room::Room;
use crate::rows::{LogHeader, Result as Sql, RoomRow, insert_part};
use crate::scan::seconds;
use crate::schema;
use crate::stores::{History, Transfer};

impl History for MemoryStore {
    fn snapshots(&self, room: &str) -> Option<Snapshots> {
        self.memory().state.rooms.get(room).map(|room| snapshots(room))
    }

    fn take_back(&self, name: &str, to: Moment, incarnation: u64) -> Result<(), Error> {
        let mut memory = self.memory();
        let change = memory.taken_back(name, to, incarnation, self.now())?;
        memory.carry_out(Some(&self.options), change, self.now(), self.options.history_ms())
    }
}

impl Transfer for MemoryStore {
    fn export(&self, file: &Path, wanted: &dyn Fn(&str) -> bool) -> Result<Summary, Error> {
        let memory = self.memory();
        write_export(file, |unfinished| {
            let write = || {
                let db = schema::create_export(unfinished)?;
                let summary = memory.write(&db, wanted)?;
                db.close().map(|()| summary).map_err(|(_, error)| error)
            };
            write().map_err(|error| schema::describe(unfinished, error))
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
        for change in export.copies(|_| (incarnation(), seconds(self.now())))? {
            memory.carry_out(Some(&self.options), change, self.now(), self.options.history_ms())?;
        }
        Ok(export.rooms.into_keys().collect())
    }
}

impl Memory {
    /// A copy of a room. `now` is in seconds since 1970.
    pub(super) fn copy(&self, name: &str, room: &Room, incarnation: u64, now: u32) -> RoomCopy {
        let records = room.entries.iter().map(|entry| self.records[&entry.row].clone());
        RoomCopy {
            room: name.to_owned(),
            incarnation,
            replaces: None,
            meta: self.meta(room),
            reserved: room.reserved,
            head: room.head,
            active: now,
            parts: room.parts().iter().map(|part| (part.taken, self.part(part))).collect(),
            records: records.collect(),
        }
    }

    /// The change that takes a room back. `now` is in milliseconds since 1970.
    pub(super) fn taken_back(
        &self,
        name: &str,
        to: Moment,
        incarnation: u64,
        now: u64,
    ) -> Result<Change, Error> {
        let room = self.state.rooms.get(name).ok_or(Error::NoRoom)?;
        let copy = self.copy(name, &kept(room, to)?, incarnation, seconds(now));
        let replaces = Some((room.incarnation, room.head));
        Ok(Change::Put(Box::new(RoomCopy { replaces, ..copy })))
    }

    /// Writes the wanted rooms to the new database of an export.
    pub(super) fn write(&self, db: &Connection, wanted: &dyn Fn(&str) -> bool) -> Sql<Summary> {
        let mut summary = Summary::default();
        db.execute_batch("BEGIN")?;
        for (name, room) in self.state.rooms.iter().filter(|(name, _)| wanted(name)) {
            let Room { id, incarnation, reserved, head, active, .. } = **room;
            let (name, meta) = (name.to_string(), self.meta(room));
            RoomRow { id, name, incarnation, reserved, head, active, meta }.put(db)?;
            for entry in room.entries.iter() {
                let (time, record) = &self.records[&entry.row];
                LogHeader::of(id, *time, record).insert(db, entry.row, &record.bytes)?;
                summary.records += 1;
            }
            for part in room.parts() {
                insert_part(db, part, &self.parts[&part.id])?;
                summary.parts += 1;
            }
            summary.rooms += 1;
        }
        db.execute_batch("COMMIT")?;
        Ok(summary)
    }
}
