//! SQLite's two kinds of locks, and the memory that the connections to one database share.

use std::cell::UnsafeCell;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks of a file by its connections; see "File Locking And Concurrency In SQLite Version 3".
#[derive(Debug, Default)]
pub(crate) struct FileLocks(Vec<(u64, i32)>);

/// The levels that this file has to tell apart, as SQLite numbers them.
const SHARED: i32 = 1;
const RESERVED: i32 = 2;
const PENDING: i32 = 3;

impl FileLocks {
    /// Raises the lock of a connection; false if another one is in the way.
    pub(crate) fn lock(&mut self, owner: u64, level: i32) -> bool {
        let others =
            self.0.iter().filter(|(other, _)| *other != owner).map(|(_, level)| *level).max();
        let allowed = match level {
            SHARED => others.unwrap_or(0) < PENDING,
            RESERVED => others.unwrap_or(0) < RESERVED,
            _ => others.unwrap_or(0) < SHARED,
        };
        if allowed {
            let level = level.max(self.level(owner));
            self.unlock(owner, level);
        }
        allowed
    }

    /// Lowers the lock of a connection.
    pub(crate) fn unlock(&mut self, owner: u64, level: i32) {
        self.0.retain(|(other, _)| *other != owner);
        if level >= SHARED {
            self.0.push((owner, level));
        }
    }

    pub(crate) fn is_reserved(&self) -> bool {
        self.0.iter().any(|(_, level)| *level >= RESERVED)
    }

    fn level(&self, owner: u64) -> i32 {
        self.0.iter().find(|(other, _)| *other == owner).map_or(0, |(_, level)| *level)
    }
}

/// The slots of the lock on shared memory.
const SLOTS: usize = 8;

/// The index of the write-ahead log, which all connections to a database share. It is lost at a
/// crash.
#[derive(Debug, Default)]
pub(crate) struct WalIndex {
    regions: Mutex<Vec<Region>>,
    /// For each slot the connections that hold it, and whether exclusively.
    slots: Mutex<[Vec<(u64, bool)>; SLOTS]>,
}

#[derive(Debug)]
struct Region(Box<[UnsafeCell<u64>]>);

impl WalIndex {
    /// The memory of a region. Regions of `size` bytes are added up to it if `extend` is set.
    pub(crate) fn region(&self, number: usize, size: usize, extend: bool) -> Option<*mut u64> {
        let mut regions = lock(&self.regions);
        while extend && regions.len() <= number {
            regions.push(Region((0..size.div_ceil(8)).map(|_| UnsafeCell::new(0)).collect()));
        }
        // The boxes stay where they are when the list grows, and until the last connection is
        // closed.
        regions.get(number).map(|region| region.0[0].get())
    }

    pub(crate) fn lock(&self, owner: u64, slots: std::ops::Range<usize>, exclusive: bool) -> bool {
        let mut all = lock(&self.slots);
        let in_the_way = |held: &(u64, bool)| held.0 != owner && (exclusive || held.1);
        if all[slots.clone()].iter().flatten().any(in_the_way) {
            return false;
        }
        all[slots].iter_mut().for_each(|slot| slot.push((owner, exclusive)));
        true
    }

    pub(crate) fn unlock(&self, owner: u64, slots: std::ops::Range<usize>) {
        lock(&self.slots)[slots].iter_mut().for_each(|slot| slot.retain(|held| held.0 != owner));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
