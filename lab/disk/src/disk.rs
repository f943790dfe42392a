//! A disk with the files of one folder, and what goes wrong with it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use oorandom::Rand32;
use rusqlite::ffi;

use crate::files::{Files, Inode};
use crate::locks::{FileLocks, WalIndex};
use crate::vfs;

/// A simulated disk for one folder. Clones are the same disk. It is gone when the last clone is
/// dropped and all its files are closed.
#[derive(Debug, Clone)]
pub struct Disk(Arc<Mounted>);

/// What goes wrong, until it is set to something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fault {
    /// Nothing goes wrong.
    #[default]
    None,
    /// Writes fail with an error of the device.
    Write,
    /// Syncs fail, and a part of the written bytes is lost.
    Sync,
    /// The files together cannot grow beyond this many bytes.
    Space(usize),
    /// The power fails at the n-th operation from now that changes the disk. From then on nothing
    /// works until [`Disk::crash`].
    PowerCut(u64),
}

#[derive(Debug)]
struct Mounted {
    folder: String,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
pub(crate) struct State {
    files: Files,
    locks: HashMap<Inode, FileLocks>,
    shared: HashMap<String, Arc<WalIndex>>,
    fault: Fault,
    random: Rand32,
    /// Goes up at each crash; files that were opened before do not work any more.
    generation: u64,
    operations: u64,
    next_handle: u64,
}

/// An open file.
#[derive(Debug)]
pub(crate) struct Handle {
    state: Arc<Mutex<State>>,
    pub(crate) owner: u64,
    name: String,
    inode: Inode,
    generation: u64,
    /// The folder is synced with the file's first sync, as SQLite does it for new logs.
    sync_folder: bool,
    delete_on_close: bool,
    shared: Option<Arc<WalIndex>>,
}

/// An error code of SQLite.
pub(crate) type Code = i32;

impl Disk {
    /// The name of the VFS, for opening databases.
    pub const VFS: &'static str = "groupwire-disk";

    /// A disk for the files in `folder`, a path without a slash at its end. The folder need not
    /// exist.
    pub fn new(folder: impl Into<String>) -> Self {
        vfs::register();
        let folder = folder.into();
        let state = Arc::new(Mutex::new(State {
            files: Files::default(),
            locks: HashMap::new(),
            shared: HashMap::new(),
            fault: Fault::None,
            random: Rand32::new(1),
            generation: 0,
            operations: 0,
            next_handle: 0,
        }));
        mounted().insert(folder.clone(), state.clone());
        Self(Arc::new(Mounted { folder, state }))
    }

    /// The power fails and comes back. Open files do not work any more; of what was not synced an
    /// arbitrary choice remains.
    pub fn crash(&self, seed: u64) {
        let mut state = self.state();
        let state = &mut *state;
        state.random = Rand32::new(seed);
        state.files.crash(&mut state.random);
        state.locks.clear();
        state.shared.clear();
        state.generation += 1;
        state.fault = Fault::None;
    }

    /// Sets the fault that operations meet from now on.
    pub fn set_fault(&self, fault: Fault) {
        let mut state = self.state();
        state.fault = match fault {
            Fault::PowerCut(operations) => Fault::PowerCut(state.operations + operations),
            other => other,
        };
    }

    /// The number of operations so far that changed the disk.
    pub fn operations(&self) -> u64 {
        self.state().operations
    }

    /// Flips a bit of a file, whose name is given without the folder.
    pub fn flip(&self, name: &str, byte: usize, bit: u8) {
        let mut state = self.state();
        if let Some(inode) = state.files.find(&format!("{}/{name}", self.0.folder)) {
            state.files.flip(inode, byte, bit);
        }
    }

    /// Puts a file with this content in the place of one, and removes all other files.
    pub fn replace(&self, name: &str, content: &[u8]) {
        let mut state = self.state();
        let names: Vec<_> = state.files.names().map(|(name, _)| name.to_owned()).collect();
        for name in names {
            state.files.delete(&name);
        }
        let inode = state.files.create(&format!("{}/{name}", self.0.folder));
        state.files.write(inode, 0, content);
        state.files.sync(inode);
        state.files.sync_folder();
        state.locks.clear();
        state.shared.clear();
    }

    /// All files with their content, as they are read.
    pub fn files(&self) -> Vec<(String, Vec<u8>)> {
        let state = self.state();
        state
            .files
            .names()
            .map(|(name, inode)| (name.to_owned(), state.files.content(inode).to_vec()))
            .collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.0.state)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        mounted().remove(&self.folder);
    }
}

impl State {
    // Counts an operation that changes the disk, and says whether it fails.
    fn operate(&mut self, failure: Code) -> Result<(), Code> {
        self.operations += 1;
        match self.fault {
            Fault::PowerCut(at) if self.operations >= at => Err(failure),
            _ => Ok(()),
        }
    }

    fn size(&self) -> usize {
        self.files.names().map(|(_, inode)| self.files.content(inode).len()).sum()
    }

    fn is_off(&self) -> bool {
        matches!(self.fault, Fault::PowerCut(at) if self.operations >= at)
    }
}

impl Handle {
    /// Opens a file, and creates it if the flags say so.
    pub(crate) fn open(name: &str, flags: i32) -> Result<Self, Code> {
        let state = disk_of(name).ok_or(ffi::SQLITE_CANTOPEN)?;
        let mut disk = lock(&state);
        if disk.is_off() {
            return Err(ffi::SQLITE_IOERR);
        }
        let found = disk.files.find(name);
        let is_new = found.is_none();
        let inode = match found {
            Some(inode) => inode,
            None if flags & ffi::SQLITE_OPEN_CREATE != 0 => {
                disk.operate(ffi::SQLITE_CANTOPEN)?;
                disk.files.create(name)
            }
            None => return Err(ffi::SQLITE_CANTOPEN),
        };
        let is_log = flags & (ffi::SQLITE_OPEN_WAL | ffi::SQLITE_OPEN_MAIN_JOURNAL) != 0;
        disk.next_handle += 1;
        let (owner, generation) = (disk.next_handle, disk.generation);
        drop(disk);
        Ok(Self {
            state,
            owner,
            name: name.to_owned(),
            inode,
            generation,
            sync_folder: is_new && is_log,
            delete_on_close: flags & ffi::SQLITE_OPEN_DELETEONCLOSE != 0,
            shared: None,
        })
    }

