//! Decides which changes of a batch are carried out, before anything is written.

use std::collections::HashMap;

use crate::api::{Append, OVERHEAD, Record};
use crate::change::{Change, RoomCopy, SavePart, check_shard};
use crate::error::{Error, NotNow};
use crate::options::Options;
use crate::room::Room;
use crate::shard::{Logged, Shard, Shards};
use crate::state::{Numbers, State};

/// Above this share of a quota, in percent, only rooms that exist grow.
const NEW_ROOMS_BELOW: u64 = 80;

/// The rooms and shards of a batch as they will be after its commit.
pub(crate) struct Plan<'a> {
    state: &'a State,
    /// `None` stands for a room that the batch deletes.
    rooms: HashMap<String, Option<PlannedRoom>>,
    /// The position that each part of the batch covers, by the room's number and the part's name.
    parts: HashMap<(u32, String), u64>,
    /// The shards whose logs the batch applies.
    pub(crate) shards: Shards,
    /// The next number of each kind after the batch.
    pub(crate) next: Numbers,
    new_rooms: usize,
    added_bytes: u64,
}

/// A change that is accepted, with the numbers that its rows get.
#[derive(Debug, Clone)]
pub(crate) struct Planned {
    /// The room after the change; before it if the change deletes the room. `None` if the change is
    /// of events only.
    pub(crate) room: Option<PlannedRoom>,
    /// The number of the room that a copy replaces.
    pub(crate) replaced: Option<u32>,
    /// The numbers of the first row, part and event.
    pub(crate) first: Numbers,
}

/// A room as it will be after the commit.
#[derive(Debug, Clone)]
pub(crate) struct PlannedRoom {
    pub(crate) id: u32,
    /// True if the batch creates the room.
    pub(crate) is_new: bool,
    pub(crate) incarnation: u64,
    pub(crate) head: u64,
    pub(crate) reserved: u32,
    meta: u64,
    /// Bytes that count for quotas. A part that is stored may let older ones go, so that the room
    /// has fewer bytes in the end.
    pub(crate) bytes: u64,
    is_damaged: bool,
}

impl<'a> Plan<'a> {
    pub(crate) fn new(state: &'a State) -> Self {
        let State { next_room: room, next_row: row, next_part: part, .. } = *state;
        let event = state.outbox.map(|outbox| outbox.next);
        let next = Numbers { room, row, part, event };
        let (rooms, parts, shards) = Default::default();
        Plan { state, rooms, parts, shards, next, new_rooms: 0, added_bytes: 0 }
    }

    /// Checks a change against the stored rooms and the changes before it in the batch. If it is
    /// refused, the later ones of its room do not continue the room's records and are refused, too.
    /// Without `quotas` there are none.
    pub(crate) fn add(
        &mut self,
        quotas: Option<&Options>,
        change: &Change,
    ) -> Result<Planned, Error> {
        change.check_limits()?;
        let mut planned = Planned { room: None, replaced: None, first: self.next };
        match change {
            Change::Append(append) if append.changes_no_room() => {}
            Change::Append(append) => planned.room = Some(self.append(quotas, append)?),
            Change::SavePart(save) => planned.room = Some(self.save_part(save)?),
            Change::BeginAgain { room, incarnation } => {
                let found = self.find(room).ok_or(Error::NoRoom)?;
                if found.is_damaged {
                    return Err(Error::Damaged(format!("something of the room {room:?}")));
                }
                let begun = PlannedRoom { incarnation: *incarnation, ..found };
                self.rooms.insert(room.clone(), Some(begun.clone()));
                planned.room = Some(begun);
            }
            Change::Delete { room } => {
                planned.room = Some(self.find(room).ok_or(Error::NoRoom)?);
                self.rooms.insert(room.clone(), None);
            }
            Change::Put(copy) => {
                planned.replaced = self.find(&copy.room).map(|room| room.id);
                planned.room = Some(self.put(quotas, copy)?);
            }
            Change::EventsTold { shard, number, .. } => self.events_told(*shard, *number)?,
        }
        if let Some(next) = &mut self.next.event {
            *next += change.events().len() as u64;
        }
        Ok(planned)
    }

