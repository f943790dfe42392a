//! The table of C functions by which SQLite reaches the disk. All unsafe code of this crate is
//! here: SQLite asks for functions that take raw pointers.
//!
//! SQLite promises that its pointers are valid during a call, and that it uses one file from one
//! thread at a time.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::slice;
use std::sync::Once;
use std::time::Duration;

use rusqlite::ffi;

use crate::disk::{self, Code, Disk, Handle};
use crate::locks::WalIndex;

// The memory is changed by SQLite, under its own locks and barriers, from the threads of all
// connections.
unsafe impl Send for WalIndex {}
unsafe impl Sync for WalIndex {}

/// SQLite's file with our handle behind it. SQLite allocates it, `szOsFile` bytes.
#[repr(C)]
struct File {
    base: ffi::sqlite3_file,
    handle: *mut Handle,
}

static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

/// Makes the VFS known to SQLite, once in a process.
pub(crate) fn register() {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        let name = std::ffi::CString::new(Disk::VFS).expect("the name has no NUL");
        // SQLite keeps the table and its name as long as the process lives.
        let vfs = Box::leak(Box::new(ffi::sqlite3_vfs {
            iVersion: 1,
            szOsFile: size_of::<File>() as c_int,
            mxPathname: 1024,
            pNext: ptr::null_mut(),
            zName: name.into_raw(),
            pAppData: ptr::null_mut(),
            xOpen: Some(open),
            xDelete: Some(delete),
            xAccess: Some(access),
            xFullPathname: Some(full_pathname),
            xDlOpen: None,
            xDlError: None,
            xDlSym: None,
            xDlClose: None,
            xRandomness: Some(randomness),
            xSleep: Some(sleep),
            xCurrentTime: Some(current_time),
            xGetLastError: None,
            xCurrentTimeInt64: None,
            xSetSystemCall: None,
            xGetSystemCall: None,
            xNextSystemCall: None,
        }));
        // SAFETY: the table is complete for version 1 and lives for ever.
        let outcome = unsafe { ffi::sqlite3_vfs_register(vfs, 0) };
        assert_eq!(outcome, ffi::SQLITE_OK, "SQLite refuses the VFS");
    });
}

fn code(outcome: Result<(), Code>) -> c_int {
    outcome.err().unwrap_or(ffi::SQLITE_OK)
}

unsafe fn handle<'a>(file: *mut ffi::sqlite3_file) -> &'a mut Handle {
    // SAFETY: `open` put a handle there, and only `close` takes it away.
    unsafe { &mut *(*file.cast::<File>()).handle }
}

unsafe fn text<'a>(name: *const c_char) -> Option<&'a str> {
    // SAFETY: SQLite's names end with NUL.
    if name.is_null() { None } else { unsafe { CStr::from_ptr(name) }.to_str().ok() }
}

unsafe extern "C" fn open(
    _: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    unsafe {
        (*file).pMethods = ptr::null();
        // Temporary files without a name are not made: the store needs none.
        let Some(name) = text(name) else { return ffi::SQLITE_CANTOPEN };
        match Handle::open(name, flags) {
            Ok(handle) => {
                let base = ffi::sqlite3_file { pMethods: &raw const METHODS };
                file.cast::<File>().write(File { base, handle: Box::into_raw(Box::new(handle)) });
                if !out_flags.is_null() {
                    *out_flags = flags;
                }
                ffi::SQLITE_OK
            }
            Err(code) => code,
        }
    }
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: the handle came from `Box::into_raw` in `open`, and SQLite does not use the file
    // after this call.
    drop(unsafe { Box::from_raw((*file.cast::<File>()).handle) });
    ffi::SQLITE_OK
}

unsafe extern "C" fn read(
    file: *mut ffi::sqlite3_file,
    buffer: *mut c_void,
    length: c_int,
    offset: i64,
) -> c_int {
    let buffer = unsafe { slice::from_raw_parts_mut(buffer.cast::<u8>(), length as usize) };
    match unsafe { handle(file) }.read(offset as usize, buffer) {
        Ok(read) if read == buffer.len() => ffi::SQLITE_OK,
        Ok(read) => {
            buffer[read..].fill(0);
            ffi::SQLITE_IOERR_SHORT_READ
        }
        Err(code) => code,
    }
}

unsafe extern "C" fn write(
    file: *mut ffi::sqlite3_file,
    bytes: *const c_void,
    length: c_int,
    offset: i64,
) -> c_int {
    let bytes = unsafe { slice::from_raw_parts(bytes.cast::<u8>(), length as usize) };
    code(unsafe { handle(file) }.write(offset as usize, bytes))
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, size: i64) -> c_int {
    code(unsafe { handle(file) }.truncate(size as usize))
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, _flags: c_int) -> c_int {
    code(unsafe { handle(file) }.sync())
}

