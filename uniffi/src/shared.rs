//! Shared data of a room: maps, lists, counters, locks and turns (docs/shared.md). Values are JSON,
//! as text, because Kotlin and Swift have no type for it that everybody uses.

use groupwire_ffi::{Json, SharedChange, SharedKind, SharedLoss, SharedOptions, SharedState, json};

use crate::error::SessionError;
use crate::session::Session;

/// How to open shared data.
#[uniffi::remote(Record)]
pub struct SharedOptions {
    /// The name of its channel and of its part of the snapshot; usually `shared`.
    pub name: String,
    /// The id of this program among the authors of operations, of at most 128 characters: no other
    /// program in the room may ever have had it. Empty for a random one.
    pub author: String,
    /// True if this program shows and sees previews, which have a channel of their own.
    pub previews: bool,
}

/// The state of shared data, beside its values.
#[uniffi::remote(Record)]
pub struct SharedState {
    /// The id of this program among the authors of operations.
    pub author: String,
    /// How many own operations the room has not ordered. They are applied already.
    pub pending: u64,
    /// False if something is missing (`Event.SharedLost`).
    pub complete: bool,
    /// True after the server has lost the room, until the room has all of the state again.
    pub restoring: bool,
    /// True if there is an own operation to undo.
    pub can_undo: bool,
    /// True if there is an own operation to redo.
    pub can_redo: bool,
}

/// A map, list, counter, lock or order of turns that may have changed.
#[uniffi::remote(Record)]
pub struct SharedChange {
    /// The kind of the data.
    pub kind: SharedKind,
    /// Its name.
    pub name: String,
    /// The keys of a map, or the ids of a list's items, that may have changed; otherwise empty.
    pub keys: Vec<String>,
}

/// A kind of shared data. The names of two kinds do not conflict.
#[uniffi::remote(Enum)]
pub enum SharedKind {
    /// A map or a list.
    Cells,
    /// A counter.
    Counter,
    /// A value with a reducer, which only programs in Rust and TypeScript can read.
    Reducer,
    /// A lock.
    Lock,
    /// Turns.
    Turns,
}

/// Why a program does not have all of the shared data.
#[uniffi::remote(Enum)]
pub enum SharedLoss {
    /// Operations are missing that the room no longer has: join the room anew.
    History,
    /// The server has lost the room, and this program came back too late to restore its state.
    Restart,
    /// A snapshot is malformed.
    Snapshot,
}

#[uniffi::export]
impl Session {
    /// Opens shared data, and returns its number in this room. If shared data of this name is open
    /// already, its number is returned, and the options have no effect.
    pub fn shared(&self, options: SharedOptions) -> Result<u32, SessionError> {
        Ok(self.room.shared(&options)?)
    }

    /// The state of shared data.
    pub fn shared_state(&self, data: u32) -> Result<SharedState, SessionError> {
        Ok(self.room.shared_state(data)?)
    }

    /// Begins a batch: all changes up to `end_batch` become one operation. Until the batch ends,
    /// the events of the room wait, so end it soon.
    pub fn begin_batch(&self, data: u32) -> Result<(), SessionError> {
        Ok(self.room.begin_batch(data)?)
    }

    /// Ends a batch, and sends its changes.
    pub fn end_batch(&self, data: u32) -> Result<(), SessionError> {
        Ok(self.room.end_batch(data)?)
    }

    /// Takes all changes of the batch back.
    pub fn abort_batch(&self, data: u32) -> Result<(), SessionError> {
        Ok(self.room.abort_batch(data)?)
    }

    /// Undoes the last own operation that others have not overwritten; false if there is none.
    pub fn undo(&self, data: u32) -> Result<bool, SessionError> {
        Ok(self.room.undo(data)?)
    }

    /// Does the last undone operation again; false if there is none.
    pub fn redo(&self, data: u32) -> Result<bool, SessionError> {
        Ok(self.room.redo(data)?)
    }

    /// The value of a key as JSON; nothing if there is none.
    pub fn map_get(&self, data: u32, map: &str, key: &str) -> Result<Option<String>, SessionError> {
        Ok(self.room.map_get(data, map, key)?.map(text))
    }

    /// All keys and values, as a JSON object.
    pub fn map_entries(&self, data: u32, map: &str) -> Result<String, SessionError> {
        Ok(text(self.room.map_entries(data, map)?))
    }

    /// Sets the value of a key to this JSON.
    pub fn map_set(
        &self,
        data: u32,
        map: &str,
        key: &str,
        value: &str,
    ) -> Result<(), SessionError> {
        Ok(self.room.map_set(data, map, key, json("`value`", value)?)?)
    }

    /// Sets the fields of this JSON object in a value that is an object, and removes others.
    pub fn map_patch(
        &self,
        data: u32,
        map: &str,
        key: &str,
        fields: &str,
        removed: Vec<String>,
    ) -> Result<(), SessionError> {
        let removed: Vec<&str> = removed.iter().map(String::as_str).collect();
        Ok(self.room.map_patch(data, map, key, json("`fields`", fields)?, &removed)?)
    }

