//! What the tests share: stores on simulated disks, and records.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use groupwire_disk::Disk;
use groupwire_store::{Append, Error, Loaded, OpenError, Options, Part, Record, RoomLog, Store};
use tempfile::TempDir;

pub(crate) const DAY: Duration = Duration::from_secs(86_400);

/// A folder on a simulated disk, and a clock.
pub(crate) struct Machine {
    pub(crate) disk: Disk,
    pub(crate) now: Arc<AtomicU64>,
    pub(crate) options: Options,
    folder: TempDir,
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
        Self { disk, now, options, folder }
    }

    pub(crate) fn open(&self) -> Result<Store, OpenError> {
        Store::open(self.folder.path(), self.options.clone())
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

/// The calls that tests make, each waiting for its outcome.
pub(crate) trait Waiting {
    fn put(&self, room: &str, records: Vec<Record>) -> Result<(), Error>;
    fn save(&self, room: &str, part: Part) -> Result<(), Error>;
    fn remove(&self, room: &str) -> Result<(), Error>;
    fn get(&self, room: &str) -> Loaded;
}

impl Waiting for Store {
    fn put(&self, room: &str, records: Vec<Record>) -> Result<(), Error> {
        self.wait(|done| RoomLog::append(self, append(room, records), done))
    }

    fn save(&self, room: &str, part: Part) -> Result<(), Error> {
        self.wait(|done| self.save_part(room.into(), 7, part, None, Vec::new(), done))
    }

    fn remove(&self, room: &str) -> Result<(), Error> {
        self.wait(|done| self.delete(room.into(), done))
    }

    fn get(&self, room: &str) -> Loaded {
        self.load(room).unwrap().unwrap()
    }
}
