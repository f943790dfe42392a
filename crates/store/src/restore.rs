//! Takes a room back: to a snapshot before the newest, or to an earlier moment. What is kept is
//! copied under a new number, as an import does, and one commit makes the copy the room. So a crash
//! leaves either the room as it was, or as it is taken back.

use crate::api::{Moment, SnapshotInfo, Snapshots};
use crate::error::{Error, NotNow, reading};
use crate::room::Room;
use crate::rows::PartRow;
use crate::schema;
use crate::store::Store;
use crate::stores::History;

impl History for Store {
    fn snapshots(&self, room: &str) -> Option<Snapshots> {
        self.shared().state().rooms.get(room).map(|room| snapshots(room))
    }

    fn take_back(&self, name: &str, to: Moment, incarnation: u64) -> Result<(), Error> {
        let before = {
            let state = self.shared().state();
            state.check_poison()?;
            state.rooms.get(name).map(|room| Room::clone(room)).ok_or(Error::NoRoom)?
        };
        let kept = kept(&before, to)?;
        let vfs = self.shared().options.vfs.as_deref();
        let db = schema::open_reader(&self.shared().folder, vfs).map_err(reading)?;
        db.execute_batch("BEGIN").map_err(reading)?;
        let is_unchanged = move |now: Option<&Room>| match now {
            Some(now) if is_same(now, &before) => Ok(()),
            _ => Err(Error::NotNow(NotNow::Changed)),
        };
        self.import_room(&db, name, &kept, incarnation, is_unchanged)
    }
}

/// What the room can be taken back to.
pub(crate) fn snapshots(room: &Room) -> Snapshots {
    let parts = room.parts();
    let newest =
        |part: &PartRow| parts.iter().rfind(|other| other.name == part.name).map(|one| one.id);
    let oldest = |part: &PartRow| parts.iter().find(|other| other.name == part.name);
    let from = match is_whole(room, room.head) {
        true => 0,
        false => parts.iter().filter_map(oldest).map(|one| one.as_of).max().unwrap_or(room.head),
    };
    let snapshots = parts.iter().map(|part| SnapshotInfo {
        id: part.id,
        name: part.name.to_string(),
        channels: part.channels.to_vec(),
        as_of: part.as_of,
        taken: part.taken,
        size: part.size,
        is_newest: newest(part) == Some(part.id),
    });
    Snapshots { head: room.head, oldest: from, snapshots: snapshots.collect() }
}

/// The room as it is once it is taken back.
pub(crate) fn kept(room: &Room, to: Moment) -> Result<Room, Error> {
    let mut kept = room.clone();
    if kept.is_damaged() {
        return Err(Error::Damaged("something of this room".into()));
    }
    match to {
        Moment::Snapshot(id) => {
            let chosen = room.parts().iter().find(|part| part.id == id).ok_or(Error::NotKept)?;
            // Parts have their numbers in the order in which they were stored.
            kept.remove_parts(|part| part.name != chosen.name || part.id <= chosen.id);
        }
        Moment::Position(position) => {
            if position > room.head || position == 0 {
                return Err(Error::NotKept);
            }
            kept.remove_parts(|part| part.as_of <= position);
            kept.remove_entries(|entry| entry.position <= position);
            let is_left = |part: &PartRow| kept.parts().iter().any(|one| one.name == part.name);
            // The log since the oldest part of a name is kept. If no part of a name is left, the
            // whole log is needed.
            if !room.parts().iter().all(is_left) && !is_whole(room, position) {
                return Err(Error::NotKept);
            }
            kept.head = position;
        }
    }
    Ok(kept)
}

/// True if the log has all records up to this position.
fn is_whole(room: &Room, position: u64) -> bool {
    let positions = room.entries.iter().map(|entry| entry.position);
    positions.take_while(|&one| one <= position).eq(1..=position)
}

fn is_same(one: &Room, other: &Room) -> bool {
    let parts = |room: &Room| room.parts().last().map(|part| part.id);
    one.id == other.id && one.head == other.head && parts(one) == parts(other)
}
