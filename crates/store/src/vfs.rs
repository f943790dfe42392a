//! Stands between SQLite and the VFS that reads and writes its files, and clears the gaps
//! (`gap.rs`) of pages that are written to a database. It also counts syncs. All unsafe code of
//! this crate is here: SQLite asks for functions that take raw pointers.
//!
//! The table of a file's functions is replaced by a copy, in which writing, syncing and closing are
//! ours. All other calls go to the underlying VFS, to which the file still belongs.
#![allow(unsafe_code)]

use std::cell::{Cell, OnceCell};
use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr;
use std::slice;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use rusqlite::{Error, ffi};

use crate::gap;
use crate::times::Times;

/// The prefix of the names of our VFSes; the name of the underlying VFS follows.
const NAME: &str = "groupwire-clearing-gaps/";

/// Our VFS and the underlying one. SQLite keeps both as long as the process lives.
#[repr(C)]
struct Vfs {
    ours: ffi::sqlite3_vfs,
    beneath: *mut ffi::sqlite3_vfs,
}

thread_local! {
    /// A store writes with one thread of its own, so that these are the syncs of one store.
    static SYNCS: Cell<u64> = const { Cell::new(0) };
    /// Where the durations of this thread's syncs are counted.
    static SYNC_TIMES: OnceCell<Arc<Times>> = const { OnceCell::new() };
}

/// The number of syncs that SQLite made on this thread.
pub(crate) fn syncs() -> u64 {
    SYNCS.get()
}

/// Counts from now on in `times` how long syncs take that SQLite makes on this thread.
pub(crate) fn time_syncs(times: Arc<Times>) {
    // A thread writes for one store.
    let _ = SYNC_TIMES.with(|place| place.set(times));
}

/// The functions of an open file, a database or its write-ahead log.
#[repr(C)]
struct Methods {
    ours: ffi::sqlite3_io_methods,
    beneath: *const ffi::sqlite3_io_methods,
}

/// The name of the VFS that clears gaps and passes all other work to the VFS `beneath`; `None` is
/// the system's.
pub(crate) fn clearing_gaps(beneath: Option<&str>) -> rusqlite::Result<String> {
    /// Two threads must not register one name.
    static REGISTERING: Mutex<()> = Mutex::new(());
    let _registering = REGISTERING.lock().unwrap_or_else(PoisonError::into_inner);

    let name = format!("{NAME}{}", beneath.unwrap_or_default());
    let c_name = CString::new(name.as_str())?;
    let c_beneath = beneath.map(CString::new).transpose()?;
    // SAFETY: the names end with NUL. SQLite returns a table that it keeps, or null.
    unsafe {
        if !ffi::sqlite3_vfs_find(c_name.as_ptr()).is_null() {
            return Ok(name);
        }
        let found = ffi::sqlite3_vfs_find(c_beneath.as_ref().map_or(ptr::null(), |n| n.as_ptr()));
        if found.is_null() {
            let reason = format!("there is no VFS {}", beneath.unwrap_or("of the system"));
            let code = ffi::Error::new(ffi::SQLITE_CANTOPEN);
            return Err(Error::SqliteFailure(code, Some(reason)));
        }
        let ours = ffi::sqlite3_vfs {
            pNext: ptr::null_mut(),
            zName: c_name.into_raw(),
            xOpen: Some(open),
            ..*found
        };
        let vfs = Box::into_raw(Box::new(Vfs { ours, beneath: found }));
        match ffi::sqlite3_vfs_register(vfs.cast(), 0) {
            ffi::SQLITE_OK => Ok(name),
            code => Err(Error::SqliteFailure(ffi::Error::new(code), None)),
        }
    }
}

unsafe extern "C" fn open(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    // SAFETY: SQLite calls this with the table that `clearing_gaps` registered, and with room for a
    // file of the underlying VFS.
    unsafe {
        let beneath = (*vfs.cast::<Vfs>()).beneath;
        let Some(open) = (*beneath).xOpen else { return ffi::SQLITE_CANTOPEN };
        let code = open(beneath, name, file, flags, out_flags);
        let methods = (*file).pMethods;
        let is_database = flags & ffi::SQLITE_OPEN_MAIN_DB != 0;
        let is_ours = is_database || flags & ffi::SQLITE_OPEN_WAL != 0;
        if code == ffi::SQLITE_OK && is_ours && !methods.is_null() {
            let mut ours =
                ffi::sqlite3_io_methods { xSync: Some(sync), xClose: Some(close), ..*methods };
            if is_database {
                ours.xWrite = Some(write);
            }
            let methods = Box::into_raw(Box::new(Methods { ours, beneath: methods }));
            (*file).pMethods = methods.cast();
        }
        code
    }
}

unsafe extern "C" fn write(
    file: *mut ffi::sqlite3_file,
    bytes: *const c_void,
    length: c_int,
    offset: i64,
) -> c_int {
    // SAFETY: `open` put our table there; SQLite gives `length` bytes that stay during the call.
    unsafe {
        let beneath = (*(*file).pMethods.cast::<Methods>()).beneath;
        let Some(write) = (*beneath).xWrite else { return ffi::SQLITE_IOERR_WRITE };
        let page = slice::from_raw_parts(bytes.cast::<u8>(), length as usize);
        // SQLite writes a database page by page.
        match gap::clear(page) {
            Some(page) => write(file, page.as_ptr().cast(), length, offset),
            None => write(file, bytes, length, offset),
        }
    }
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, flags: c_int) -> c_int {
    SYNCS.set(SYNCS.get() + 1);
    let start = Instant::now();
    // SAFETY: `open` put our table there.
    let code = unsafe {
        let beneath = (*(*file).pMethods.cast::<Methods>()).beneath;
        (*beneath).xSync.map_or(ffi::SQLITE_OK, |sync| sync(file, flags))
    };
    // The thread's own values may be gone already while it ends.
    let _ = SYNC_TIMES.try_with(|times| {
        if let Some(times) = times.get() {
            times.add(start.elapsed());
        }
    });
    code
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: the table came from `Box::into_raw` in `open`, and nothing uses it once the file has
    // the underlying one again.
    unsafe {
        let methods = Box::from_raw((*file).pMethods.cast_mut().cast::<Methods>());
        (*file).pMethods = methods.beneath;
        (*methods.beneath).xClose.map_or(ffi::SQLITE_OK, |close| close(file))
    }
}
