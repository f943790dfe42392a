//! Carries out planned changes: writes their rows, and then adds them to the state in memory, which
//! stores on a disk and in memory have alike.

use rusqlite::Connection;

use crate::api::{Append, Part};
use crate::change::{Change, RoomCopy};
use crate::index::Entry;
use crate::outbox;
use crate::plan::{Planned, PlannedRoom};
use crate::room::Room;
use crate::rows::{LogHeader, PartRow, Result as Sql, RoomRow, delete_room, insert_part};
use crate::saving::{part_row, save_meta};
use crate::scan::seconds;
use crate::state::State;

impl Planned {
    /// Writes the rows of the change. `time` is in milliseconds since 1970.
    pub(crate) fn write(&self, db: &Connection, change: &Change, time: u64) -> Sql<()> {
        if let Some(room) = &self.room {
            self.write_room(db, change, room, time)?;
        }
        let Some(first) = self.first.event else { return Ok(()) };
        match change {
            Change::Delete { room } => outbox::erase_room(db, room),
            Change::Put(copy) if self.replaced.is_some() => outbox::erase_room(db, &copy.room),
            Change::EventsTold { shard, number, .. } => outbox::erase_told(db, *shard, *number),
            _ => outbox::insert(db, first, change.room(), time, change.events()),
        }
    }

    fn write_room(
        &self,
        db: &Connection,
        change: &Change,
        room: &PlannedRoom,
        time: u64,
    ) -> Sql<()> {
        match change {
            Change::Append(append) => write_append(db, append, room, self.first.row, seconds(time)),
            Change::SavePart(save) => {
                let row = part_row(room.id, self.first.part, &save.part, time);
                insert_part(db, &row, &save.part.bytes)?;
                save_meta(db, room.id, save.meta.as_ref(), time)
            }
            Change::BeginAgain { incarnation, .. } => match RoomRow::find(db, room.id)? {
                Some((row, _)) => {
                    let (incarnation, head) = (*incarnation, room.head);
                    RoomRow { incarnation, head, active: seconds(time), ..row }.put(db)
                }
                None => Ok(()),
            },
            Change::Delete { .. } => delete_room(db, room.id),
            Change::Put(copy) => {
                self.replaced.map_or(Ok(()), |id| delete_room(db, id))?;
                write_copy(db, copy, self, room.id)
            }
            Change::EventsTold { .. } => Ok(()),
        }
    }

    /// Adds the change, which is stored, to the state in memory. `history` is in milliseconds.
    pub(crate) fn apply(&self, state: &mut State, change: &Change, time: u64, history: u64) {
        let Some(room) = &self.room else { return };
        match change {
            Change::Append(append) => room.append(state, append, self.first.row, seconds(time)),
            Change::SavePart(save) => {
                let row = part_row(room.id, self.first.part, &save.part, time);
                save.apply(state, row, history);
            }
            Change::BeginAgain { room, incarnation } => {
                state.change(room, |room| room.incarnation = *incarnation);
            }
            Change::Delete { room } => state.remove(room),
            Change::Put(copy) => {
                state.remove(&copy.room);
                state.insert(copy.room.as_str().into(), self.room_of(copy, room.id));
            }
            Change::EventsTold { .. } => {}
        }
    }

    /// The index of a room that is a copy.
    fn room_of(&self, copy: &RoomCopy, id: u32) -> Room {
        let mut room = Room::new(id, copy.incarnation, &copy.room);
        (room.reserved, room.head) = (copy.reserved, copy.head);
        room.set_meta_size(copy.meta.len());
        for ((time, record), row) in copy.records.iter().zip(self.first.row..) {
            room.push(Entry::of(row, record), *time);
        }
        self.parts_of(copy, id).for_each(|(row, _)| room.push_part(row));
        room.active = copy.active;
        room
    }

    pub(crate) fn parts_of<'a>(
        &self,
        copy: &'a RoomCopy,
        id: u32,
    ) -> impl Iterator<Item = (PartRow, &'a Part)> {
        let parts = copy.parts.iter().zip(self.first.part..);
        parts.map(move |((taken, part), number)| (part_row(id, number, part, *taken), part))
    }
}

impl PlannedRoom {
    fn append(&self, state: &mut State, append: &Append, first_row: i64, now: u32) {
        if self.is_new && !state.rooms.contains_key(append.room.as_str()) {
            let room = Room::new(self.id, self.incarnation, &append.room);
            state.insert(append.room.as_str().into(), room);
        }
        state.change(&append.room, |room| {
            room.reserved = self.reserved;
            if let Some(meta) = &append.meta {
                room.set_meta_size(meta.len());
            }
            for (record, row) in append.records.iter().zip(first_row..) {
                debug_assert_eq!(record.position, room.head + 1, "a room's positions continue");
                room.push(Entry::of(row, record), now);
            }
            debug_assert!(room.bytes <= self.bytes, "a room grows by the bytes of its plan");
        });
    }
}

fn write_append(
    db: &Connection,
    append: &Append,
    room: &PlannedRoom,
    first_row: i64,
    now: u32,
) -> Sql<()> {
    if room.is_new || append.meta.is_some() || append.reserved.is_some() {
        let stored = RoomRow::find(db, room.id)?.map(|(row, _)| row.meta);
        let meta = append.meta.clone().or(stored).unwrap_or_default();
        let PlannedRoom { id, incarnation, head, reserved, .. } = *room;
        let name = append.room.clone();
        RoomRow { id, name, incarnation, reserved, head, active: now, meta }.put(db)?;
    }
    for (record, row) in append.records.iter().zip(first_row..) {
        LogHeader::of(room.id, now, record).insert(db, row, &record.bytes)?;
    }
    Ok(())
}

fn write_copy(db: &Connection, copy: &RoomCopy, planned: &Planned, id: u32) -> Sql<()> {
    let RoomCopy { room, incarnation, meta, reserved, head, active, records, .. } = copy;
    let (name, meta) = (room.clone(), meta.clone());
    let (incarnation, reserved, head, active) = (*incarnation, *reserved, *head, *active);
    RoomRow { id, name, incarnation, reserved, head, active, meta }.put(db)?;
    for ((time, record), row) in records.iter().zip(planned.first.row..) {
        LogHeader::of(id, *time, record).insert(db, row, &record.bytes)?;
    }
    planned.parts_of(copy, id).try_for_each(|(row, part)| insert_part(db, &row, &part.bytes))
}