    /// Removes a key and its value.
    pub fn map_delete(&self, data: u32, map: &str, key: &str) -> Result<(), SessionError> {
        Ok(self.room.map_delete(data, map, key)?)
    }

    /// Shows others an unfinished change of a value's fields, a JSON object, without an operation;
    /// nothing ends it. It may be lost.
    pub fn map_preview(
        &self,
        data: u32,
        map: &str,
        key: &str,
        fields: Option<String>,
    ) -> Result<(), SessionError> {
        let fields = fields.map(|fields| json("`fields`", &fields)).transpose()?;
        Ok(self.room.map_preview(data, map, key, fields)?)
    }

    /// The value of a key with the previews of others applied, as JSON; nothing if there is none.
    pub fn map_previewed(
        &self,
        data: u32,
        map: &str,
        key: &str,
    ) -> Result<Option<String>, SessionError> {
        Ok(self.room.map_previewed(data, map, key)?.map(text))
    }

    /// The values of a list, as a JSON array.
    pub fn list_values(&self, data: u32, list: &str) -> Result<String, SessionError> {
        Ok(text(self.room.list_values(data, list)?))
    }

    /// The ids of a list's items, in the order of the values.
    pub fn list_ids(&self, data: u32, list: &str) -> Result<Vec<String>, SessionError> {
        Ok(self.room.list_ids(data, list)?)
    }

    /// The value of an item as JSON; nothing if there is none.
    pub fn list_get(
        &self,
        data: u32,
        list: &str,
        id: &str,
    ) -> Result<Option<String>, SessionError> {
        Ok(self.room.list_get(data, list, id)?.map(text))
    }

    /// Inserts an item at this index, or at the end if the list is shorter. Returns its id.
    pub fn list_insert(
        &self,
        data: u32,
        list: &str,
        index: u64,
        value: &str,
    ) -> Result<String, SessionError> {
        Ok(self.room.list_insert(data, list, size(index), json("`value`", value)?)?)
    }

    /// Replaces the value of an item.
    pub fn list_set(
        &self,
        data: u32,
        list: &str,
        id: &str,
        value: &str,
    ) -> Result<(), SessionError> {
        Ok(self.room.list_set(data, list, id, json("`value`", value)?)?)
    }

    /// Moves an item to this index.
    pub fn list_move(
        &self,
        data: u32,
        list: &str,
        id: &str,
        index: u64,
    ) -> Result<(), SessionError> {
        Ok(self.room.list_move(data, list, id, size(index))?)
    }

    /// Removes an item.
    pub fn list_delete(&self, data: u32, list: &str, id: &str) -> Result<(), SessionError> {
        Ok(self.room.list_delete(data, list, id)?)
    }

    /// The value of a counter.
    pub fn counter_value(&self, data: u32, counter: &str) -> Result<i64, SessionError> {
        Ok(self.room.counter_value(data, counter)?)
    }

    /// Adds to a counter.
    pub fn counter_add(
        &self,
        data: u32,
        counter: &str,
        difference: i64,
    ) -> Result<(), SessionError> {
        Ok(self.room.counter_add(data, counter, difference)?)
    }

    /// The participant that holds a lock; nothing if it is free.
    pub fn lock_holder(&self, data: u32, lock: &str) -> Result<Option<u32>, SessionError> {
        Ok(self.room.lock_holder(data, lock)?)
    }

    /// Asks for a lock, or waits for it in the order in which it was asked for.
    pub fn lock_acquire(&self, data: u32, lock: &str) -> Result<(), SessionError> {
        Ok(self.room.lock_acquire(data, lock)?)
    }

    /// Gives a lock up.
    pub fn lock_release(&self, data: u32, lock: &str) -> Result<(), SessionError> {
        Ok(self.room.lock_release(data, lock)?)
    }

    /// The participants of an order of turns; the first one has the turn.
    pub fn turns_participants(&self, data: u32, turns: &str) -> Result<Vec<u32>, SessionError> {
        Ok(self.room.turns_participants(data, turns)?)
    }

    /// Takes part at the end.
    pub fn turns_join(&self, data: u32, turns: &str) -> Result<(), SessionError> {
        Ok(self.room.turns_join(data, turns)?)
    }

    /// Takes part no longer.
    pub fn turns_leave(&self, data: u32, turns: &str) -> Result<(), SessionError> {
        Ok(self.room.turns_leave(data, turns)?)
    }

    /// Passes the turn on to the next participant.
    pub fn turns_next(&self, data: u32, turns: &str) -> Result<(), SessionError> {
        Ok(self.room.turns_next(data, turns)?)
    }
}

fn text(value: Json) -> String {
    value.to_string()
}

/// An index; one that no list has stands for the end.
fn size(index: u64) -> usize {
    usize::try_from(index).unwrap_or(usize::MAX)
}
