//! The traits of a store, one for each use of it, and a bundle of their handles. A server knows
//! these, and opens the store that implements them in one place.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::api::{
    Append, Loaded, Moment, OutboxEvent, OutboxState, Part, RoomInfo, Snapshots, Summary, Usage,
};
use crate::change::Change;
use crate::error::Error;
use crate::forget::Forget;
use crate::request::Done;
use crate::shard::Cursor;
use crate::times::Times;

/// The log of rooms: a room that is served uses this and nothing else.
pub trait RoomLog: Send + Sync {
    /// Stores records, meta data and reserved numbers of a room, and then calls `done`. After `Ok`
    /// they are durable. After an error nothing of the append is stored. Appends of one room are
    /// carried out in order; if one is refused, the later ones do not continue the room's positions
    /// and are refused, too. An append of nothing changes nothing, and shows that the store takes
    /// changes.
    fn append(&self, append: Append, done: Done);

    /// Stores a part of a room's snapshot, and the room's meta data with it if there is any, puts
    /// the events into the outbox, and then calls `done`. A part that covers less than the newest
    /// one of its name is refused with [`Error::Position`].
    fn save_part(
        &self,
        room: String,
        incarnation: u64,
        part: Part,
        meta: Option<Vec<u8>>,
        events: Vec<Vec<u8>>,
        done: Done,
    );

    /// Loads a room; `None` if it is not stored. This blocks.
    fn load(&self, room: &str) -> Result<Option<Loaded>, Error>;

    /// Gives a room a new incarnation, because [`Loaded::damage`] was not empty, and then calls
    /// `done`. What could be loaded stays; what was damaged is removed.
    fn begin_again(&self, room: String, incarnation: u64, done: Done);
}

/// The list of stored rooms, and their deletion.
pub trait Directory: Send + Sync {
    /// All rooms, by name.
    fn rooms(&self) -> Vec<RoomInfo>;

    /// True if a room of this name is stored.
    fn contains(&self, room: &str) -> bool;

    /// The rooms that the rules select for deletion now. The caller deletes those without
    /// participants.
    fn inactive(&self, rules: &[Forget]) -> Vec<String>;

    /// Deletes a room with its events in the outbox, and then calls `done`. Its content is erased
    /// within minutes.
    fn delete(&self, room: String, done: Done);

    /// Calls `done` when all deleted content is erased.
    fn erase(&self, done: Done);
}

/// Events for a receiver outside, which are read in order and kept until they were told or dropped.
/// Events of a change belong to its [`Append`] or part of a snapshot.
pub trait Outbox: Send + Sync {
    /// Puts events of a room that belong to no change into the outbox, and then calls `done`.
    /// Without [`Options::outbox`](crate::Options::outbox), events are ignored.
    fn put_events(&self, room: &str, events: Vec<Vec<u8>>, done: Done);

    /// Reads the oldest events that were not told, in the order of their numbers, up to the number
    /// `last`: at most `max_events`, until their content exceeds `max_bytes`, and at least one if
    /// there is one. This blocks.
    fn events(
        &self,
        last: u64,
        max_events: usize,
        max_bytes: usize,
    ) -> Result<Vec<OutboxEvent>, Error>;

    /// The events up to `number` were told: the cursor moves, and these events are erased. Then
    /// `done` is called.
    fn events_told(&self, number: u64, done: Done);

    /// The state of the outbox; `None` without [`Options::outbox`](crate::Options::outbox).
    fn outbox(&self) -> Option<OutboxState>;
}

/// The snapshots and positions that rooms can be taken back to.
pub trait History: Send + Sync {
    /// What a room can be taken back to; `None` if it is not stored.
    fn snapshots(&self, room: &str) -> Option<Snapshots>;

    /// Takes a room back, and gives it a new incarnation. Nobody may write to the room meanwhile:
    /// otherwise nothing is changed, and the error is [`NotNow::Changed`](crate::NotNow::Changed).
    /// This blocks for as long as all of the room is read and written.
    fn take_back(&self, room: &str, to: Moment, incarnation: u64) -> Result<(), Error>;
}

/// Copies of rooms in files, which any store can take.
pub trait Transfer: Send + Sync {
    /// Copies the rooms that `wanted` names to a new file, as they are at one moment. This blocks.
    fn export(&self, file: &Path, wanted: &dyn Fn(&str) -> bool) -> Result<Summary, Error>;

    /// Takes rooms from the file of an export, also while they are served. Each gets the
    /// incarnation that `incarnation` gives, because records that were confirmed may be missing in
    /// the export. A room that exists is refused before anything is written, unless `replace` is
    /// set. Returns the names. This blocks.
    fn import(
        &self,
        file: &Path,
        wanted: &dyn Fn(&str) -> bool,
        replace: bool,
        incarnation: &mut dyn FnMut() -> u64,
    ) -> Result<Vec<String>, Error>;
}

/// A store as a cache of logs that several servers share, one for each shard of the rooms. Each
/// server applies all records of a log in order, so that all caches hold the same rooms.
///
/// A server that owns a shard checks changes, appends them to the log, applies them, and only then
/// answers those who made them. All other traits of a cache are for reading, except that its events
/// are read by shard. [`Options::is_cache`](crate::Options::is_cache) makes a store a cache.
pub trait Replica: Send + Sync {
    /// Says for each change whether it would be accepted now, after the ones before it: limits,
    /// quotas, incarnations and positions. Nothing is changed but for a room at its quota, which
    /// gives up its history, as for an append. Changes of a shard that are not applied yet are not
    /// known here, so that their outcome has to be awaited first.
    fn check(&self, changes: &[Change]) -> Vec<Result<(), Error>>;

