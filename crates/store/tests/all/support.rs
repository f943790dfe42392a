//! What the tests share: stores on simulated disks, and records.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use groupwire_disk::Disk;
use groupwire_store::{
    Append, Change, Cursor, Directory, Error, History, Loaded, MemoryStore, Monitor, OpenError,
    Options, Outbox, Part, Record, Replica, RoomLog, Store, Stores, Transfer, parse_changes, wait,
    write_changes,
};
use tempfile::TempDir;

pub(crate) const DAY: Duration = Duration::from_secs(86_400);

/// A folder on a simulated disk, and a clock.
pub(crate) struct Machine {
    pub(crate) disk: Disk,
    pub(crate) now: Arc<AtomicU64>,
    pub(crate) options: Options,
    folder: TempDir,
    is_in_memory: bool,
}

impl Machine {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let disk = Disk::new(folder.path().to_str().unwrap());
        // Some time in 2024.
        let now = Arc::new(AtomicU64::new(1_710_000_000_000));
        let clock = now.clone();
        let options = Options {
            clock: Arc::new(move || clock.load(Ordering::Relaxed)),
            vfs: Some(Disk::VFS.into()),
            slack: 1 << 20,
            ..Options::default()
        };
        Self { disk, now, options, folder, is_in_memory: false }
    }

    /// Machines for both stores, on a disk and in memory, which have to behave in the same way.
    pub(crate) fn both() -> [Self; 2] {
        [Self::new(), Self { is_in_memory: true, ..Self::new() }]
    }

    /// Opens the store of the machine.
    pub(crate) fn stores(&self) -> Stores {
        match self.is_in_memory {
            true => Stores::new(MemoryStore::new(self.options.clone())),
            false => Stores::new(self.open().unwrap()),
        }
    }

    /// Machines for caches, on a disk and in memory.
    pub(crate) fn caches() -> [Self; 2] {
        Self::both().map(|mut machine| {
            machine.options.is_cache = true;
            machine
        })
    }

    /// Opens the cache of the machine.
    pub(crate) fn cache(&self) -> Box<dyn Cache> {
        match self.is_in_memory {
            true => Box::new(MemoryStore::new(self.options.clone())),
            false => Box::new(self.open().unwrap()),
        }
    }

    /// A cache of another server, in memory.
    pub(crate) fn cache_elsewhere(&self) -> Box<dyn Cache> {
        Box::new(MemoryStore::new(self.options.clone()))
    }

    pub(crate) fn is_in_memory(&self) -> bool {
        self.is_in_memory
    }

    /// Closes the cache and opens it again. One in memory stays.
    pub(crate) fn reopen_cache(&self, cache: Box<dyn Cache>) -> Box<dyn Cache> {
        if self.is_in_memory {
            return cache;
        }
        drop(cache);
        self.cache()
    }

    /// Closes the store and opens it again. A store in memory stays.
    pub(crate) fn reopen(&self, stores: Stores) -> Stores {
        if self.is_in_memory {
            return stores;
        }
        drop(stores);
        self.stores()
    }

    pub(crate) fn open(&self) -> Result<Store, OpenError> {
        Store::open(self.folder.path(), self.options.clone())
    }

    /// The time in milliseconds since 1970.
    pub(crate) fn time(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }

    pub(crate) fn pass(&self, time: Duration) {
        self.now.fetch_add(time.as_millis() as u64, Ordering::Relaxed);
    }

    /// True if any file has these bytes.
    pub(crate) fn holds(&self, marker: &[u8]) -> bool {
        self.disk.files().iter().any(|(_, bytes)| bytes.windows(marker.len()).any(|w| w == marker))
    }

    /// The bytes of all files.
    pub(crate) fn size(&self) -> usize {
        self.disk.files().iter().map(|(_, bytes)| bytes.len()).sum()
    }
}

pub(crate) fn record(position: u64, bytes: impl Into<Vec<u8>>) -> Record {
    Record {
        position,
        channel: 1,
        author: 5,
        recipient: 0,
        counter: position as u32,
        bytes: bytes.into(),
    }
}

