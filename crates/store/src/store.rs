//! The handle of an open store.

use std::fs::{self, File};
use std::io::{BufReader, ErrorKind};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::api::{Append, Loaded, Part, Record, RoomInfo, Usage};
use crate::change::{Change, SavePart};
use crate::error::{Error, NotNow, OpenError};
use crate::forget::Forget;
use crate::lock::{Lock, io_error};
use crate::options::Options;
use crate::private_file::{close_store_to_others, create_private_folder, open_or_create_private};
use crate::request::{Answer, Done, Request, Task};
use crate::state::Shared;
use crate::stores::{Directory, Monitor, RoomLog};
use crate::times::Times;
use crate::wal::wal_is_damaged;
use crate::writer::Writer;
use crate::{load, outbox, scan, schema, shard};

/// The most requests that wait for the writer. A room has a few of them under way, so this is
/// enough for thousands of rooms.
const QUEUE: usize = 16_384;

/// A store in a folder: an SQLite database, and a thread that writes.
///
/// Dropping it carries out all requests, and then closes the folder.
#[derive(Debug)]
pub struct Store {
    shared: Arc<Shared>,
    requests: SyncSender<Request>,
    writer: Option<JoinHandle<()>>,
    _lock: Lock,
}

impl Store {
    /// Opens the store in `folder`, which is created if it is missing, and reads the whole log.
    pub fn open(folder: impl AsRef<Path>, options: Options) -> Result<Self, OpenError> {
        let folder = folder.as_ref();
        let io = |error: std::io::Error| io_error(folder, &error);
        create_private_folder(folder).map_err(io)?;
        let lock = Lock::take(folder)?;
        close_store_to_others(folder);
        if options.vfs.is_none() {
            check_writable(folder)?;
            // SQLite gives the files beside the database the same rights.
            open_or_create_private(folder.join(schema::DATABASE)).map_err(io)?;
            // A commit of a cache is not synced before the next one is written.
            if !options.is_cache {
                check_wal(folder)?;
            }
        }
        let db = schema::open_writer(folder, &options)?;
        sync_folder(folder).map_err(io)?;
        let describe = |error| schema::describe(folder, error);
        if options.vfs.is_none() {
            read_ahead(&folder.join(schema::DATABASE)).map_err(io)?;
        }
        let now = (options.clock)();
        let mut state = scan::scan(&db, now).map_err(describe)?;
        if !options.is_cache {
            shard::forget(&db).map_err(describe)?;
        }
        state.outbox = match outbox::open(&db, options.outbox.is_some(), now) {
            // Nobody needs the events that could not be dropped; the next start tries again.
            Err(_) if options.outbox.is_none() => None,
            outbox => outbox.map_err(describe)?,
        };
        if options.is_cache {
            state.shards = shard::open(&db).map_err(describe)?;
        }
        schema::enlarge_cache(&db).map_err(describe)?;
        // While the writer writes, nobody else does. Only the truncation of the write-ahead log can
        // meet a reader, and it is tried again instead of waiting.
        db.busy_timeout(Duration::ZERO).map_err(describe)?;

        let shared = Arc::new(Shared::new(folder.to_owned(), options, state));
        let (requests, receiver) = sync_channel(QUEUE);
        let writer = Writer::new(db, shared.clone());
        let writer = thread::Builder::new()
            .name("groupwire-store".into())
            .spawn(move || writer.run(&receiver))
            .map_err(io)?;
        Ok(Self { shared, requests, writer: Some(writer), _lock: lock })
    }

    /// Reads stored records from a position on, in order, until their content exceeds `max_bytes`;
    /// at least one if there is one. Records that a snapshot covers are there as long as the time
    /// of history. This reads the disk.
    pub fn read(&self, room: &str, from: u64, max_bytes: u64) -> Result<Vec<Record>, Error> {
        load::read(&self.shared, room, from, max_bytes)
    }

