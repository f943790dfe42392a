//! A store in memory, which ends with the process: for tests, and for the events of a server that
//! stores nothing.
//!
//! It plans, counts and trims as the store on a disk does. In place of tables it has maps, and in
//! place of a thread it has a lock, so that requests are answered before they return.

mod copies;
mod events;
mod replica;

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::api::{Append, Loaded, OutboxEvent, OutboxState, Part, Record, RoomInfo, Usage};
use crate::change::{Change, SavePart};
use crate::error::Error;
use crate::forget::Forget;
use crate::options::Options;
use crate::outbox;
use crate::plan::{Plan, Planned};
use crate::request::Done;
use crate::room::Room;
use crate::rows::PartRow;
use crate::scan::seconds;
use crate::shard::Logged;
use crate::state::{Numbers, State};
use crate::stores::{Directory, Monitor, Outbox, RoomLog};
use crate::times::Times;
use events::Events;

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

    fn change(&self, change: Change) -> Result<(), Error> {
        self.memory().carry_out(Some(&self.options), change, self.now(), self.options.history_ms())
    }
}

impl RoomLog for MemoryStore {
    fn append(&self, append: Append, done: Done) {
        done(self.change(Change::Append(append)));
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
        done(self.change(Change::SavePart(SavePart { room, incarnation, part, meta, events })));
    }

    fn load(&self, room: &str) -> Result<Option<Loaded>, Error> {
        let memory = self.memory();
        Ok(memory.state.rooms.get(room).map(|room| memory.load(room)))
    }

    fn begin_again(&self, room: String, incarnation: u64, done: Done) {
        done(self.change(Change::BeginAgain { room, incarnation }));
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
        done(self.change(Change::Delete { room }));
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
    /// Carries out a change, within the quotas if there are any.
    fn carry_out(
        &mut self,
        quotas: Option<&Options>,
        change: Change,
        now: u64,
        history: u64,
    ) -> Result<(), Error> {
        let mut plan = Plan::new(&self.state);
        let planned = plan.add(quotas, &change);
        let next = plan.next;
        match planned {
            Ok(planned) => {
                if planned.room.is_some() {
                    self.state.refused = None;
                }
                self.state.take_numbers(&next);
                self.store(&planned, change, None, now, history);
                Ok(())
            }
            Err(error) => {
                self.state.note_refusal(change.room(), &error, now);
                self.drop_garbage();
                Err(error)
            }
        }
    }

    /// Applies a record of a shared log.
    fn apply(&mut self, logged: &Logged, changes: Vec<Change>, history: u64) -> Result<(), Error> {
        let shard = logged.cursor.shard;
        let mut plan = Plan::new(&self.state);
        let planned = plan.add_logged(logged, &changes);
        let (shards, next) = (plan.shards, plan.next);
        let planned = planned.inspect_err(|error| self.state.stop(shard, error))?;
        let mut event = outbox::row_of(shard, self.state.shard_outbox(shard).next);
        self.state.take_numbers(&next);
        self.state.shards.extend(shards);
        for (change, planned) in changes.into_iter().zip(&planned) {
            let first = event;
            event += change.events().len() as u64;
            self.store(planned, change, Some(first), logged.time, history);
        }
        Ok(())
    }

    /// Adds a planned change, whose first event has the number `event`, if it is of a shared log.
    fn store(
        &mut self,
        planned: &Planned,
        change: Change,
        event: Option<u64>,
        time: u64,
        history: u64,
    ) {
        planned.apply(&mut self.state, &change, time, history);
        self.state.commits += 1;
        if let Some(all) = &mut self.events {
            match &change {
                Change::Delete { room } => all.erase_room(room),
                Change::Put(copy) if planned.replaced.is_some() => all.erase_room(&copy.room),
                Change::EventsTold { shard, number, .. } => all.erase_told(*shard, *number),
                _ => all.put(change.room(), change.events(), event, time),
            }
        }
        if let Some(room) = &planned.room {
            self.keep(planned, room.id, change, seconds(time));
        }
        self.drop_garbage();
    }

    /// Keeps the content of a change.
    fn keep(&mut self, planned: &Planned, room: u32, change: Change, now: u32) {
        let Numbers { row, part, .. } = planned.first;
        match change {
            Change::Append(append) => {
                self.metas.extend(append.meta.map(|meta| (room, meta)));
                let records = append.records.into_iter().map(|record| (now, record));
                self.records.extend((row..).zip(records));
            }
            Change::SavePart(save) => {
                self.metas.extend(save.meta.map(|meta| (room, meta)));
                self.parts.insert(part, save.part.bytes);
            }
            Change::Delete { .. } => drop(self.metas.remove(&room)),
            Change::Put(copy) => {
                planned.replaced.map(|replaced| self.metas.remove(&replaced));
                self.metas.insert(room, copy.meta);
                self.records.extend((row..).zip(copy.records));
                self.parts.extend((part..).zip(copy.parts.into_iter().map(|(_, part)| part.bytes)));
            }
            Change::BeginAgain { .. } | Change::EventsTold { .. } => {}
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
        row.to_part(self.parts[&row.id].clone())
    }

    /// Drops the content of rows that no room has any more.
    fn drop_garbage(&mut self) {
        let garbage = std::mem::take(&mut self.state.garbage);
        garbage.rows.iter().for_each(|(row, _)| _ = self.records.remove(row));
        garbage.parts.iter().for_each(|(part, _)| _ = self.parts.remove(part));
        self.state.check_sums();
    }
}
