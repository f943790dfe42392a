//! The state of all rooms in memory, and what the writer, the readers and the handles share.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;

use crate::api::{OVERHEAD, OutboxState, RoomInfo, Usage};
use crate::error::{Error, NotNow, reading};
use crate::forget::Forget;
use crate::history::{self, Surplus};
use crate::index::Entry;
use crate::options::Options;
use crate::room::Room;
use crate::rows::PartRow;
use crate::schema;
use crate::shard::Shards;
use crate::times::Times;

/// Connections for reading that are kept open.
const READERS: usize = 4;

/// What the writer, the readers and the handles of a store share.
pub(crate) struct Shared {
    pub(crate) folder: PathBuf,
    pub(crate) options: Options,
    /// How long commits took, their syncs included.
    pub(crate) commit_times: Times,
    /// How long the syncs of the writer's thread took.
    pub(crate) sync_times: Arc<Times>,
    state: Mutex<State>,
    readers: Mutex<Vec<Connection>>,
}

/// All rooms, and the next number of each kind.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) rooms: HashMap<Box<str>, Box<Room>>,
    /// The sum of the bytes of all rooms.
    pub(crate) live: u64,
    pub(crate) next_room: u32,
    pub(crate) next_row: i64,
    pub(crate) next_part: i64,
    pub(crate) garbage: Garbage,
    /// The state of the outbox; `None` if there is none.
    pub(crate) outbox: Option<OutboxState>,
    /// The shards of a cache, whose events are those of the outbox.
    pub(crate) shards: Shards,
    pub(crate) commits: u64,
    pub(crate) syncs: u64,
    /// Why the newest append was refused, if it was for a reason that holds for all rooms.
    pub(crate) refused: Option<NotNow>,
    /// Rooms whose own row is damaged. Nobody knows their names, so no room is created before they
    /// begin again or are deleted: it might be one of them.
    pub(crate) nameless: usize,
    /// Set once a write failed.
    pub(crate) poisoned: Option<String>,
}

/// The next number of each kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numbers {
    pub(crate) room: u32,
    pub(crate) row: i64,
    pub(crate) part: i64,
    /// The number of an event, as its row has it; `None` if there is no outbox.
    pub(crate) event: Option<u64>,
}

