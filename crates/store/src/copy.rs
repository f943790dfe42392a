//! Reads whole rooms, as changes that put them elsewhere.

use rusqlite::Connection;

use crate::change::RoomCopy;
use crate::error::{Error, reading};
use crate::index::Entry;
use crate::room::Room;
use crate::rows::{self, LogRow, RoomRow};

impl RoomCopy {
    /// Reads a room out of a database, as of an export. `active` is in seconds since 1970.
    pub(crate) fn read(
        db: &Connection,
        name: &str,
        room: &Room,
        incarnation: u64,
        active: u32,
    ) -> Result<Self, Error> {
        let damaged = |what: &str| Error::Damaged(format!("{what} of the room {name:?}"));
        let (row, _) = RoomRow::find(db, room.id).map_err(reading)?.ok_or(Error::NoRoom)?;
        let mut records = Vec::new();
        for Entry { row, position, .. } in room.entries.iter() {
            let read = |row: &LogRow<'_>| (row.header.time, row.to_record());
            let found = rows::find_record(db, row, room.id, position, read).map_err(reading)?;
            records.push(found.ok_or_else(|| damaged("a record"))?);
        }
        let mut parts = Vec::new();
        for row in room.parts() {
            let found = row.content(db).map_err(reading)?;
            parts.push((row.taken, row.to_part(found.ok_or_else(|| damaged("a part"))?)));
        }
        let Room { reserved, head, .. } = *room;
        let (room, replaces) = (name.to_owned(), None);
        let meta = row.meta;
        Ok(RoomCopy { room, incarnation, replaces, meta, reserved, head, active, parts, records })
    }
}