    /// Plans a record of a shared log. If it was applied before, nothing is planned. After an error
    /// nothing more can be planned.
    pub(crate) fn add_logged(
        &mut self,
        logged: &Logged,
        changes: &[Change],
    ) -> Result<Vec<Planned>, Error> {
        let Logged { cursor, time } = logged;
        check_shard(cursor.shard)?;
        let known = self.shards.get(&cursor.shard).or(self.state.shards.get(&cursor.shard));
        let mut shard = known.cloned().unwrap_or_else(|| Shard::new(cursor.shard));
        if let Some(error) = shard.stopped {
            return Err(error);
        }
        if cursor.number <= shard.cursor.number {
            return Ok(Vec::new());
        }
        let expected = shard.cursor.number + 1;
        if cursor.number != expected {
            return Err(Error::Position { expected, found: cursor.number });
        }
        shard.cursor = cursor.clone();
        let mut planned = Vec::new();
        for change in changes {
            let contradiction = |error: Error| Error::Contradiction {
                shard: cursor.shard,
                room: change.room().to_owned(),
                position: change.position(),
                reason: error.to_string(),
            };
            if matches!(change, Change::EventsTold { shard, .. } if *shard != cursor.shard) {
                return Err(contradiction(Error::Damaged(
                    "the events are of another shard".into(),
                )));
            }
            let mut accepted = self.add(None, change).map_err(contradiction)?;
            let has_outbox = accepted.first.event.is_some();
            let first = shard.add_events(change, *time, has_outbox);
            accepted.first.event = has_outbox.then_some(first);
            planned.push(accepted);
        }
        self.shards.insert(cursor.shard, shard);
        Ok(planned)
    }

    fn append(&mut self, quotas: Option<&Options>, append: &Append) -> Result<PlannedRoom, Error> {
        let found = self.find(&append.room);
        let created = found.is_none();
        let mut room = match found {
            Some(room) => room.intact()?,
            None => PlannedRoom::new(self.next.room, append)?,
        };
        if room.is_new {
            self.state.check_names()?;
        }
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
        if let Some(options) = quotas.filter(|_| added > 0) {
            let share = if created { NEW_ROOMS_BELOW } else { 100 };
            self.check_quotas(options, created, added, share)?;
            if room.bytes > options.max_room_bytes {
                return Err(Error::NotNow(NotNow::Room));
            }
        }
        self.next.row += append.records.len() as i64;
        self.accept(&append.room, room.clone(), created, added);
        Ok(room)
    }

    /// Checks a part of a snapshot. Quotas do not hold it back, because it makes room in a full
    /// store. The history bounds the parts that are kept: three of each name. A part that covers
    /// less than the one before it is refused, because records between them may be gone.
    pub(crate) fn save_part(&mut self, save: &SavePart) -> Result<PlannedRoom, Error> {
        let SavePart { part, meta, .. } = save;
        let mut room = self.find(&save.room).ok_or(Error::NoRoom)?;
        if room.incarnation != save.incarnation {
            return Err(Error::Incarnation);
        }
        if part.as_of > room.head {
            return Err(Error::Position { expected: room.head, found: part.as_of });
        }
        let planned = (room.id, part.name.clone());
        let covered = self.covered(&save.room, &planned);
        if part.as_of < covered {
            return Err(Error::Position { expected: covered, found: part.as_of });
        }
        self.parts.insert(planned, part.as_of);
        room.bytes += part.bytes.len() as u64 + OVERHEAD;
        room.set_meta(meta.as_deref());
        self.next.part += 1;
        self.rooms.insert(save.room.clone(), Some(room.clone()));
        Ok(room)
    }

    /// The position up to which the newest part of this name covers the room; 0 without one.
    fn covered(&self, name: &str, part: &(u32, String)) -> u64 {
        if let Some(&as_of) = self.parts.get(part) {
            return as_of;
        }
        let (room, part) = part;
        // The batch may have created the room anew.
        let stored = self.state.rooms.get(name).filter(|stored| stored.id == *room);
        stored.map_or(0, |stored| stored.covered(part))
    }

    fn put(&mut self, quotas: Option<&Options>, copy: &RoomCopy) -> Result<PlannedRoom, Error> {
        let found = self.find(&copy.room);
        let place = found.as_ref().map(|room| (room.incarnation, room.head));
        if copy.replaces.is_some() && copy.replaces != place {
            return Err(Error::NotNow(NotNow::Changed));
        }
        let room = PlannedRoom {
            id: self.next.room,
            is_new: true,
            incarnation: copy.incarnation,
            head: copy.head,
            reserved: copy.reserved,
            meta: copy.meta.len() as u64,
            bytes: copy.bytes(),
            is_damaged: false,
        };
        let added = room.bytes.saturating_sub(found.as_ref().map_or(0, |room| room.bytes));
        if let Some(options) = quotas.filter(|_| added > 0) {
            self.check_quotas(options, found.is_none(), added, 100)?;
        }
        self.next.row += copy.records.len() as i64;
        self.next.part += copy.parts.len() as i64;
        self.next.room += u32::from(found.is_some());
        let covered = copy.parts.iter().map(|(_, part)| ((room.id, part.name.clone()), part.as_of));
        self.parts.extend(covered);
        self.accept(&copy.room, room.clone(), found.is_none(), added);
        Ok(room)
    }