/// Rows that no room needs any more and that are still on the disk. They are not in any index.
#[derive(Debug, Default)]
pub(crate) struct Garbage {
    /// Rows of the log and the bytes that they count for.
    pub(crate) rows: VecDeque<(i64, u64)>,
    /// Numbers of parts and the bytes that they count for.
    pub(crate) parts: VecDeque<(i64, u64)>,
    pub(crate) bytes: u64,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl Shared {
    pub(crate) fn new(folder: PathBuf, options: Options, state: State) -> Self {
        Self {
            folder,
            options,
            commit_times: Times::default(),
            sync_times: Arc::default(),
            state: Mutex::new(state),
            readers: Mutex::default(),
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        // No code panics while it has the lock half-way through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Milliseconds since 1970.
    pub(crate) fn now(&self) -> u64 {
        (self.options.clock)()
    }

    /// Calls `read` with a connection for reading.
    pub(crate) fn with_reader<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let pool = || self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        let pooled = pool().pop();
        let connection = match pooled {
            Some(connection) => connection,
            None => {
                schema::open_reader(&self.folder, self.options.vfs.as_deref()).map_err(reading)?
            }
        };
        let answer = read(&connection);
        // A connection that is in the middle of a transaction after an error is closed.
        if connection.is_autocommit() {
            let mut pool = pool();
            if pool.len() < READERS {
                pool.push(connection);
            }
        }
        answer
    }

    pub(crate) fn close_readers(&self) {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl State {
    pub(crate) fn check_poison(&self) -> Result<(), Error> {
        self.poisoned.as_ref().map_or(Ok(()), |reason| Err(Error::Poisoned(reason.clone())))
    }

    /// Fails if a room that is not found may be one whose name was damaged.
    pub(crate) fn check_names(&self) -> Result<(), Error> {
        if self.nameless == 0 {
            return Ok(());
        }
        let what = "the name of a room is damaged, so rooms that are not found may not be new";
        Err(Error::Damaged(what.into()))
    }

    pub(crate) fn count_nameless(&mut self) {
        let rooms = self.rooms.values();
        self.nameless =
            rooms.filter(|room| room.damaged().is_some_and(|damaged| damaged.meta)).count();
    }

    /// Changes a room and keeps the sum of bytes right.
    pub(crate) fn change<T>(
        &mut self,
        room: &str,
        change: impl FnOnce(&mut Room) -> T,
    ) -> Option<T> {
        let room = self.rooms.get_mut(room)?;
        let before = room.bytes;
        let answer = change(room);
        self.live = self.live - before + room.bytes;
        Some(answer)
    }

    /// Gives out no number below these any more.
    pub(crate) fn take_numbers(&mut self, next: &Numbers) {
        (self.next_room, self.next_row, self.next_part) = (next.room, next.row, next.part);
    }

    /// Notes that an append was refused. A room at its quota gives up its history for the next one.
    pub(crate) fn note_refusal(&mut self, room: &str, error: &Error, now: u64) {
        match error {
            Error::NotNow(NotNow::Bytes) if self.rooms.contains_key(room) => {
                self.refused = Some(NotNow::Bytes);
            }
            Error::NotNow(NotNow::Room) => self.give_up_history(room, now),
            _ => {}
        }
    }

    /// Trims everything of a room that its newest parts cover, because it is at its quota.
    fn give_up_history(&mut self, name: &str, now: u64) {
        let surplus = self.change(name, |room| history::trim(room, now, 0));
        self.garbage.add(&surplus.unwrap_or_default());
    }

    /// Checks in debug builds that sums of bytes are those of what is counted. The time of this
    /// grows with the number of all records.
    pub(crate) fn check_sums(&self) {
        let sum = || self.rooms.values().map(|room| room.bytes).sum::<u64>();
        // Rooms whose names are damaged may have the same one, and then only one of them is listed.
        debug_assert!(
            self.nameless > 0 || self.live == sum(),
            "the live bytes are the sum of all rooms' bytes"
        );
        debug_assert!(
            self.rooms.iter().all(|(name, room)| room.bytes == room.counted(name)),
            "the bytes of a room are those of its records, parts, meta data and name"
        );
        debug_assert!(
            !self.garbage.is_empty() || self.garbage.bytes == 0,
            "without garbage no bytes wait for their removal"
        );
    }

    pub(crate) fn insert(&mut self, name: Box<str>, room: Room) {
        self.live += room.bytes;
        self.rooms.insert(name, Box::new(room));
    }

    /// Removes a room. What it had becomes garbage.
    pub(crate) fn remove(&mut self, name: &str) {
        let Some(mut room) = self.rooms.remove(name) else { return };
        self.live -= room.bytes;
        if let Some(damaged) = room.damaged() {
            self.nameless -= usize::from(damaged.meta);
            damaged.records.iter().for_each(|&(row, _)| self.garbage.add_row(row, OVERHEAD));
            damaged.parts.iter().for_each(|part| self.garbage.add_part(part));
        }
        let surplus = Surplus {
            entries: room.remove_entries(|_| false),
            parts: room.remove_parts(|_| false),
        };
        self.garbage.add(&surplus);
    }

    /// All rooms, by name.
    pub(crate) fn list(&self) -> Vec<RoomInfo> {
        let mut rooms: Vec<_> = self
            .rooms
            .iter()
            .map(|(name, room)| RoomInfo {
                name: name.to_string(),
                incarnation: room.incarnation,
                head: room.head,
                records: room.entries.len() as u64,
                bytes: room.bytes,
                active: u64::from(room.active),
            })
            .collect();
        rooms.sort_by(|a, b| a.name.cmp(&b.name));
        rooms
    }

    /// The rooms that the rules select for deletion at `now`, in milliseconds since 1970.
    pub(crate) fn inactive(&self, rules: &[Forget], now: u64) -> Vec<String> {
        let is_inactive = |name: &str, active: u32| {
            let age = (now / 1000).saturating_sub(u64::from(active));
            rules.iter().any(|rule| age >= rule.after.as_secs() && rule.matches(name))
        };
        let rooms = self.rooms.iter().filter(|(name, room)| is_inactive(name, room.active));
        rooms.map(|(name, _)| name.to_string()).collect()
    }

    pub(crate) fn refusal(&self) -> Option<Error> {
        self.check_poison().err().or(self.refused.map(Error::NotNow))
    }

    pub(crate) fn usage(&self) -> Usage {
        let Self { ref rooms, live, ref garbage, commits, syncs, .. } = *self;
        Usage { rooms: rooms.len(), live, garbage: garbage.bytes, commits, syncs }
    }
}

impl Garbage {
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.parts.is_empty()
    }

    pub(crate) fn add(&mut self, surplus: &Surplus) {
        let Surplus { entries, parts } = surplus;
        entries.iter().for_each(|entry| self.add_row(entry.row, Entry::cost(entry)));
        parts.iter().for_each(|part| self.add_part(part));
    }

    pub(crate) fn add_row(&mut self, row: i64, cost: u64) {
        self.rows.push_back((row, cost));
        self.bytes += cost;
    }

    pub(crate) fn add_part(&mut self, part: &PartRow) {
        self.add_pieces(part.id, part.cost());
    }

    pub(crate) fn add_pieces(&mut self, part: i64, cost: u64) {
        self.parts.push_back((part, cost));
        self.bytes += cost;
    }
}
