//! A store in memory, which ends with the process: for tests, and for the events of a server that
//! stores nothing.
//!
//! It plans, counts and trims as the store on a disk does. In place of tables it has maps, and in
//! place of a thread it has a lock, so that requests are answered before they return.

mod copies;
mod outbox;

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::api::{Append, Loaded, OutboxEvent, OutboxState, Part, Record, RoomInfo, Usage};
use crate::error::{Error, NotNow};
use crate::forget::Forget;
use crate::options::Options;
use crate::plan::{Plan, check_limits};
use crate::request::{Done, SavePart};
use crate::room::Room;
use crate::rows::PartRow;
use crate::saving::part_row;
use crate::scan::seconds;
use crate::state::State;
use crate::stores::{Directory, Monitor, Outbox, RoomLog};
use crate::times::Times;
use outbox::Events;

/// A store in memory. Of its [`Options`], those about files, commits and garbage have no effect.
pub struct MemoryStore {
    options: Options,
    memory: Mutex<Memory>,
    /// Nothing is committed or synced here, so that these have no durations.
    times: Times,
}

struct Memory {
    /// The index of all rooms; its outbox is not used.
    state: State,
    /// The meta data of each room, by the room's number.
    metas: HashMap<u32, Vec<u8>>,
    /// Each record with the time when it was stored, in seconds since 1970, by its row.
    records: HashMap<i64, (u32, Record)>,
    /// The content of each part, by the part's number.
    parts: HashMap<i64, Vec<u8>>,
    events: Option<Events>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new(options: Options) -> Self {
        let state = State { next_room: 1, next_row: 1, next_part: 1, ..State::default() };
        let events = options.outbox.map(|limits| Events::new(limits, (options.clock)()));
        let (metas, records, parts) = Default::default();
        let memory = Mutex::new(Memory { state, metas, records, parts, events });
        Self { options, memory, times: Times::default() }
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> u64 {
        (self.options.clock)()
    }
}

impl RoomLog for MemoryStore {
    fn append(&self, append: Append, done: Done) {
        let outcome = self.memory().append(&self.options, append, self.now());
        done(outcome);
    }

    fn save_part(
        &self,
        room: String,
        incarnation: u64,
        part: Part,
        meta: Option<Vec<u8>>,
        events: Vec<Vec<u8>>,
        done: Done,
    ) {
        let save = SavePart { room, incarnation, part, meta, events };
        let outcome = self.memory().save_part(save, self.now(), self.options.history_ms());
        done(outcome);
    }

    fn load(&self, room: &str) -> Result<Option<Loaded>, Error> {
        let memory = self.memory();
        Ok(memory.state.rooms.get(room).map(|room| memory.load(room)))
    }

    fn begin_again(&self, room: String, incarnation: u64, done: Done) {
        let begin = |room: &mut Room| room.incarnation = incarnation;
        let outcome = self.memory().state.change(&room, begin).ok_or(Error::NoRoom);
        done(outcome);
    }
}

impl Directory for MemoryStore {
    fn rooms(&self) -> Vec<RoomInfo> {
        self.memory().state.list()
    }

    fn contains(&self, room: &str) -> bool {
        self.memory().state.rooms.contains_key(room)
    }

    fn inactive(&self, rules: &[Forget]) -> Vec<String> {
        self.memory().state.inactive(rules, self.now())
    }

    fn delete(&self, room: String, done: Done) {
        let outcome = self.memory().delete(&room);
        done(outcome);
    }

    fn erase(&self, done: Done) {
        done(Ok(()));
    }
}

impl Outbox for MemoryStore {
    fn put_events(&self, room: &str, events: Vec<Vec<u8>>, done: Done) {
        self.append(Append { room: room.to_owned(), events, ..Append::default() }, done);
    }

    fn events(
        &self,
        last: u64,
        max_events: usize,
        max_bytes: usize,
    ) -> Result<Vec<OutboxEvent>, Error> {
        let now = self.now();
        let mut memory = self.memory();
        let events = memory.events.as_mut();
        Ok(events.map(|all| all.read(last, max_events, max_bytes, now)).unwrap_or_default())
    }

    fn events_told(&self, number: u64, done: Done) {
        if let Some(events) = &mut self.memory().events {
            events.told(number);
        }
        done(Ok(()));
    }