    fn events_told(&self, shard: u16, number: u64) -> Result<(), Error> {
        let known = self.shards.get(&shard).or(self.state.shards.get(&shard));
        let last = known.map_or(0, |shard| shard.outbox.next - 1);
        if number > last {
            return Err(Error::Position { expected: last, found: number });
        }
        Ok(())
    }

    fn accept(&mut self, name: &str, room: PlannedRoom, created: bool, added: u64) {
        self.added_bytes += added;
        self.new_rooms += usize::from(created);
        self.next.room += u32::from(created);
        self.rooms.insert(name.to_owned(), Some(room));
    }

    fn find(&self, name: &str) -> Option<PlannedRoom> {
        match self.rooms.get(name) {
            Some(planned) => planned.clone(),
            None => self.state.rooms.get(name).map(|room| PlannedRoom::of(room)),
        }
    }

    /// Fails if a quota is used up to more than `share` percent.
    fn check_quotas(
        &self,
        options: &Options,
        created: bool,
        added: u64,
        share: u64,
    ) -> Result<(), Error> {
        let share = |quota: u64| (u128::from(quota) * u128::from(share) / 100) as u64;
        if self.state.live + self.added_bytes + added > share(options.max_bytes) {
            return Err(Error::NotNow(NotNow::Bytes));
        }
        let rooms = (self.state.rooms.len() + self.new_rooms) as u64;
        if created && rooms >= share(options.max_rooms as u64).max(1) {
            return Err(Error::NotNow(NotNow::Rooms));
        }
        Ok(())
    }
}

impl PlannedRoom {
    fn of(room: &Room) -> Self {
        let Room { id, incarnation, head, reserved, bytes, .. } = *room;
        let meta = u64::from(room.meta_size());
        let is_damaged = room.is_damaged();
        Self { id, is_new: false, incarnation, head, reserved, meta, bytes, is_damaged }
    }

    fn new(id: u32, append: &Append) -> Result<Self, Error> {
        if append.records.is_empty() {
            return Err(Error::NoRoom);
        }
        let bytes = append.room.len() as u64 + OVERHEAD;
        let incarnation = append.incarnation;
        let (head, reserved, meta, is_damaged) = Default::default();
        Ok(Self { id, is_new: true, incarnation, head, reserved, meta, bytes, is_damaged })
    }

    /// Refuses a damaged room: the caller has to load it, which shows the damage.
    fn intact(self) -> Result<Self, Error> {
        if self.is_damaged { Err(Error::Incarnation) } else { Ok(self) }
    }

    fn grow(&mut self, append: &Append) {
        self.head += append.records.len() as u64;
        self.bytes += append.records.iter().map(Record::cost).sum::<u64>();
        self.set_meta(append.meta.as_deref());
        self.reserved = self.reserved.max(append.reserved.unwrap_or(0));
    }

    fn set_meta(&mut self, meta: Option<&[u8]>) {
        if let Some(meta) = meta {
            self.bytes = self.bytes - self.meta + meta.len() as u64;
            self.meta = meta.len() as u64;
        }
    }
}

impl State {
    /// Plans changes without carrying them out, as [`Replica::check`](crate::Replica::check) does.
    pub(crate) fn check(
        &mut self,
        options: &Options,
        changes: &[Change],
        now: u64,
    ) -> Vec<Result<(), Error>> {
        let mut plan = Plan::new(self);
        let outcomes = changes.iter().map(|change| match self.check_poison() {
            Ok(()) => plan.add(Some(options), change).map(drop),
            poisoned => poisoned,
        });
        let outcomes: Vec<_> = outcomes.collect();
        if outcomes.iter().any(Result::is_ok) {
            self.refused = None;
        }
        for (change, outcome) in changes.iter().zip(&outcomes) {
            if let Err(error) = outcome {
                self.note_refusal(change.room(), error, now);
            }
        }
        outcomes
    }
}
