//! The shared data that the package's `Shared` wraps. Values come as JSON text, and leave as
//! Python's objects.

use std::sync::Arc;

use groupwire_ffi::{self as ffi, Error, Json, Room, SharedOptions};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::convert::exception;

/// Shared data of a room. No function waits.
#[pyclass(frozen, module = "groupwire._native")]
pub(crate) struct NativeShared {
    room: Arc<Room>,
    /// Its number in the room.
    #[pyo3(get)]
    number: u32,
}

impl NativeShared {
    pub(crate) fn open(
        room: Arc<Room>,
        name: &str,
        author: &str,
        previews: bool,
    ) -> PyResult<NativeShared> {
        let options = SharedOptions { name: name.to_owned(), author: author.to_owned(), previews };
        let number = room.shared(&options).map_err(exception)?;
        Ok(NativeShared { room, number })
    }
}

#[pymethods]
impl NativeShared {
    /// The state: author, pending, complete, restoring, can undo, can redo.
    fn state(&self) -> PyResult<(String, u64, bool, bool, bool, bool)> {
        let state = self.room.shared_state(self.number).map_err(exception)?;
        let ffi::SharedState { author, pending, complete, restoring, can_undo, can_redo } = state;
        Ok((author, pending, complete, restoring, can_undo, can_redo))
    }

    fn begin_batch(&self) -> PyResult<()> {
        self.room.begin_batch(self.number).map_err(exception)
    }

    fn end_batch(&self) -> PyResult<()> {
        self.room.end_batch(self.number).map_err(exception)
    }

    fn abort_batch(&self) -> PyResult<()> {
        self.room.abort_batch(self.number).map_err(exception)
    }

    fn undo(&self) -> PyResult<bool> {
        self.room.undo(self.number).map_err(exception)
    }

    fn redo(&self) -> PyResult<bool> {
        self.room.redo(self.number).map_err(exception)
    }

    /// A tuple with the value, so that the value None differs from none.
    fn map_get(&self, py: Python<'_>, map: &str, key: &str) -> PyResult<Option<(Py<PyAny>,)>> {
        found(py, self.room.map_get(self.number, map, key))
    }

    fn map_entries(&self, py: Python<'_>, map: &str) -> PyResult<Py<PyAny>> {
        object(py, &self.room.map_entries(self.number, map).map_err(exception)?)
    }

    fn map_set(&self, map: &str, key: &str, value: &str) -> PyResult<()> {
        self.room.map_set(self.number, map, key, json("value", value)?).map_err(exception)
    }

    fn map_patch(&self, map: &str, key: &str, fields: &str, removed: Vec<String>) -> PyResult<()> {
        let removed: Vec<&str> = removed.iter().map(String::as_str).collect();
        let fields = json("fields", fields)?;
        self.room.map_patch(self.number, map, key, fields, &removed).map_err(exception)
    }

    fn map_delete(&self, map: &str, key: &str) -> PyResult<()> {
        self.room.map_delete(self.number, map, key).map_err(exception)
    }

    fn map_preview(&self, map: &str, key: &str, fields: Option<&str>) -> PyResult<()> {
        let fields = fields.map(|fields| json("fields", fields)).transpose()?;
        self.room.map_preview(self.number, map, key, fields).map_err(exception)
    }

    fn map_previewed(
        &self,
        py: Python<'_>,
        map: &str,
        key: &str,
    ) -> PyResult<Option<(Py<PyAny>,)>> {
        found(py, self.room.map_previewed(self.number, map, key))
    }

    fn list_values(&self, py: Python<'_>, list: &str) -> PyResult<Py<PyAny>> {
        object(py, &self.room.list_values(self.number, list).map_err(exception)?)
    }

    fn list_ids(&self, list: &str) -> PyResult<Vec<String>> {
        self.room.list_ids(self.number, list).map_err(exception)
    }

    /// A tuple with the item.
    fn list_get(&self, py: Python<'_>, list: &str, id: &str) -> PyResult<Option<(Py<PyAny>,)>> {
        found(py, self.room.list_get(self.number, list, id))
    }

    fn list_insert(&self, list: &str, index: usize, value: &str) -> PyResult<String> {
        self.room.list_insert(self.number, list, index, json("value", value)?).map_err(exception)
    }

    fn list_set(&self, list: &str, id: &str, value: &str) -> PyResult<()> {
        self.room.list_set(self.number, list, id, json("value", value)?).map_err(exception)
    }

    fn list_move(&self, list: &str, id: &str, index: usize) -> PyResult<()> {
        self.room.list_move(self.number, list, id, index).map_err(exception)
    }

    fn list_delete(&self, list: &str, id: &str) -> PyResult<()> {
        self.room.list_delete(self.number, list, id).map_err(exception)
    }

    fn counter_value(&self, counter: &str) -> PyResult<i64> {
        self.room.counter_value(self.number, counter).map_err(exception)
    }

    fn counter_add(&self, counter: &str, difference: i64) -> PyResult<()> {
        self.room.counter_add(self.number, counter, difference).map_err(exception)
    }

    fn lock_holder(&self, lock: &str) -> PyResult<Option<u32>> {
        self.room.lock_holder(self.number, lock).map_err(exception)
    }

    fn lock_acquire(&self, lock: &str) -> PyResult<()> {
        self.room.lock_acquire(self.number, lock).map_err(exception)
    }

    fn lock_release(&self, lock: &str) -> PyResult<()> {
        self.room.lock_release(self.number, lock).map_err(exception)
    }

    fn turns_participants(&self, turns: &str) -> PyResult<Vec<u32>> {
        self.room.turns_participants(self.number, turns).map_err(exception)
    }

    fn turns_join(&self, turns: &str) -> PyResult<()> {
        self.room.turns_join(self.number, turns).map_err(exception)
    }

    fn turns_leave(&self, turns: &str) -> PyResult<()> {
        self.room.turns_leave(self.number, turns).map_err(exception)
    }

    fn turns_next(&self, turns: &str) -> PyResult<()> {
        self.room.turns_next(self.number, turns).map_err(exception)
    }
}

fn json(name: &str, text: &str) -> PyResult<Json> {
    ffi::json(name, text).map_err(exception)
}

fn found(py: Python<'_>, value: Result<Option<Json>, Error>) -> PyResult<Option<(Py<PyAny>,)>> {
    let value = value.map_err(exception)?;
    value.map(|value| Ok((object(py, &value)?,))).transpose()
}

/// Python's object for a value. Values of shared data have at most 1,000 levels, so this may
/// recurse; Python's own reader of JSON could not read all of them.
fn object(py: Python<'_>, value: &Json) -> PyResult<Py<PyAny>> {
    match value {
        Json::Bool(value) => value.into_py_any(py),
        Json::Number(number) => match value.as_whole() {
            Some(whole) => whole.into_py_any(py),
            None => number.into_py_any(py),
        },
        Json::Text(text) => text.to_string_lossy().into_py_any(py),
        Json::Array(items) => {
            let list = PyList::empty(py);
            items.iter().try_for_each(|item| list.append(object(py, item)?))?;
            list.into_py_any(py)
        }
        Json::Object(members) => {
            let dict = PyDict::new(py);
            for (name, value) in members.iter() {
                dict.set_item(name.to_string_lossy(), object(py, value)?)?;
            }
            dict.into_py_any(py)
        }
        _ => Ok(py.None()),
    }
}
