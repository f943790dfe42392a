//! The handle of an open store.

use std::fs::{self, File};
use std::io::{BufReader, ErrorKind};
use std::path::Path;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::api::{Append, Loaded, Part, Record, RoomInfo, Usage};
use crate::error::{Error, NotNow, OpenError};
use crate::lock::{Lock, io_error};
use crate::options::Options;
use crate::private_file::{close_store_to_others, create_private_folder, open_or_create_private};
use crate::request::{Answer, Done, Request, SavePart};
use crate::state::Shared;
use crate::times::Times;
use crate::wal::wal_is_damaged;
use crate::writer::Writer;
use crate::{load, outbox, scan, schema};

/// Requests that wait for the writer, at most. A room has a few of them under way, so this is enough for thousands of rooms.
const QUEUE: usize = 16_384;

/// A durable log of all rooms of a server.
///
/// The server's part of a room uses this and nothing else, so that rooms can be stored in other ways, too.
pub trait RoomLog: Send + Sync {
    /// Stores records, meta data and reserved numbers of a room, and then calls `done`. After `Ok` they survive a power cut.
    /// After an error nothing of the append is stored. Appends of one room are carried out in order; if one is refused, the
    /// later ones do not continue the room's positions and are refused, too.
    fn append(&self, append: Append, done: Done);

    /// Stores a part of a room's snapshot, and the room's meta data with it if there is any, puts the events into the outbox, and then
    /// calls `done`.
    fn save_part(
        &self,
        room: String,
        incarnation: u64,
        part: Part,
        meta: Option<Vec<u8>>,
        events: Vec<Vec<u8>>,
        done: Done,
    );

    /// Loads a room; `None` if it is not stored. This reads the disk.
    fn load(&self, room: &str) -> Result<Option<Loaded>, Error>;

    /// Reads stored records from a position on, in order, until their content exceeds `max_bytes`; at least one if there is
    /// one. Records that a snapshot covers are there as long as the time of history. This reads the disk.
    fn read(&self, room: &str, from: u64, max_bytes: u64) -> Result<Vec<Record>, Error>;

    /// Gives a room a new incarnation, because [`Loaded::damage`] was not empty, and then calls `done`. What could be loaded
    /// stays; what was damaged is removed.
    fn begin_again(&self, room: String, incarnation: u64, done: Done);

    /// Deletes a room, and then calls `done`. What it held is erased from the disk within minutes; [`Store::erase`] waits
    /// for that.
    fn delete(&self, room: String, done: Done);
}

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
            check_wal(folder)?;
        }
        let db = schema::open_writer(folder, &options)?;
        sync_folder(folder).map_err(io)?;
        let describe = |error| schema::describe(folder, error);
        if options.vfs.is_none() {
            read_ahead(&folder.join(schema::DATABASE)).map_err(io)?;
        }
        let now = (options.clock)();
        let mut state = scan::scan(&db, now).map_err(describe)?;
        state.outbox = match outbox::open(&db, options.outbox.is_some(), now) {
            // Nobody needs the events that could not be dropped; the next start tries again.
            Err(_) if options.outbox.is_none() => None,
            outbox => outbox.map_err(describe)?,
        };
        schema::enlarge_cache(&db).map_err(describe)?;
        // While the writer writes, nobody else does. Only the truncation of the write-ahead log can meet a reader, and it is
        // tried again instead of waiting.
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

    /// All rooms, by name.
    pub fn rooms(&self) -> Vec<RoomInfo> {
        let state = self.shared.state();
        let mut rooms: Vec<_> = state
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

    /// True if a room of this name is stored.
    pub fn contains(&self, room: &str) -> bool {
        self.shared.state().rooms.contains_key(room)
    }

    /// What the store holds.
    pub fn usage(&self) -> Usage {
        self.shared.state().usage()
    }

    /// The quota of bytes of all rooms, [`Options::max_bytes`].
    pub fn max_bytes(&self) -> u64 {
        self.shared.options.max_bytes
    }

    /// How long commits took, their syncs included.
    pub fn commit_times(&self) -> &Times {
        &self.shared.commit_times
    }

    /// How long the syncs of the store's thread took: one of each commit, and those of checkpoints.
    pub fn sync_times(&self) -> &Times {
        &self.shared.sync_times
    }

    /// The size of the database and its write-ahead log on the disk, in bytes. This asks the file system.
    pub fn disk_bytes(&self) -> u64 {
        let size = |end| {
            let file = self.shared.folder.join(format!("{}{end}", schema::DATABASE));
            fs::metadata(file).map_or(0, |file| file.len())
        };
        size("") + size("-wal")
    }

    /// Why the store takes no records: [`Error::Poisoned`] from the first write that failed on, [`Error::NotNow`] while there
    /// is no space for any room. `None` if it takes them, as far as the newest request shows.
    pub fn refusal(&self) -> Option<Error> {
        let state = self.shared.state();
        state.check_poison().err().or(state.refused.map(Error::NotNow))
    }

    /// Calls `done` when nothing that was deleted is on the disk any more.
    pub fn erase(&self, done: Done) {
        self.send(done, Request::Erase);
    }

    /// Trims at once what is older than the time of history, and then calls `done`. The store does so by itself, too, every
    /// ten minutes.
    pub fn trim(&self, done: Done) {
        self.send(done, Request::Trim);
    }

    /// Waits for the outcome of a request: `store.wait(|done| store.append(append, done))`.
    pub fn wait(&self, request: impl FnOnce(Done)) -> Result<(), Error> {
        let (sender, receiver) = mpsc::channel();
        request(Box::new(move |outcome| drop(sender.send(outcome))));
        receiver.recv().unwrap_or_else(|_| Err(Error::Poisoned("the request was lost".into())))
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
        self.send(done, |answer| Request::Append(append, answer));
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

    fn read(&self, room: &str, from: u64, max_bytes: u64) -> Result<Vec<Record>, Error> {
        load::read(&self.shared, room, from, max_bytes)
    }

    fn begin_again(&self, room: String, incarnation: u64, done: Done) {
        self.send(done, |answer| Request::BeginAgain(room, incarnation, answer));
    }

    fn delete(&self, room: String, done: Done) {
        self.send(done, |answer| Request::Delete(room, answer));
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

// SQLite opens a file that it cannot write for reading, makes the files beside it read-only, too, and fails at the first commit.
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

// Brings the file into the system's cache. SQLite reads it page by page along the tree, which took 22 s for a cold log of 1 GB
// where reading it through first took 2 s.
fn read_ahead(file: &Path) -> std::io::Result<()> {
    let mut file = BufReader::with_capacity(1 << 20, File::open(file)?);
    std::io::copy(&mut file, &mut std::io::sink()).map(drop)
}

// Makes the names of new files durable.
fn sync_folder(folder: &Path) -> std::io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
