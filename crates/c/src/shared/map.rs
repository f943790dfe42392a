//! Maps of shared data.
#![allow(unsafe_code)]

use std::ffi::c_char;

use groupwire_ffi::{Error, Json};

use super::{json_of, put_json};
use crate::arguments::text;
use crate::call::call;
use crate::table::find;
use crate::types::*;

/// Writes the value of a key as JSON; null if there is none.
///
/// # Safety
/// `map` and `key` end with NUL, `json` points to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_map_get(
    room: gw_room,
    data: u32,
    map: *const c_char,
    key: *const c_char,
    json: *mut *const c_char,
) -> u32 {
    // SAFETY: as this function's.
    call(|| unsafe {
        let (map, key) = (text("`map`", map)?, text("`key`", key)?);
        put_json(json, || find(room)?.room.map_get(data, map, key))
    })
}

/// Writes all keys and values as a JSON object. Their order means nothing.
///
/// # Safety
/// `map` ends with NUL, `json` points to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_map_entries(
    room: gw_room,
    data: u32,
    map: *const c_char,
    json: *mut *const c_char,
) -> u32 {
    // SAFETY: as this function's.
    call(|| unsafe {
        let map = text("`map`", map)?;
        put_json(json, || find(room)?.room.map_entries(data, map).map(Some))
    })
}

/// Sets the value of a key, JSON.
///
/// # Safety
/// `map`, `key` and `value` end with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_map_set(
    room: gw_room,
    data: u32,
    map: *const c_char,
    key: *const c_char,
    value: *const c_char,
) -> u32 {
    // SAFETY: as this function's.
    call(|| unsafe {
        let (map, key, value) =
            (text("`map`", map)?, text("`key`", key)?, json_of("`value`", value)?);
        find(room)?.room.map_set(data, map, key, value)
    })
}

/// Sets the fields of a value that the JSON object `fields` has, and removes those that the JSON
/// array `removed` names, which may be null. Does nothing if the key has no object.
///
/// # Safety
/// `map`, `key`, `fields` and `removed` end with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_map_patch(
    room: gw_room,
    data: u32,
    map: *const c_char,
    key: *const c_char,
    fields: *const c_char,
    removed: *const c_char,
) -> u32 {
    // SAFETY: as this function's.
    call(|| unsafe {
        let (map, key) = (text("`map`", map)?, text("`key`", key)?);
        let fields = json_of("`fields`", fields)?;
        let removed = match removed.is_null() {
            true => Json::from(Vec::new()),
            false => json_of("`removed`", removed)?,
        };
        find(room)?.room.map_patch(data, map, key, fields, &names(&removed)?)
    })
}

/// Removes a key and its value.
///
/// # Safety
/// `map` and `key` end with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_map_delete(
    room: gw_room,
    data: u32,
    map: *const c_char,
    key: *const c_char,
) -> u32 {
    // SAFETY: as this function's.
    call(|| unsafe { find(room)?.room.map_delete(data, text("`map`", map)?, text("`key`", key)?) })
}

/// Shows others an unfinished change of the fields of a value, such as a drag, without an
/// operation; null for `fields` ends it. It may be lost.
///
/// # Safety
/// `map`, `key` and `fields` end with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_map_preview(
    room: gw_room,
    data: u32,
    map: *const c_char,
    key: *const c_char,
    fields: *const c_char,
) -> u32 {
    // SAFETY: as this function's.
    call(|| unsafe {
        let (map, key) = (text("`map`", map)?, text("`key`", key)?);
        let fields = if fields.is_null() { None } else { Some(json_of("`fields`", fields)?) };
        find(room)?.room.map_preview(data, map, key, fields)
    })
}

/// Writes the value of a key with the previews of others applied, as JSON; null if there is none.
///
/// # Safety
/// `map` and `key` end with NUL, `json` points to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_map_previewed(
    room: gw_room,
    data: u32,
    map: *const c_char,
    key: *const c_char,
    json: *mut *const c_char,
) -> u32 {
    // SAFETY: as this function's.
    call(|| unsafe {
        let (map, key) = (text("`map`", map)?, text("`key`", key)?);
        put_json(json, || find(room)?.room.map_previewed(data, map, key))
    })
}

/// The texts of an array.
fn names(json: &Json) -> Result<Vec<&str>, Error> {
    let names = json.as_array().and_then(|names| names.iter().map(Json::as_str).collect());
    names.ok_or_else(|| Error::argument("`removed`", "a JSON array of names of fields"))
}
