//! Shared data: opening, batches, undo. Values are JSON texts.
#![allow(unsafe_code)]

mod holders;
mod list;
mod map;

pub use holders::*;
pub use list::*;
pub use map::*;

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::ptr::null;

use groupwire_ffi::{Error, Json, SharedOptions};

use crate::arguments::{check_out, optional_text, put, put_optional, structure, text};
use crate::call::{c_string, call};
use crate::table::find;
use crate::types::*;

thread_local! {
    /// The text that the last call of this thread has written a pointer to.
    static READ: RefCell<CString> = RefCell::default();
}

/// Opens shared data (docs/shared.md), and writes its number in this room, for the functions below.
/// If shared data of this name is open already, writes its number, and the options have no effect.
/// `options` may be null.
///
/// Values are JSON, and texts that are read are UTF-8 which ends with NUL. They are valid until the
/// next call of this thread that reads a text of shared data.
///
/// # Safety
/// `options` is filled in, `data` points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_shared(
    room: gw_room,
    options: *const gw_shared_options,
    data: *mut u32,
) -> u32 {
    call(|| {
        check_out("`data`", data)?;
        // SAFETY: the caller passes valid pointers.
        let options = unsafe { read_options(options)? };
        let number = find(room)?.room.shared(&options)?;
        // SAFETY: checked, and a number as the caller says.
        unsafe { put(data, number) };
        Ok(())
    })
}

/// Writes the state of shared data.
///
/// # Safety
/// `state` points to a gw_shared_state.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_get_shared_state(
    room: gw_room,
    data: u32,
    state: *mut gw_shared_state,
) -> u32 {
    call(|| {
        check_out("`state`", state)?;
        let found = find(room)?.room.shared_state(data)?;
        let shown = gw_shared_state {
            pending: found.pending,
            complete: u8::from(found.complete),
            restoring: u8::from(found.restoring),
            can_undo: u8::from(found.can_undo),
            can_redo: u8::from(found.can_redo),
        };
        // SAFETY: checked, and a gw_shared_state as the caller says.
        unsafe { put(state, shown) };
        Ok(())
    })
}

/// Writes the id of this program among the authors of operations.
///
/// # Safety
/// `author` points to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_shared_author(
    room: gw_room,
    data: u32,
    author: *mut *const c_char,
) -> u32 {
    // SAFETY: as this function's.
    call(|| unsafe {
        put_text("`author`", author, || Ok(Some(find(room)?.room.shared_state(data)?.author)))
    })
}

/// Begins a batch: all changes up to gw_end_batch become one operation, which others see as a
/// whole, and which is undone as a whole. Reading sees them already. Until the batch ends, gw_poll
/// gives no events, so end it soon. GW_CODE_BUSY if a batch is open.
#[unsafe(no_mangle)]
pub extern "C" fn gw_begin_batch(room: gw_room, data: u32) -> u32 {
    call(|| find(room)?.room.begin_batch(data))
}

/// Ends a batch, and sends its changes. If that fails, they are taken back. Does nothing if none is
/// open.
#[unsafe(no_mangle)]
pub extern "C" fn gw_end_batch(room: gw_room, data: u32) -> u32 {
    call(|| find(room)?.room.end_batch(data))
}

/// Ends a batch, and takes its changes back. Does nothing if none is open.
#[unsafe(no_mangle)]
pub extern "C" fn gw_abort_batch(room: gw_room, data: u32) -> u32 {
    call(|| find(room)?.room.abort_batch(data))
}

/// Undoes the last own operation that others have not overwritten. Writes 1 to `undone`, which may
/// be null, or 0 if there is none. GW_CODE_BUSY while a batch is open.
///
/// # Safety
/// `undone` points to an int.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_undo(room: gw_room, data: u32, undone: *mut i32) -> u32 {
    // SAFETY: as this function's.
    call(|| unsafe {
        put_optional("`undone`", undone, || Ok(i32::from(find(room)?.room.undo(data)?)))
    })
}

/// Does again what gw_undo has undone. Writes 1 to `redone`, which may be null, or 0 if there is
/// nothing.
///
/// # Safety
/// `redone` points to an int.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_redo(room: gw_room, data: u32, redone: *mut i32) -> u32 {
    // SAFETY: as this function's.
    call(|| unsafe {
        put_optional("`redone`", redone, || Ok(i32::from(find(room)?.room.redo(data)?)))
    })
}

/// # Safety
/// The pointers are null or valid.
unsafe fn read_options(options: *const gw_shared_options) -> Result<SharedOptions, Error> {
    let usual = SharedOptions::default();
    // SAFETY: as this function's.
    unsafe {
        let Some(options) = structure("`options`", options)? else { return Ok(usual) };
        let name = optional_text("`options.name`", options.name)?;
        let author = optional_text("`options.author`", options.author)?;
        Ok(SharedOptions {
            name: name.map_or(usual.name, str::to_owned),
            author: author.unwrap_or_default().to_owned(),
            previews: options.no_previews == 0,
        })
    }
}

/// Reads a text, and writes a pointer to it: null for no text, and after an error.
///
/// # Safety
/// `out` points to a pointer.
unsafe fn put_text(
    name: &str,
    out: *mut *const c_char,
    read: impl FnOnce() -> Result<Option<String>, Error>,
) -> Result<(), Error> {
    check_out(name, out)?;
    // SAFETY: checked, and a pointer as the caller says.
    unsafe { put(out, null()) };
    let Some(text) = read()? else { return Ok(()) };
    let text = READ.with_borrow_mut(|kept| {
        *kept = c_string(text);
        kept.as_ptr()
    });
    // SAFETY: as above.
    unsafe { put(out, text) };
    Ok(())
}

/// Writes a pointer to a value as JSON.
///
/// # Safety
/// `out` points to a pointer.
unsafe fn put_json(
    out: *mut *const c_char,
    read: impl FnOnce() -> Result<Option<Json>, Error>,
) -> Result<(), Error> {
    // SAFETY: as this function's.
    unsafe { put_text("`json`", out, || Ok(read()?.map(|value| value.to_string()))) }
}

/// The JSON of an argument.
///
/// # Safety
/// `argument` is null or ends with NUL.
unsafe fn json_of(name: &str, argument: *const c_char) -> Result<Json, Error> {
    // SAFETY: as this function's.
    groupwire_ffi::json(name, unsafe { text(name, argument)? })
}
