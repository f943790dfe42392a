//! Decides which appends of a batch are carried out, before anything is written.

use std::collections::HashMap;

use crate::api::{Append, OVERHEAD, Record};
use crate::error::{Error, NotNow};
use crate::index::Entry;
use crate::limits;
use crate::options::Options;
use crate::room::Room;
use crate::state::State;

/// Above this share of a quota, in percent, only rooms that exist grow.
const NEW_ROOMS_BELOW: u64 = 80;

/// The rooms of a batch as they will be after its commit.
#[derive(Default)]
pub(crate) struct Plan {
    rooms: HashMap<String, Planned>,
    new_rooms: usize,
    added_bytes: u64,
}

/// A room as it will be after the commit.
#[derive(Debug, Clone)]
pub(crate) struct Planned {
    pub(crate) id: u32,
    /// True if the batch creates the room.
    pub(crate) is_new: bool,
    pub(crate) incarnation: u64,
    pub(crate) head: u64,
    pub(crate) reserved: u32,
    meta: u64,
    /// Bytes that count for quotas.
    bytes: u64,
}

impl Plan {
    /// Checks an append against the stored rooms and the appends before it in the batch. If it is
    /// refused, the later ones of its room do not continue the room's records and are refused, too.
    pub(crate) fn add(
        &mut self,
        state: &State,
        options: &Options,
        append: &Append,
    ) -> Result<Planned, Error> {
        let mut room = match self.rooms.get(&append.room) {
            Some(planned) => planned.clone(),
            None => match state.rooms.get(append.room.as_str()) {
                Some(room) => Planned::of(room)?,
                None => Planned::new(state.next_room + self.new_rooms as u32, append)?,
            },
        };
        if room.is_new {
            state.check_names()?;
        }
        let created = room.is_new && !self.rooms.contains_key(&append.room);
        if room.incarnation != append.incarnation {
            return Err(Error::Incarnation);
        }
        for (record, expected) in append.records.iter().zip(room.head + 1..) {
            if record.position != expected {
                return Err(Error::Position { expected, found: record.position });
            }
        }
        let before = room.bytes;
        room.grow(append);
        // If meta data becomes smaller, later appends of the batch cannot use the freed bytes.
        let added = if created { room.bytes } else { room.bytes.saturating_sub(before) };
        if added > 0 {
            self.check_quotas(state, options, created, added)?;
            if room.bytes > options.max_room_bytes {
                return Err(Error::NotNow(NotNow::Room));
            }
        }
        self.added_bytes += added;
        self.new_rooms += usize::from(created);
        self.rooms.insert(append.room.clone(), room.clone());
        Ok(room)
    }

    fn check_quotas(
        &self,
        state: &State,
        options: &Options,
        created: bool,
        added: u64,
    ) -> Result<(), Error> {
        let share = |quota: u64| {
            if created {
                (u128::from(quota) * u128::from(NEW_ROOMS_BELOW) / 100) as u64
            } else {
                quota
            }
        };
        if state.live + self.added_bytes + added > share(options.max_bytes) {
            return Err(Error::NotNow(NotNow::Bytes));
        }
        let rooms = (state.rooms.len() + self.new_rooms) as u64;
        if created && rooms >= share(options.max_rooms as u64).max(1) {
            return Err(Error::NotNow(NotNow::Rooms));
        }
        Ok(())
    }
}

impl Planned {
    fn of(room: &Room) -> Result<Self, Error> {
        if room.damaged().is_some_and(|damaged| *damaged != Default::default()) {
            // The caller has to load the room, which shows the damage.
            return Err(Error::Incarnation);
        }
        let Room { id, incarnation, head, reserved, bytes, .. } = *room;
        let meta = u64::from(room.meta_size());
        Ok(Self { id, is_new: false, incarnation, head, reserved, meta, bytes })
    }

    fn new(id: u32, append: &Append) -> Result<Self, Error> {
        if append.records.is_empty() {
            return Err(Error::NoRoom);
        }
        let bytes = append.room.len() as u64 + OVERHEAD;
        let incarnation = append.incarnation;
        Ok(Self { id, is_new: true, incarnation, head: 0, reserved: 0, meta: 0, bytes })
    }

    /// Adds the append, which is stored, to the state in memory. Its records have the next rows.
    pub(crate) fn apply(&self, state: &mut State, append: &Append, now: u32) {
        if self.is_new && !state.rooms.contains_key(append.room.as_str()) {
            let room = Room::new(self.id, self.incarnation, &append.room);
            state.insert(append.room.as_str().into(), room);
            state.next_room = state.next_room.max(self.id + 1);
        }
        let first_row = state.next_row;
        state.next_row += append.records.len() as i64;
        state.change(&append.room, |room| {
            room.reserved = self.reserved;
            if let Some(meta) = &append.meta {
                room.set_meta_size(meta.len());
            }
            for (record, row) in append.records.iter().zip(first_row..) {
                let (position, channel) = (record.position, record.channel);
                debug_assert_eq!(position, room.head + 1, "the positions of a room continue");
                let size = record.bytes.len() as u32;
                room.push(Entry { row, position, channel, size }, now);
            }
            debug_assert_eq!(room.bytes, self.bytes, "a room grows by the bytes of its plan");
        });
    }

    fn grow(&mut self, append: &Append) {
        self.head += append.records.len() as u64;
        self.bytes += append.records.iter().map(Record::cost).sum::<u64>();
        if let Some(meta) = &append.meta {
            self.bytes = self.bytes - self.meta + meta.len() as u64;
            self.meta = meta.len() as u64;
        }
        self.reserved = self.reserved.max(append.reserved.unwrap_or(0));
    }
}

pub(crate) fn check_limits(append: &Append) -> Result<(), Error> {
    check("the room's name", append.room.len(), limits::MAX_NAME)?;
    check("the room's meta data", append.meta.as_ref().map_or(0, Vec::len), limits::MAX_META)?;
    for event in &append.events {
        check("an event", event.len(), limits::MAX_EVENT)?;
    }
    for record in &append.records {
        check("a record", record.bytes.len(), limits::MAX_RECORD)?;
    }
    let last = append.records.last().map_or(0, |record| record.position);
    if last > limits::MAX_POSITION {
        return Err(Error::TooLarge { what: "a position", limit: limits::MAX_POSITION });
    }
    Ok(())
}

pub(crate) fn check(what: &'static str, size: usize, limit: usize) -> Result<(), Error> {
    if size > limit {
        return Err(Error::TooLarge { what, limit: limit as u64 });
    }
    Ok(())
}