unsafe extern "C" fn file_size(file: *mut ffi::sqlite3_file, size: *mut i64) -> c_int {
    code(unsafe { handle(file) }.size().map(|found| unsafe { *size = found as i64 }))
}

unsafe extern "C" fn lock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    code(unsafe { handle(file) }.lock(level))
}

unsafe extern "C" fn unlock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    code(unsafe { handle(file) }.unlock(level))
}

unsafe extern "C" fn check_reserved_lock(file: *mut ffi::sqlite3_file, out: *mut c_int) -> c_int {
    code(unsafe { handle(file) }.is_reserved().map(|is| unsafe { *out = c_int::from(is) }))
}

unsafe extern "C" fn file_control(_: *mut ffi::sqlite3_file, _: c_int, _: *mut c_void) -> c_int {
    ffi::SQLITE_NOTFOUND
}

unsafe extern "C" fn sector_size(_: *mut ffi::sqlite3_file) -> c_int {
    4096
}

// As SQLite's VFS for Unix: a write changes no byte beside it, even if the power fails.
unsafe extern "C" fn device_characteristics(_: *mut ffi::sqlite3_file) -> c_int {
    ffi::SQLITE_IOCAP_POWERSAFE_OVERWRITE
}

unsafe extern "C" fn shm_map(
    file: *mut ffi::sqlite3_file,
    region: c_int,
    size: c_int,
    extend: c_int,
    out: *mut *mut c_void,
) -> c_int {
    let handle = unsafe { handle(file) };
    let found =
        handle.shared().map(|shared| shared.region(region as usize, size as usize, extend != 0));
    code(found.map(|memory| unsafe { *out = memory.map_or(ptr::null_mut(), <*mut u64>::cast) }))
}

unsafe extern "C" fn shm_lock(
    file: *mut ffi::sqlite3_file,
    first: c_int,
    count: c_int,
    flags: c_int,
) -> c_int {
    let handle = unsafe { handle(file) };
    let (owner, slots) = (handle.owner, first as usize..(first + count) as usize);
    match handle.shared() {
        Ok(shared) if flags & ffi::SQLITE_SHM_UNLOCK != 0 => {
            shared.unlock(owner, slots);
            ffi::SQLITE_OK
        }
        Ok(shared) if shared.lock(owner, slots, flags & ffi::SQLITE_SHM_EXCLUSIVE != 0) => {
            ffi::SQLITE_OK
        }
        Ok(_) => ffi::SQLITE_BUSY,
        Err(code) => code,
    }
}

unsafe extern "C" fn shm_barrier(_: *mut ffi::sqlite3_file) {
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
}

unsafe extern "C" fn shm_unmap(file: *mut ffi::sqlite3_file, _delete: c_int) -> c_int {
    unsafe { handle(file) }.unmap();
    ffi::SQLITE_OK
}

unsafe extern "C" fn delete(_: *mut ffi::sqlite3_vfs, name: *const c_char, sync: c_int) -> c_int {
    let name = unsafe { text(name) };
    code(name.ok_or(ffi::SQLITE_IOERR_DELETE).and_then(|name| disk::delete(name, sync != 0)))
}

unsafe extern "C" fn access(
    _: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    _flags: c_int,
    out: *mut c_int,
) -> c_int {
    unsafe { *out = c_int::from(text(name).is_some_and(disk::exists)) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn full_pathname(
    _: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    length: c_int,
    out: *mut c_char,
) -> c_int {
    // Names are absolute already.
    let bytes = unsafe { CStr::from_ptr(name) }.to_bytes_with_nul();
    if bytes.len() > length as usize {
        return ffi::SQLITE_CANTOPEN;
    }
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), out.cast(), bytes.len()) };
    ffi::SQLITE_OK
}

// SQLite takes its random numbers from the system's VFS; this one is asked for nothing that has to
// be random.
unsafe extern "C" fn randomness(
    _: *mut ffi::sqlite3_vfs,
    length: c_int,
    out: *mut c_char,
) -> c_int {
    unsafe { ptr::write_bytes(out, 7, length as usize) };
    length
}

// SQLite waits for another thread, a hundred times at most, so time has to pass: without it, a
// reader gave up ("locking protocol") when the thread that held a lock was not run for long.
unsafe extern "C" fn sleep(_: *mut ffi::sqlite3_vfs, microseconds: c_int) -> c_int {
    std::thread::sleep(Duration::from_micros(microseconds.max(0) as u64));
    microseconds
}

unsafe extern "C" fn current_time(_: *mut ffi::sqlite3_vfs, out: *mut f64) -> c_int {
    // The Julian day of 1970-01-01.
    unsafe { *out = 2_440_587.5 };
    ffi::SQLITE_OK
}
