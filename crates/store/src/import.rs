//! Takes rooms from the file of an export. Records and parts are written first, in steps and under
//! a number that no room has; then one commit writes the room's row, which makes all of them valid.
//! If the server ends before, they are garbage.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc;

use rusqlite::Connection;

use crate::api::{OVERHEAD, Summary};
use crate::error::{Error, NotNow, reading};
use crate::export::export;
use crate::history::Surplus;
use crate::index::Entry;
use crate::options::Options;
use crate::outbox;
use crate::request::{Request, wait};
use crate::room::Room;
use crate::rows::{
    self, LogHeader, PIECES, PartRow, Result as Sql, RoomRow, delete_room, insert_piece, pieces,
};
use crate::scan::{scan, seconds};
use crate::schema;
use crate::state::State;
use crate::store::Store;
use crate::stores::Transfer;
use crate::writer::Writer;

/// The approximate bytes of records that one commit imports.
const STEP: u64 = 1 << 20;

impl Transfer for Store {
    fn export(&self, file: &Path, wanted: &dyn Fn(&str) -> bool) -> Result<Summary, Error> {
        export(&self.shared().folder, file, wanted)
    }

    fn import(
        &self,
        file: &Path,
        wanted: &dyn Fn(&str) -> bool,
        replace: bool,
        incarnation: &mut dyn FnMut() -> u64,
    ) -> Result<Vec<String>, Error> {
        let export = Export::open(file, wanted, self.shared().now())?;
        export.check(&self.shared().state(), &self.shared().options, replace)?;
        for (name, room) in &export.rooms {
            self.import_room(&export.db, name, room, incarnation(), |_| Ok(()))?;
        }
        Ok(export.rooms.into_keys().collect())
    }
}

/// The file of an export, and the rooms in it that are wanted.
pub(crate) struct Export {
    pub(crate) db: Connection,
    pub(crate) rooms: BTreeMap<String, Box<Room>>,
}

impl Export {
    pub(crate) fn open(
        file: &Path,
        wanted: &dyn Fn(&str) -> bool,
        now: u64,
    ) -> Result<Self, Error> {
        let db = schema::open_export(file).map_err(|error| Error::Io(error.to_string()))?;
        Self::read(db, wanted, now)
    }

    /// Reads the index of the rooms that are wanted.
    pub(crate) fn read(
        db: Connection,
        wanted: &dyn Fn(&str) -> bool,
        now: u64,
    ) -> Result<Self, Error> {
        let rooms = scan(&db, now).map_err(reading)?.rooms.into_iter();
        let rooms = rooms.filter(|(name, _)| wanted(name));
        let rooms = rooms.map(|(name, room)| (name.into_string(), room)).collect();
        Ok(Self { db, rooms })
    }

    /// Refuses rooms that exist or are damaged, and more than the quotas permit.
    pub(crate) fn check(
        &self,
        state: &State,
        options: &Options,
        replace: bool,
    ) -> Result<(), Error> {
        state.check_poison()?;
        let mut bytes = 0;
        for (name, room) in &self.rooms {
            if state.rooms.contains_key(name.as_str()) && !replace {
                return Err(Error::Exists(name.clone()));
            }
            if room.is_damaged() {
                return Err(Error::Damaged(format!("the export's room {name:?}")));
            }
            bytes += room.bytes;
        }
        if state.live + bytes > options.max_bytes {
            return Err(Error::NotNow(NotNow::Bytes));
        }
        if state.rooms.len() + self.rooms.len() > options.max_rooms {
            return Err(Error::NotNow(NotNow::Rooms));
        }
        Ok(())
    }
}

impl Store {
    /// Copies a room out of a database. The copy then replaces the room of this name, if
    /// `may_replace` permits it at the last moment.
    pub(crate) fn import_room(
        &self,
        db: &Connection,
        name: &str,
        from: &Room,
        incarnation: u64,
        may_replace: impl FnOnce(Option<&Room>) -> Result<(), Error> + Send + 'static,
    ) -> Result<(), Error> {
        let (row, room) = self.copy_room(db, name, from, incarnation)?;
        let surplus = room.clone();
        let finish = move |writer: &mut Writer| writer.finish_import(row, room, may_replace);
        self.on_writer(finish).inspect_err(|_| self.drop_copies([surplus]))
    }

    /// Copies a room out of a database, under a number that no room has.
    pub(crate) fn copy_room(
        &self,
        db: &Connection,
        name: &str,
        from: &Room,
        incarnation: u64,
    ) -> Result<(RoomRow, Room), Error> {
        let (row, _) = RoomRow::find(db, from.id).map_err(reading)?.ok_or(Error::NoRoom)?;
        let id = self.on_writer(|writer| Ok(writer.reserve_room()))?;
        let mut room = Room::new(id, incarnation, name);
        room.reserved = from.reserved;
        room.head = from.head;
        room.set_meta_size(row.meta.len());
        let copied = self
            .import_records(db, from, &mut room)
            .and_then(|()| self.import_parts(db, from, &mut room));
        match copied {
            Ok(()) => Ok((RoomRow { id, incarnation, head: from.head, ..row }, room)),
            Err(error) => {
                self.drop_copies([room]);
                Err(error)
            }
        }
    }

    /// Erases the rows of copies that are not used.
    pub(crate) fn drop_copies(&self, rooms: impl IntoIterator<Item = Room>) {
        for mut room in rooms {
            let (entries, parts) = (room.remove_entries(|_| false), room.remove_parts(|_| false));
            // If the writer does not answer, the next start finds these rows.
            let _ = self.on_writer(move |writer| {
                writer.shared.state().garbage.add(&Surplus { entries, parts });
                Ok(())
            });
        }
    }