    fn outbox(&self) -> Option<OutboxState> {
        self.memory().events.as_ref().map(Events::state)
    }
}

impl Monitor for MemoryStore {
    fn usage(&self) -> Usage {
        self.memory().state.usage()
    }

    fn refusal(&self) -> Option<Error> {
        self.memory().state.refusal()
    }

    fn max_bytes(&self) -> u64 {
        self.options.max_bytes
    }

    fn disk_bytes(&self) -> u64 {
        0
    }

    fn commit_times(&self) -> &Times {
        &self.times
    }

    fn sync_times(&self) -> &Times {
        &self.times
    }
}

impl Memory {
    fn append(&mut self, options: &Options, append: Append, now: u64) -> Result<(), Error> {
        check_limits(&append)?;
        if !append.has_only_events() {
            let planned = Plan::default().add(&self.state, options, &append);
            let planned = planned.inspect_err(|error| self.note_refusal(&append, error, now))?;
            let first_row = self.state.next_row;
            planned.apply(&mut self.state, &append, seconds(now));
            self.state.refused = None;
            self.metas.extend(append.meta.map(|meta| (planned.id, meta)));
            let records = append.records.into_iter().map(|record| (seconds(now), record));
            self.records.extend((first_row..).zip(records));
        }
        self.commit(&append.room, append.events, now);
        Ok(())
    }

    fn note_refusal(&mut self, append: &Append, error: &Error, now: u64) {
        match error {
            Error::NotNow(NotNow::Bytes) if self.state.rooms.contains_key(&*append.room) => {
                self.state.refused = Some(NotNow::Bytes);
            }
            Error::NotNow(NotNow::Room) => {
                self.state.give_up_history(&append.room, now);
                self.drop_garbage();
            }
            _ => {}
        }
    }

    fn save_part(&mut self, save: SavePart, now: u64, history: u64) -> Result<(), Error> {
        let id = save.plan(&mut self.state)?;
        let room = save.room_id(&self.state)?;
        save.apply(&mut self.state, part_row(room, id, &save.part, now), history);
        self.metas.extend(save.meta.map(|meta| (room, meta)));
        self.parts.insert(id, save.part.bytes);
        self.drop_garbage();
        self.commit(&save.room, save.events, now);
        Ok(())
    }

    fn commit(&mut self, room: &str, events: Vec<Vec<u8>>, now: u64) {
        self.state.commits += 1;
        if let Some(outbox) = &mut self.events {
            events.into_iter().for_each(|event| outbox.put(room, event, now));
        }
    }

    fn load(&self, room: &Room) -> Loaded {
        let mut parts: Vec<Part> = Vec::new();
        for row in room.parts().iter().rev() {
            if parts.iter().all(|part| *part.name != *row.name) {
                parts.push(self.part(row));
            }
        }
        let mut records = Vec::new();
        for entry in room.entries.iter() {
            if !parts.iter().any(|part| part.covers(entry.channel, entry.position)) {
                records.push(self.records[&entry.row].1.clone());
            }
        }
        Loaded {
            incarnation: room.incarnation,
            meta: self.meta(room),
            reserved: room.reserved,
            head: room.head,
            active: u64::from(room.active) * 1000,
            parts,
            records,
            damage: Vec::new(),
        }
    }

    fn meta(&self, room: &Room) -> Vec<u8> {
        self.metas.get(&room.id).cloned().unwrap_or_default()
    }

    fn part(&self, row: &PartRow) -> Part {
        let bytes = self.parts[&row.id].clone();
        let (name, channels) = (row.name.to_string(), row.channels.to_vec());
        Part { name, channels, as_of: row.as_of, bytes }
    }

    fn delete(&mut self, name: &str) -> Result<(), Error> {
        let id = self.state.rooms.get(name).ok_or(Error::NoRoom)?.id;
        self.state.remove(name);
        self.metas.remove(&id);
        if let Some(events) = &mut self.events {
            events.erase_room(name);
        }
        self.drop_garbage();
        Ok(())
    }

    /// Drops the content of rows that no room has any more.
    fn drop_garbage(&mut self) {
        let garbage = std::mem::take(&mut self.state.garbage);
        garbage.rows.iter().for_each(|(row, _)| _ = self.records.remove(row));
        garbage.parts.iter().for_each(|(part, _)| _ = self.parts.remove(part));
        self.state.check_sums();
    }
}
