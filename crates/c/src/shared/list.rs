//! Lists of shared data.
#![allow(unsafe_code)]

use std::ffi::c_char;

use groupwire_ffi::Json;

use super::{json_of, put_json, put_text};
use crate::arguments::text;
use crate::call::call;
use crate::table::find;
use crate::types::*;

/// Writes the items in their order as a JSON array.
///
/// # Safety
/// `list` ends with NUL, `json` points to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_list_values(
    room: gw_room,
    data: u32,
    list: *const c_char,
    json: *mut *const c_char,
) -> u32 {
    // SAFETY: as this function's.
    call(|| unsafe {
        let list = text("`list`", list)?;
        put_json(json, || find(room)?.room.list_values(data, list).map(Some))
    })
}

/// Writes the ids of the items, in the order of gw_list_values, as a JSON array of texts.
///
/// # Safety
/// `list` ends with NUL, `json` points to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_list_ids(
    room: gw_room,
    data: u32,
    list: *const c_char,
    json: *mut *const c_char,
) -> u32 {
    // SAFETY: as this function's.
    call(|| unsafe {
        let list = text("`list`", list)?;
        put_json(json, || {
            let ids = find(room)?.room.list_ids(data, list)?;
            Ok(Some(ids.into_iter().map(Json::from).collect()))
        })
    })
}

/// Writes the item with this id as JSON; null if there is none.
///
/// # Safety
/// `list` and `id` end with NUL, `json` points to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_list_get(
    room: gw_room,
    data: u32,
    list: *const c_char,
    id: *const c_char,
    json: *mut *const c_char,
) -> u32 {
    // SAFETY: as this function's.
    call(|| unsafe {
        let (list, id) = (text("`list`", list)?, text("`id`", id)?);
        put_json(json, || find(room)?.room.list_get(data, list, id))
    })
}

/// Inserts an item, JSON, before the one at `index`; SIZE_MAX: at the end. Writes its id to `id`,
/// which may be null.
///
/// # Safety
/// `list` and `value` end with NUL, `id` points to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_list_insert(
    room: gw_room,
    data: u32,
    list: *const c_char,
    index: usize,
    value: *const c_char,
    id: *mut *const c_char,
) -> u32 {
    // SAFETY: as this function's.
    call(|| unsafe {
        let (list, value) = (text("`list`", list)?, json_of("`value`", value)?);
        let insert = || find(room)?.room.list_insert(data, list, index, value);
        if id.is_null() { insert().map(drop) } else { put_text("`id`", id, || insert().map(Some)) }
    })
}

/// Replaces the item with this id by a value, JSON. Does nothing if there is none.
///
/// # Safety
/// `list`, `id` and `value` end with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_list_set(
    room: gw_room,
    data: u32,
    list: *const c_char,
    id: *const c_char,
    value: *const c_char,
) -> u32 {
    // SAFETY: as this function's.
    call(|| unsafe {
        let (list, id, value) =
            (text("`list`", list)?, text("`id`", id)?, json_of("`value`", value)?);
        find(room)?.room.list_set(data, list, id, value)
    })
}

/// Moves an item, so that it has this index afterwards; SIZE_MAX: the last one. Does nothing if
/// there is none with this id.
///
/// # Safety
/// `list` and `id` end with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_list_move(
    room: gw_room,
    data: u32,
    list: *const c_char,
    id: *const c_char,
    index: usize,
) -> u32 {
    // SAFETY: as this function's.
    call(|| unsafe {
        find(room)?.room.list_move(data, text("`list`", list)?, text("`id`", id)?, index)
    })
}

/// Removes the item with this id.
///
/// # Safety
/// `list` and `id` end with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_list_delete(
    room: gw_room,
    data: u32,
    list: *const c_char,
    id: *const c_char,
) -> u32 {
    // SAFETY: as this function's.
    call(|| unsafe { find(room)?.room.list_delete(data, text("`list`", list)?, text("`id`", id)?) })
}
