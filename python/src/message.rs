//! A message, as Python sees it.

use groupwire_ffi as ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// A message that arrived. `_native.pyi` describes its members.
#[pyclass(frozen, module = "groupwire")]
pub(crate) struct Message {
    /// The number of its channel in the room, by which the package finds the channel.
    #[pyo3(get)]
    channel_number: u32,
    #[pyo3(get)]
    data: Py<PyAny>,
    #[pyo3(get)]
    sender: u32,
    #[pyo3(get)]
    key: Option<Py<PyBytes>>,
    /// Seconds, as everywhere in Python.
    #[pyo3(get)]
    age: f64,
    #[pyo3(get)]
    position: u64,
    #[pyo3(get)]
    index: u32,
    #[pyo3(get)]
    own: bool,
    #[pyo3(get)]
    stale: bool,
    #[pyo3(get)]
    state: bool,
    #[pyo3(get)]
    departed: Option<u32>,
    #[pyo3(get)]
    to: Option<u32>,
    /// True for a message to one participant.
    #[pyo3(get)]
    direct: bool,
    /// Bytes of memory of its content.
    #[pyo3(get)]
    size: usize,
}

#[pymethods]
impl Message {
    /// Parses the content as JSON.
    fn json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("json")?.getattr("loads")?.call1((self.data.bind(py),))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let data = self.data.bind(py).repr()?;
        Ok(format!("<Message of {}: {}>", self.sender, data.to_cow()?))
    }
}

impl Message {
    pub(crate) fn new(py: Python<'_>, message: ffi::Message, direct: bool) -> Message {
        let size = message.bytes.len();
        let text = if message.text { std::str::from_utf8(&message.bytes).ok() } else { None };
        let data = match text {
            Some(text) => PyString::new(py, text).into_any().unbind(),
            None => PyBytes::new(py, &message.bytes).into_any().unbind(),
        };
        Message {
            channel_number: message.channel,
            data,
            sender: message.sender,
            key: message.key.map(|key| PyBytes::new(py, &key).unbind()),
            age: message.age_us as f64 / 1e6,
            position: message.position,
            index: message.index,
            own: message.own,
            stale: message.stale,
            state: message.state,
            departed: (message.departed != 0).then_some(message.departed),
            to: (message.to != 0).then_some(message.to),
            direct,
            size,
        }
    }
}