pub(crate) fn append(room: &str, records: Vec<Record>) -> Append {
    Append { room: room.into(), incarnation: 7, records, ..Append::default() }
}

pub(crate) fn part(as_of: u64, bytes: impl Into<Vec<u8>>) -> Part {
    Part { name: "state".into(), channels: vec![1], as_of, bytes: bytes.into() }
}

/// All that a cache does.
pub(crate) trait Cache:
    Replica + RoomLog + Directory + Outbox + History + Transfer + Monitor
{
}

impl<C: Replica + RoomLog + Directory + Outbox + History + Transfer + Monitor> Cache for C {}

/// The log of a shard, as a service outside keeps it.
pub(crate) struct Log {
    pub(crate) shard: u16,
    records: Vec<LogRecord>,
}

/// The place and the time of a record, and the bytes of its changes.
pub(crate) type LogRecord = (Cursor, u64, Vec<u8>);

impl Log {
    pub(crate) fn new(shard: u16) -> Self {
        Log { shard, records: Vec::new() }
    }

    /// Appends changes, and returns their record.
    pub(crate) fn append(&mut self, time: u64, changes: &[Change]) -> LogRecord {
        let number = self.records.len() as u64 + 1;
        // Sequences of a log grow and need not be dense.
        let (shard, sequence) = (self.shard, 3 * number);
        let state = (number * 77).to_be_bytes().to_vec();
        let cursor = Cursor { shard, sequence, number, state };
        self.records.push((cursor, time, write_changes(changes)));
        self.records[number as usize - 1].clone()
    }

    /// The records after a number.
    pub(crate) fn after(&self, number: u64) -> impl Iterator<Item = LogRecord> {
        self.records.iter().skip(number as usize).cloned()
    }
}

/// Applies a record, and waits for the outcome.
pub(crate) fn apply<C: Replica + ?Sized>(cache: &C, record: LogRecord) -> Result<(), Error> {
    let (cursor, time, bytes) = record;
    let changes = parse_changes(&bytes).unwrap();
    wait(|done| cache.apply(cursor, time, changes, done))
}

/// The number of the newest record of a shard that was applied.
pub(crate) fn applied<C: Replica + ?Sized>(cache: &C, shard: u16) -> u64 {
    let cursors = cache.cursors();
    cursors.iter().find(|cursor| cursor.shard == shard).map_or(0, |cursor| cursor.number)
}

/// The calls that tests make, each waiting for its outcome.
pub(crate) trait Waiting {
    fn log(&self) -> &dyn RoomLog;
    fn directory(&self) -> &dyn Directory;

    fn add(&self, append: Append) -> Result<(), Error> {
        wait(|done| self.log().append(append, done))
    }

    fn put(&self, room: &str, records: Vec<Record>) -> Result<(), Error> {
        self.add(append(room, records))
    }

    fn save(&self, room: &str, part: Part) -> Result<(), Error> {
        wait(|done| self.log().save_part(room.into(), 7, part, None, Vec::new(), done))
    }

    fn remove(&self, room: &str) -> Result<(), Error> {
        wait(|done| self.directory().delete(room.into(), done))
    }

    fn erase_all(&self) {
        wait(|done| self.directory().erase(done)).unwrap();
    }

    fn get(&self, room: &str) -> Loaded {
        self.log().load(room).unwrap().unwrap()
    }
}

impl Waiting for Store {
    fn log(&self) -> &dyn RoomLog {
        self
    }

    fn directory(&self) -> &dyn Directory {
        self
    }
}

impl Waiting for Box<dyn Cache> {
    fn log(&self) -> &dyn RoomLog {
        &**self
    }

    fn directory(&self) -> &dyn Directory {
        &**self
    }
}

impl Waiting for Stores {
    fn log(&self) -> &dyn RoomLog {
        &*self.log
    }

    fn directory(&self) -> &dyn Directory {
        &*self.directory
    }
}