    fn import_records(&self, db: &Connection, from: &Room, room: &mut Room) -> Result<(), Error> {
        let mut step = Vec::new();
        let mut bytes = 0;
        let mut entries = from.entries.iter().peekable();
        while let Some(entry) = entries.next() {
            let read = |row: &rows::LogRow<'_>| (row.header, row.bytes.to_vec());
            let found =
                rows::find_record(db, entry.row, from.id, entry.position, read).map_err(reading)?;
            let (header, content) =
                found.ok_or_else(|| Error::Damaged("the export's log".into()))?;
            bytes += content.len() as u64 + OVERHEAD;
            step.push((LogHeader { room: room.id, ..header }, content));
            if bytes > STEP || entries.peek().is_none() {
                let rows = std::mem::take(&mut step);
                bytes = 0;
                let written = self.on_writer(move |writer| writer.import_rows(&rows))?;
                written.into_iter().for_each(|(entry, time)| room.push(entry, time));
            }
        }
        Ok(())
    }

    fn import_parts(&self, db: &Connection, from: &Room, room: &mut Room) -> Result<(), Error> {
        for part in from.parts() {
            let content = part.content(db).map_err(reading)?;
            let content = content.ok_or_else(|| Error::Damaged("the export's parts".into()))?;
            let id = self.on_writer(|writer| Ok(writer.reserve_part()))?;
            // The part is noted before its pieces are written, so that they are erased if the
            // import fails.
            room.push_part(PartRow { id, room: room.id, ..part.clone() });
            for (number, piece) in pieces(&content).enumerate() {
                let (piece, id) = (piece.to_vec(), id * PIECES + number as i64);
                self.on_writer(move |writer| {
                    writer.transaction(|db| insert_piece(db, id, &piece))
                })?;
            }
        }
        Ok(())
    }

    // Calls a function on the writer's thread, between commits, and waits for what it returns.
    pub(crate) fn on_writer<T: Send + 'static>(
        &self,
        call: impl FnOnce(&mut Writer) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (sender, receiver) = mpsc::channel();
        wait(|done| {
            let call =
                move |writer: &mut Writer| call(writer).map(|value| drop(sender.send(value)));
            self.send(done, |answer| Request::Call(Box::new(call), answer));
        })?;
        receiver.recv().map_err(|_| Error::Poisoned("the store's thread has ended".into()))
    }
}

impl Writer {
    fn reserve_room(&mut self) -> u32 {
        let mut state = self.shared.state();
        state.next_room += 1;
        state.next_room - 1
    }

    fn reserve_part(&mut self) -> i64 {
        let mut state = self.shared.state();
        state.next_part += 1;
        state.next_part - 1
    }

    fn import_rows(&mut self, rows: &[(LogHeader, Vec<u8>)]) -> Result<Vec<(Entry, u32)>, Error> {
        let first = self.shared.state().next_row;
        self.transaction(|db| {
            rows.iter()
                .zip(first..)
                .try_for_each(|((header, bytes), row)| header.insert(db, row, bytes))
        })?;
        let entries = rows.iter().zip(first..).map(|((header, bytes), row)| {
            let (position, channel, size) = (header.position, header.channel, bytes.len() as u32);
            (Entry { row, position, channel, size }, header.time)
        });
        let entries: Vec<_> = entries.collect();
        self.shared.state().next_row += rows.len() as i64;
        self.unsaved += entries.iter().map(|(entry, _)| entry.cost()).sum::<u64>();
        Ok(entries)
    }

    fn finish_import(
        &mut self,
        row: RoomRow,
        mut room: Room,
        may_replace: impl FnOnce(Option<&Room>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        may_replace(self.shared.state().rooms.get(row.name.as_str()).map(Box::as_ref))?;
        // The room counts as used now, or a rule that forgets rooms would delete it again.
        room.active = seconds(self.shared.now());
        let row = RoomRow { active: room.active, ..row };
        let name = row.name.clone();
        let has_events = self.shared.state().outbox.is_some_and(|outbox| outbox.waiting > 0);
        let replaced =
            self.replace_rooms(&[name.as_str().into()], vec![(row, room)], |db, replaced| {
                if replaced && has_events { outbox::erase_room(db, &name) } else { Ok(()) }
            })?;
        if replaced && has_events {
            self.measure_outbox();
        }
        Ok(())
    }

    /// Puts copies in the place of the rooms of these names, with one commit, in which `write` may
    /// write more. Returns whether there were any such rooms, which `write` learns, too.
    pub(crate) fn replace_rooms(
        &mut self,
        names: &[Box<str>],
        copies: Vec<(RoomRow, Room)>,
        write: impl FnOnce(&Connection, bool) -> Sql<()>,
    ) -> Result<bool, Error> {
        let replaced: Vec<_> = {
            let state = self.shared.state();
            names.iter().filter_map(|name| state.rooms.get(name)).map(|room| room.id).collect()
        };
        self.transaction(|db| {
            replaced.iter().try_for_each(|&id| delete_room(db, id))?;
            for (row, room) in &copies {
                room.parts().iter().try_for_each(|part| part.insert(db))?;
                row.put(db)?;
            }
            write(db, !replaced.is_empty())
        })?;
        let mut state = self.shared.state();
        names.iter().for_each(|name| state.remove(name));
        for (row, room) in copies {
            state.insert(row.name.into(), room);
        }
        drop(state);
        if !replaced.is_empty() {
            self.sweep.erase_soon();
        }
        Ok(!replaced.is_empty())
    }
}
