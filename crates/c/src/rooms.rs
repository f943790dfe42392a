//! Joining and leaving rooms.
#![allow(unsafe_code)]

use std::ffi::c_char;

use groupwire_ffi::{Error, Memory, Options, Room};

use crate::arguments::{bytes, check_out, optional_text, put, structure, text};
use crate::call::call;
use crate::table::{add, find, remove};
use crate::types::*;

/// Joins a room. The address determines the transport: ws://host:port, wss://, tcp://, or https://
/// for WebTransport, which has datagrams for awareness. Returns at once; GW_EVENT_TYPE_JOINED tells
/// when this participant is in the room, and gw_trouble why not yet. It reconnects after broken
/// connections until gw_leave or gw_free.
///
/// # Safety
/// `url` ends with NUL, `options` is filled in, `room` points to a gw_room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_connect(
    url: *const c_char,
    options: *const gw_options,
    room: *mut gw_room,
) -> u32 {
    call(|| {
        check_out("`room`", room)?;
        // SAFETY: checked; the caller passes valid pointers.
        let (url, options) = unsafe {
            put(room, 0);
            (text("`url`", url)?, read(options)?)
        };
        let number = add(Room::connect(url, options)?)?;
        // SAFETY: as above.
        unsafe { put(room, number) };
        Ok(())
    })
}

/// # Safety
/// The pointers in the structure are null or valid.
unsafe fn read(options: *const gw_options) -> Result<Options, Error> {
    // SAFETY: the caller passes valid pointers; every one in the structure is checked.
    unsafe {
        let options = structure("`options`", options)?
            .ok_or_else(|| Error::argument("`options`", "a gw_options, not null"))?;
        Ok(Options {
            token: bytes("`token`", options.token, options.token_len)?.to_vec(),
            presence: bytes("`presence`", options.presence, options.presence_len)?.to_vec(),
            trust: optional_text("`trust`", options.trust)?.unwrap_or_default().to_owned(),
            memory: match options.memory {
                0 => Memory::Full,
                1 => Memory::Small,
                other => {
                    let expected = format!("a gw_memory, not {other}");
                    return Err(Error::argument("`memory`", expected));
                }
            },
            ..Options::new(text("`options.room`", options.room)?)
        })
    }
}

/// Leaves a room. A gw_status of GW_STATUS_CLOSED tells when that is done. Own transactions that
/// the server has not put in order yet are lost; gw_pending counts them.
#[unsafe(no_mangle)]
pub extern "C" fn gw_leave(room: gw_room) -> u32 {
    call(|| find(room)?.room.leave())
}

/// Leaves a room, if gw_leave has not, and frees all that belongs to it. A process that ends at
/// once should call gw_leave and wait for GW_STATUS_CLOSED before.
#[unsafe(no_mangle)]
pub extern "C" fn gw_free(room: gw_room) -> u32 {
    call(|| remove(room))
}

/// A file descriptor that is readable when events came to an empty queue, for programs that wait in
/// poll(2) or an event loop: then call gw_clear_fd, and gw_poll until there are no more events. It
/// belongs to the room.
///
/// # Safety
/// `fd` points to an int.
#[cfg(unix)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_fd(room: gw_room, fd: *mut i32) -> u32 {
    call(|| {
        check_out("`fd`", fd)?;
        let found = find(room)?.room.fd()?;
        // SAFETY: checked, and an int as the caller says.
        unsafe { put(fd, found) };
        Ok(())
    })
}

/// Empties the descriptor of gw_fd.
#[cfg(unix)]
#[unsafe(no_mangle)]
pub extern "C" fn gw_clear_fd(room: gw_room) -> u32 {
    call(|| find(room)?.room.clear_fd())
}

/// Changes the presence of this participant, which all others see: at most 4,096 bytes.
///
/// # Safety
/// `presence` points to `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_set_presence(room: gw_room, presence: *const u8, len: usize) -> u32 {
    // SAFETY: as this function's.
    call(|| find(room)?.room.set_presence(unsafe { bytes("`presence`", presence, len)? }))
}

/// Gives another token; the answer to GW_EVENT_TYPE_TOKEN_WANTED.
///
/// # Safety
/// `token` points to `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_set_token(room: gw_room, token: *const u8, len: usize) -> u32 {
    // SAFETY: as this function's.
    call(|| find(room)?.room.set_token(unsafe { bytes("`token`", token, len)? }))
}

/// Asks for the participants after this number, 0 for the first ones, in a room too large to
/// announce all. GW_EVENT_TYPE_PAGE_ENTRY and GW_EVENT_TYPE_PAGE answer.
#[unsafe(no_mangle)]
pub extern "C" fn gw_want_page(room: gw_room, after: u32) -> u32 {
    call(|| find(room)?.room.want_page(after))
}

/// States that this program makes the part `part` of the room's snapshot: the state of `count`
/// channels. GW_EVENT_TYPE_SNAPSHOT_WANTED asks for it.
///
/// # Safety
/// `part` ends with NUL, `channels` points to `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_provide(
    room: gw_room,
    part: *const c_char,
    channels: *const u32,
    count: usize,
) -> u32 {
    call(|| {
        let entry = find(room)?;
        if count > 0 && (channels.is_null() || !channels.is_aligned() || count > 1 << 20) {
            return Err(Error::argument("`channels`", "a pointer to `count` channels"));
        }
        // SAFETY: checked, and readable as the caller says.
        let (part, channels) = unsafe {
            let channels =
                if count == 0 { &[][..] } else { std::slice::from_raw_parts(channels, count) };
            (text("`part`", part)?, channels)
        };
        entry.room.provide(part, channels)
    })
}

/// Answers GW_EVENT_TYPE_SNAPSHOT_WANTED with its `position` and the state after all events before
/// it.
///
/// # Safety
/// `part` ends with NUL, `state` points to `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_snapshot(
    room: gw_room,
    part: *const c_char,
    position: u64,
    state: *const u8,
    len: usize,
) -> u32 {
    call(|| {
        // SAFETY: as this function's.
        let (part, state) = unsafe { (text("`part`", part)?, bytes("`state`", state, len)?) };
        find(room)?.room.snapshot(part, position, state)
    })
}
