//! The rooms of the process, by their numbers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockWriteGuard, TryLockError};
use std::time::Duration;

use groupwire_ffi::{Code, Error, Room};

use crate::event::Shown;
use crate::types::gw_room;

/// A room, and the event that the program looks at.
pub(crate) struct Entry {
    pub(crate) room: Room,
    shown: Mutex<Shown>,
}

/// The open rooms. The process that owns the table is in the upper half of the numbers, so that a
/// forked process finds out before it waits for a lock that a thread of its parent may hold.
static ROOMS: RwLock<Option<Table>> = RwLock::new(None);

struct Table {
    pid: u32,
    last: u32,
    rooms: HashMap<gw_room, Arc<Entry>>,
}

/// Keeps a room, and returns its number.
pub(crate) fn add(room: Room) -> Result<gw_room, Error> {
    let mut table = write_within_a_second()?;
    let pid = std::process::id();
    if table.as_ref().is_none_or(|table| table.pid != pid) {
        // The rooms of the parent are not dropped here, nor are they in this process.
        std::mem::forget(table.replace(Table { pid, last: 0, rooms: HashMap::new() }));
    }
    let full = || Error::own(Code::TooMany, "too many rooms: 4,294,967,295 were opened already");
    let table = table.as_mut().ok_or_else(full)?;
    table.last = table.last.checked_add(1).ok_or_else(full)?;
    let number = u64::from(pid) << 32 | u64::from(table.last);
    let entry = Entry { room, shown: Mutex::default() };
    table.rooms.insert(number, Arc::new(entry));
    Ok(number)
}

/// The room with this number.
///
/// # Errors
/// [`Code::Forked`] for a room of another process, [`Code::Closed`] for one that was freed, or that
/// never was.
pub(crate) fn find(room: gw_room) -> Result<Arc<Entry>, Error> {
    check(room)?;
    let table = ROOMS.read().unwrap_or_else(PoisonError::into_inner);
    let found = table.as_ref().and_then(|table| table.rooms.get(&room));
    found.cloned().ok_or_else(gone)
}

/// Forgets the room with this number.
///
/// # Errors
/// Those of [`find`].
pub(crate) fn remove(room: gw_room) -> Result<(), Error> {
    check(room)?;
    let mut table = ROOMS.write().unwrap_or_else(PoisonError::into_inner);
    let removed = table.as_mut().and_then(|table| table.rooms.remove(&room));
    // Leaving takes locks of its own.
    drop(table);
    removed.map(drop).ok_or_else(gone)
}

/// Locks the table. In a process that was forked while another thread had it locked, it stays
/// locked for ever.
fn write_within_a_second() -> Result<RwLockWriteGuard<'static, Option<Table>>, Error> {
    for _ in 0..1000 {
        match ROOMS.try_write() {
            Ok(table) => return Ok(table),
            Err(TryLockError::Poisoned(poisoned)) => return Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
    let text =
        "this process was forked while its parent used a room: fork before the first connect";
    Err(Error::own(Code::Forked, text))
}

fn check(room: gw_room) -> Result<(), Error> {
    let owner = (room >> 32) as u32;
    if owner != 0 && owner != std::process::id() {
        return Err(Error::own(
            Code::Forked,
            "this room belongs to the process that forked this one: connect again here",
        ));
    }
    Ok(())
}

fn gone() -> Error {
    Error::own(
        Code::Closed,
        "no room has this number: it was freed, or gw_connect did not write it",
    )
}

impl Entry {
    /// The event that the program looks at, for the one thread that polls.
    ///
    /// # Errors
    /// [`Code::Busy`] if another thread polls.
    pub(crate) fn shown(&self) -> Result<MutexGuard<'_, Shown>, Error> {
        match self.shown.try_lock() {
            Ok(shown) => Ok(shown),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => Err(Error::own(
                Code::Busy,
                "another thread polls this room: let one thread take its events",
            )),
        }
    }
}