    fn disk(&self) -> Result<MutexGuard<'_, State>, Code> {
        let disk = lock(&self.state);
        if disk.is_off() || disk.generation != self.generation {
            Err(ffi::SQLITE_IOERR)
        } else {
            Ok(disk)
        }
    }

    /// Reads into `buffer`; returns the bytes that there were.
    pub(crate) fn read(&self, offset: usize, buffer: &mut [u8]) -> Result<usize, Code> {
        let disk = self.disk()?;
        let rest = disk.files.content(self.inode).get(offset..).unwrap_or_default();
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        Ok(length)
    }

    pub(crate) fn write(&self, offset: usize, bytes: &[u8]) -> Result<(), Code> {
        let mut disk = self.disk()?;
        if disk.fault == Fault::Write {
            return Err(ffi::SQLITE_IOERR_WRITE);
        }
        let growth = (offset + bytes.len()).saturating_sub(disk.files.content(self.inode).len());
        if matches!(disk.fault, Fault::Space(limit) if growth > 0 && disk.size() + growth > limit) {
            return Err(ffi::SQLITE_FULL);
        }
        // At a power cut the write may have arrived all the same.
        let outcome = disk.operate(ffi::SQLITE_IOERR_WRITE);
        disk.files.write(self.inode, offset, bytes);
        outcome
    }

    pub(crate) fn truncate(&self, size: usize) -> Result<(), Code> {
        let mut disk = self.disk()?;
        let outcome = disk.operate(ffi::SQLITE_IOERR_TRUNCATE);
        disk.files.truncate(self.inode, size);
        outcome
    }

    pub(crate) fn sync(&mut self) -> Result<(), Code> {
        let mut disk = self.disk()?;
        let state = &mut *disk;
        if state.fault == Fault::Sync {
            state.files.lose(self.inode, &mut state.random);
            return Err(ffi::SQLITE_IOERR_FSYNC);
        }
        state.operate(ffi::SQLITE_IOERR_FSYNC)?;
        state.files.sync(self.inode);
        if self.sync_folder {
            state.files.sync_folder();
        }
        drop(disk);
        self.sync_folder = false;
        Ok(())
    }

    pub(crate) fn size(&self) -> Result<usize, Code> {
        Ok(self.disk()?.files.content(self.inode).len())
    }

    pub(crate) fn lock(&self, level: i32) -> Result<(), Code> {
        let locked = self.disk()?.locks.entry(self.inode).or_default().lock(self.owner, level);
        if locked { Ok(()) } else { Err(ffi::SQLITE_BUSY) }
    }

    pub(crate) fn unlock(&self, level: i32) -> Result<(), Code> {
        self.disk()?.locks.entry(self.inode).or_default().unlock(self.owner, level);
        Ok(())
    }

    pub(crate) fn is_reserved(&self) -> Result<bool, Code> {
        Ok(self.disk()?.locks.get(&self.inode).is_some_and(FileLocks::is_reserved))
    }

    /// The memory that all connections to this database share.
    pub(crate) fn shared(&mut self) -> Result<Arc<WalIndex>, Code> {
        if let Some(shared) = &self.shared {
            return Ok(shared.clone());
        }
        let shared = self.disk()?.shared.entry(self.name.clone()).or_default().clone();
        self.shared = Some(shared.clone());
        Ok(shared)
    }

    pub(crate) fn unmap(&mut self) {
        if let Some(shared) = self.shared.take() {
            shared.unlock(self.owner, 0..8);
            let mut disk = lock(&self.state);
            // The last connection is closed: the disk's own reference and this one are left.
            if disk.generation == self.generation && Arc::strong_count(&shared) == 2 {
                disk.shared.remove(&self.name);
            }
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.unmap();
        let _ = self.unlock(0);
        if self.delete_on_close {
            let _ = delete(&self.name, false);
        }
    }
}

/// Deletes a file, and syncs the folder if asked to.
pub(crate) fn delete(name: &str, sync_folder: bool) -> Result<(), Code> {
    let disk = disk_of(name).ok_or(ffi::SQLITE_IOERR_DELETE)?;
    let mut disk = lock(&disk);
    if disk.is_off() {
        return Err(ffi::SQLITE_IOERR_DELETE);
    }
    disk.operate(ffi::SQLITE_IOERR_DELETE)?;
    if !disk.files.delete(name) {
        return Err(ffi::SQLITE_IOERR_DELETE_NOENT);
    }
    if sync_folder {
        disk.files.sync_folder();
    }
    Ok(())
}

/// True if the file is there.
pub(crate) fn exists(name: &str) -> bool {
    disk_of(name).is_some_and(|disk| lock(&disk).files.find(name).is_some())
}

fn disk_of(name: &str) -> Option<Arc<Mutex<State>>> {
    let (folder, _) = name.rsplit_once('/')?;
    mounted().get(folder).cloned()
}

type Disks = HashMap<String, Arc<Mutex<State>>>;

fn mounted() -> MutexGuard<'static, Disks> {
    static DISKS: OnceLock<Mutex<Disks>> = OnceLock::new();
    lock(DISKS.get_or_init(Mutex::default))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