    /// Carries out the changes of a record of a log, whose time is in milliseconds since 1970, and
    /// then calls `done`. Quotas hold nothing back. The shard's cursor moves in the same commit. A
    /// record that was applied already does nothing. One that skips a record is refused with
    /// [`Error::Position`], also after an earlier one was refused, because the disk is full. One
    /// that contradicts the store is refused with [`Error::Contradiction`], and so are all later
    /// ones of its shard.
    fn apply(&self, cursor: Cursor, time: u64, changes: Vec<Change>, done: Done);

    /// Moves the cursor of a shard past a record without changes, and then calls `done`.
    fn move_cursor(&self, cursor: Cursor, done: Done) {
        self.apply(cursor, 0, Vec::new(), done);
    }

    /// The cursors of all shards of which something was applied.
    fn cursors(&self) -> Vec<Cursor>;

    /// Copies a shard, whose rooms `wanted` names, with its events: a base from which another
    /// server begins instead of applying the log from its beginning. The cursor is that of the
    /// base. This blocks, and the copy is in memory.
    fn export_shard(
        &self,
        shard: u16,
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<(Cursor, Vec<u8>), Error>;

    /// Replaces all that the store has of a shard, whose rooms `wanted` names, by a base. The
    /// cursor is the one that [`Replica::export_shard`] gave with it. Nothing of the shard may be
    /// applied meanwhile. This blocks; a crash leaves the shard as it was or as the base has it.
    fn import_shard(
        &self,
        cursor: Cursor,
        base: &[u8],
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<(), Error>;

    /// Forgets all rooms, cursors and events, and then calls `done`: the folder belonged to another
    /// deployment, or a log was damaged.
    fn clear(&self, done: Done);

    /// Reads the oldest events of a shard that were not told, as [`Outbox::events`] does. Numbers
    /// count within the shard and are equal on all servers. That events were told is a change,
    /// [`Change::EventsTold`].
    fn shard_events(
        &self,
        shard: u16,
        last: u64,
        max_events: usize,
        max_bytes: usize,
    ) -> Result<Vec<OutboxEvent>, Error>;

    /// The state of a shard's outbox: its id is 0, and events count as dropped until the cursor is
    /// past them. `None` without [`Options::outbox`](crate::Options::outbox).
    fn shard_outbox(&self, shard: u16) -> Option<OutboxState>;

    /// The change that takes a room back, which is not carried out: see [`History::take_back`]. If
    /// the room changes before it is applied, the change is refused with
    /// [`NotNow::Changed`](crate::NotNow::Changed). This blocks.
    fn taken_back(&self, room: &str, to: Moment, incarnation: u64) -> Result<Change, Error>;

    /// The changes that import rooms, one for each room, which are not carried out: see
    /// [`Transfer::import`]. This blocks, and the rooms are in memory.
    fn imported(
        &self,
        file: &Path,
        wanted: &dyn Fn(&str) -> bool,
        replace: bool,
        incarnation: &mut dyn FnMut() -> u64,
    ) -> Result<Vec<Change>, Error>;
}

/// Figures of a store, for those who watch it.
pub trait Monitor: Send + Sync {
    /// What the store holds.
    fn usage(&self) -> Usage;

    /// Why the store takes no records: [`Error::Poisoned`] from the first write that failed on,
    /// [`Error::NotNow`] while there is no space for any room. `None` if it takes them, as far as
    /// the newest request shows.
    fn refusal(&self) -> Option<Error>;

    /// The quota of bytes of all rooms, [`Options::max_bytes`](crate::Options::max_bytes).
    fn max_bytes(&self) -> u64;

    /// The size of the store's files, in bytes. This asks the file system.
    fn disk_bytes(&self) -> u64;

    /// How long commits took, their syncs included.
    fn commit_times(&self) -> &Times;

    /// How long the syncs took: one of each commit, and those of checkpoints.
    fn sync_times(&self) -> &Times;
}

/// The handles of a store, one for each use. All of them may be of one store.
#[derive(Clone)]
pub struct Stores {
    /// The log of rooms.
    pub log: Arc<dyn RoomLog>,
    /// The list of stored rooms, and their deletion.
    pub directory: Arc<dyn Directory>,
    /// Events for a receiver outside.
    pub outbox: Arc<dyn Outbox>,
    /// The moments that rooms can be taken back to.
    pub history: Arc<dyn History>,
    /// Copies of rooms in files.
    pub transfer: Arc<dyn Transfer>,
    /// Figures of the store.
    pub monitor: Arc<dyn Monitor>,
}

impl Stores {
    /// The handles of one store, which is closed when the last of them is dropped.
    pub fn new<S>(store: S) -> Self
    where
        S: RoomLog + Directory + Outbox + History + Transfer + Monitor + 'static,
    {
        Stores::of(Arc::new(store))
    }

    /// The handles of a store that the caller uses as well.
    pub fn of<S>(store: Arc<S>) -> Self
    where
        S: RoomLog + Directory + Outbox + History + Transfer + Monitor + 'static,
    {
        Stores {
            log: store.clone(),
            directory: store.clone(),
            outbox: store.clone(),
            history: store.clone(),
            transfer: store.clone(),
            monitor: store,
        }
    }
}

impl fmt::Debug for Stores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stores { .. }")
    }
}
