//! Reads rooms, on the threads of the callers.

use rusqlite::Connection;

use crate::api::{Damage, Loaded, Part, Record};
use crate::error::{Error, reading};
use crate::index::Entry;
use crate::room::Room;
use crate::rows::{self, PartRow, RoomRow};
use crate::state::Shared;

/// Loads a room; `None` if it is not stored.
pub(crate) fn load(shared: &Shared, name: &str) -> Result<Option<Loaded>, Error> {
    with_room(shared, name, |db, room| {
        let Some((row, intact)) = RoomRow::find(db, room.id).map_err(reading)? else {
            return Ok(None);
        };
        let mut damage = Vec::new();
        if !intact || room.damaged().is_some_and(|damaged| damaged.meta) {
            damage.push(Damage::Meta);
        }
        let parts = load_parts(db, &room, &mut damage)?;
        let damaged = room.damaged().map_or(&[][..], |damaged| &damaged.records);
        damage.extend(damaged.iter().map(|&(_, position)| Damage::Record { position }));
        let uncovered =
            room.entries.iter().filter(|e| !parts.iter().any(|p| p.covers(e.channel, e.position)));
        let records = load_records(db, room.id, uncovered, u64::MAX, &mut damage)?;
        debug_assert!(
            records.is_sorted_by(|one, next| one.position < next.position)
                && records.last().is_none_or(|last| last.position <= room.head),
            "the records of a room are in order, and none is after its head"
        );
        Ok(Some(Loaded {
            incarnation: room.incarnation,
            meta: row.meta,
            reserved: room.reserved,
            head: room.head,
            active: u64::from(room.active) * 1000,
            parts,
            records,
            damage,
        }))
    })
    .map(Option::flatten)
}

/// Reads stored records from a position on, also those that a part covers, until their content
/// exceeds `max_bytes`.
pub(crate) fn read(
    shared: &Shared,
    name: &str,
    from: u64,
    max_bytes: u64,
) -> Result<Vec<Record>, Error> {
    let found = with_room(shared, name, |db, room| {
        let mut damage = Vec::new();
        let entries = room.entries.iter().filter(|entry| entry.position >= from);
        let records = load_records(db, room.id, entries, max_bytes, &mut damage)?;
        let read_to = records.last().map_or(from, |record| record.position);
        let known = room.damaged().map_or(&[][..], |damaged| &damaged.records);
        if !damage.is_empty() || known.iter().any(|&(_, p)| p >= from && p <= read_to) {
            return Err(Error::Damaged(format!(
                "records of room {name:?} at or after position {from}"
            )));
        }
        Ok(records)
    })?;
    found.ok_or(Error::NoRoom)
}

/// The newest intact part of each name.
fn load_parts(db: &Connection, room: &Room, damage: &mut Vec<Damage>) -> Result<Vec<Part>, Error> {
    let mut found: Vec<Part> = Vec::new();
    let mut bad: Vec<&PartRow> =
        room.damaged().map_or(&[][..], |damaged| &damaged.parts).iter().collect();
    for row in room.parts().iter().rev() {
        if found.iter().any(|part| *part.name == *row.name) {
            continue;
        }
        match row.content(db).map_err(reading)? {
            Some(bytes) => {
                found.push(row.to_part(bytes));
            }
            None => bad.push(row),
        }
    }
    for row in bad {
        // The log since the base, the oldest part of the name, is kept, so any older part can
        // replace a newer one. Without an older part, the log reaches back to the room's beginning
        // only if nothing was trimmed.
        let older = found.iter().any(|part| *part.name == *row.name);
        let name = row.name.to_string();
        let replaced = older || is_complete(room, row);
        damage.push(Damage::Part { name, as_of: row.as_of, replaced });
    }
    Ok(found)
}

// True if the log has every record from the first one to the part's position, so that the part can
// be made again.
fn is_complete(room: &Room, part: &PartRow) -> bool {
    let positions = room.entries.iter().map(|entry| entry.position);
    positions.take_while(|&position| position <= part.as_of).eq(1..=part.as_of)
}

fn load_records(
    db: &Connection,
    room: u32,
    entries: impl Iterator<Item = Entry>,
    max_bytes: u64,
    damage: &mut Vec<Damage>,
) -> Result<Vec<Record>, Error> {
    let mut records = Vec::new();
    let mut bytes = 0;
    for entry in entries {
        bytes += u64::from(entry.size);
        if bytes > max_bytes && !records.is_empty() {
            break;
        }
        match rows::find_record(db, entry.row, room, entry.position, |row| row.to_record())
            .map_err(reading)?
        {
            Some(record) => records.push(record),
            None => damage.push(Damage::Record { position: entry.position }),
        }
    }
    Ok(records)
}

/// Calls `read` with a consistent view of the tables and the room's index at the same moment.
pub(crate) fn with_room<T>(
    shared: &Shared,
    name: &str,
    read: impl FnOnce(&Connection, Room) -> Result<T, Error>,
) -> Result<Option<T>, Error> {
    shared.with_reader(|db| {
        let room = {
            // Rows leave the index before they leave the table, so a view that is begun under the
            // lock has all rows of the index. The view begins with the first row that is read.
            let state = shared.state();
            state.check_poison()?;
            let Some(room) = state.rooms.get(name) else {
                return state.check_names().map(|()| None);
            };
            db.execute_batch("BEGIN").map_err(reading)?;
            let view = db.query_row("SELECT 1 FROM sqlite_schema LIMIT 1", [], |_| Ok(()));
            view.map_err(reading).map(|()| Room::clone(room))
        };
        let answer = room.and_then(|room| read(db, room));
        db.execute_batch("ROLLBACK").map_err(reading)?;
        answer.map(Some)
    })
}
