//! Counters, locks and turns of shared data.
#![allow(unsafe_code)]

use std::ffi::c_char;

use groupwire_ffi::Json;

use super::put_json;
use crate::arguments::{check_out, put, text};
use crate::call::call;
use crate::table::find;
use crate::types::*;

/// Writes the value of a counter, which begins at 0.
///
/// # Safety
/// `counter` ends with NUL, `value` points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_counter_value(
    room: gw_room,
    data: u32,
    counter: *const c_char,
    value: *mut i64,
) -> u32 {
    // SAFETY: as this function's; `value` is checked.
    call(|| unsafe {
        check_out("`value`", value)?;
        put(value, find(room)?.room.counter_value(data, text("`counter`", counter)?)?);
        Ok(())
    })
}

/// Adds a whole number, or subtracts it if it is negative. Has no effect if the sum would be beyond
/// 2^53.
///
/// # Safety
/// `counter` ends with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_counter_add(
    room: gw_room,
    data: u32,
    counter: *const c_char,
    difference: i64,
) -> u32 {
    // SAFETY: as this function's.
    call(|| unsafe { find(room)?.room.counter_add(data, text("`counter`", counter)?, difference) })
}

/// Writes the participant that holds a lock; 0 if nobody does.
///
/// # Safety
/// `lock` ends with NUL, `holder` points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_lock_holder(
    room: gw_room,
    data: u32,
    lock: *const c_char,
    holder: *mut u32,
) -> u32 {
    // SAFETY: as this function's; `holder` is checked.
    call(|| unsafe {
        check_out("`holder`", holder)?;
        let found = find(room)?.room.lock_holder(data, text("`lock`", lock)?)?;
        put(holder, found.unwrap_or(0));
        Ok(())
    })
}

/// Asks for a lock. If somebody else holds it, that has no effect. This participant holds it once
/// the room has ordered that, as gw_lock_holder tells after GW_EVENT_TYPE_SHARED_CHANGED.
///
/// # Safety
/// `lock` ends with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_lock_acquire(room: gw_room, data: u32, lock: *const c_char) -> u32 {
    // SAFETY: as this function's.
    call(|| unsafe { find(room)?.room.lock_acquire(data, text("`lock`", lock)?) })
}

/// Releases a lock, if this participant holds it.
///
/// # Safety
/// `lock` ends with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_lock_release(room: gw_room, data: u32, lock: *const c_char) -> u32 {
    // SAFETY: as this function's.
    call(|| unsafe { find(room)?.room.lock_release(data, text("`lock`", lock)?) })
}

/// Writes the participants in the order of their turns as a JSON array of numbers.
///
/// # Safety
/// `turns` ends with NUL, `json` points to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_turns_participants(
    room: gw_room,
    data: u32,
    turns: *const c_char,
    json: *mut *const c_char,
) -> u32 {
    // SAFETY: as this function's.
    call(|| unsafe {
        let turns = text("`turns`", turns)?;
        put_json(json, || {
            let all = find(room)?.room.turns_participants(data, turns)?;
            Ok(Some(all.into_iter().map(Json::from).collect()))
        })
    })
}

/// Writes the participant whose turn it is; 0 if nobody takes turns.
///
/// # Safety
/// `turns` ends with NUL, `current` points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_turns_current(
    room: gw_room,
    data: u32,
    turns: *const c_char,
    current: *mut u32,
) -> u32 {
    // SAFETY: as this function's; `current` is checked.
    call(|| unsafe {
        check_out("`current`", current)?;
        let all = find(room)?.room.turns_participants(data, text("`turns`", turns)?)?;
        put(current, all.first().copied().unwrap_or(0));
        Ok(())
    })
}

/// Adds this participant at the end of the order of turns.
///
/// # Safety
/// `turns` ends with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_turns_join(room: gw_room, data: u32, turns: *const c_char) -> u32 {
    // SAFETY: as this function's.
    call(|| unsafe { find(room)?.room.turns_join(data, text("`turns`", turns)?) })
}

/// Removes this participant from the order of turns.
///
/// # Safety
/// `turns` ends with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_turns_leave(room: gw_room, data: u32, turns: *const c_char) -> u32 {
    // SAFETY: as this function's.
    call(|| unsafe { find(room)?.room.turns_leave(data, text("`turns`", turns)?) })
}

/// Ends this participant's turn.
///
/// # Safety
/// `turns` ends with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_turns_next(room: gw_room, data: u32, turns: *const c_char) -> u32 {
    // SAFETY: as this function's.
    call(|| unsafe { find(room)?.room.turns_next(data, text("`turns`", turns)?) })
}