    /// Trims at once what is older than the time of history, and then calls `done`. The store does
    /// so by itself, too, every ten minutes.
    pub fn trim(&self, done: Done) {
        self.send(done, Request::Trim);
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    pub(crate) fn send(&self, done: Done, request: impl FnOnce(Answer) -> Request) {
        match self.requests.try_send(request(Answer::new(done))) {
            Ok(()) => {}
            // The answer is in the request, and `Answer` always gives one.
            Err(TrySendError::Full(request)) => request.refuse(Error::NotNow(NotNow::Busy)),
            Err(TrySendError::Disconnected(request)) => drop(request),
        }
    }
}

impl RoomLog for Store {
    fn append(&self, append: Append, done: Done) {
        let task = Task { changes: vec![Change::Append(append)], logged: None };
        self.send(done, |answer| Request::Apply(task, answer));
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
        self.send(done, |answer| Request::SavePart(save, answer));
    }

    fn load(&self, room: &str) -> Result<Option<Loaded>, Error> {
        load::load(&self.shared, room)
    }

    fn begin_again(&self, room: String, incarnation: u64, done: Done) {
        self.send(done, |answer| Request::BeginAgain(room, incarnation, answer));
    }
}

impl Directory for Store {
    fn rooms(&self) -> Vec<RoomInfo> {
        self.shared.state().list()
    }

    fn contains(&self, room: &str) -> bool {
        self.shared.state().rooms.contains_key(room)
    }

    fn inactive(&self, rules: &[Forget]) -> Vec<String> {
        let now = self.shared.now();
        self.shared.state().inactive(rules, now)
    }

    fn delete(&self, room: String, done: Done) {
        self.send(done, |answer| Request::Delete(room, answer));
    }

    fn erase(&self, done: Done) {
        self.send(done, Request::Erase);
    }
}

impl Monitor for Store {
    fn usage(&self) -> Usage {
        self.shared.state().usage()
    }

    fn refusal(&self) -> Option<Error> {
        self.shared.state().refusal()
    }

    fn max_bytes(&self) -> u64 {
        self.shared.options.max_bytes
    }

    fn disk_bytes(&self) -> u64 {
        let size = |end| {
            let file = self.shared.folder.join(format!("{}{end}", schema::DATABASE));
            fs::metadata(file).map_or(0, |file| file.len())
        };
        size("") + size("-wal")
    }

    fn commit_times(&self) -> &Times {
        &self.shared.commit_times
    }

    fn sync_times(&self) -> &Times {
        &self.shared.sync_times
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // Waits for a place in the queue; the writer carries out all before it.
        let _ = self.requests.send(Request::Stop);
        if let Some(writer) = self.writer.take() {
            // If the writer panicked, all requests were answered with `Poisoned`.
            let _ = writer.join();
        }
    }
}

// SQLite opens a file that it cannot write for reading, makes the files beside it read-only, too,
// and fails at the first commit.
fn check_writable(folder: &Path) -> Result<(), OpenError> {
    for end in ["", "-wal", "-shm"] {
        let file = folder.join(format!("{}{end}", schema::DATABASE));
        match File::options().write(true).open(file) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(io_error(folder, &error));
            }
            _ => {}
        }
    }
    Ok(())
}

pub(crate) fn check_wal(folder: &Path) -> Result<(), OpenError> {
    let wal = match fs::read(folder.join(format!("{}-wal", schema::DATABASE))) {
        Ok(wal) => wal,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(io_error(folder, &error)),
    };
    if wal_is_damaged(&wal) {
        let reason = "the write-ahead log is damaged before its end".into();
        return Err(OpenError::Damaged { folder: folder.to_owned(), reason });
    }
    Ok(())
}

// Brings the file into the system's cache. SQLite reads it page by page along the tree, which took
// 22 s for a cold log of 1 GB where reading it through first took 2 s.
fn read_ahead(file: &Path) -> std::io::Result<()> {
    let mut file = BufReader::with_capacity(1 << 20, File::open(file)?);
    std::io::copy(&mut file, &mut std::io::sink()).map(drop)
}

// Makes the names of new files durable.
pub(crate) fn sync_folder(folder: &Path) -> std::io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
