//! The room that the package's `Room` wraps.

use std::sync::Arc;

use groupwire_ffi::{
    self as ffi, ChannelOptions, Event, Memory, Options, Recipient, SendOptions, Sent,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::convert::{QosTuple, bytes, exception, of_qos, payload, to_qos};
use crate::events::{ContractTuple, contract_tuple, event};
use crate::shared::NativeShared;

/// A session in a room. No function waits, all may be called from any thread.
#[pyclass(frozen, module = "groupwire._native")]
pub(crate) struct NativeRoom {
    room: Arc<ffi::Room>,
}

impl NativeRoom {
    pub(crate) fn of(room: ffi::Room) -> Self {
        NativeRoom { room: Arc::new(room) }
    }
}

#[pymethods]
impl NativeRoom {
    #[new]
    fn new(
        py: Python<'_>,
        url: &str,
        room: &str,
        token: Vec<u8>,
        presence: Vec<u8>,
        trust: &str,
        small: bool,
    ) -> PyResult<Self> {
        let memory = if small { Memory::Small } else { Memory::Full };
        let trust = trust.to_owned();
        let options = Options { token, presence, trust, memory, ..Options::new(room) };
        // The first room of a process starts a thread.
        let room = py.detach(|| ffi::Room::connect(url, options)).map_err(exception)?;
        Ok(NativeRoom::of(room))
    }

    fn fd(&self) -> PyResult<i32> {
        self.room.fd().map_err(exception)
    }

    /// Empties the descriptor and takes at most `most` events.
    fn poll<'py>(&self, py: Python<'py>, most: usize) -> PyResult<Bound<'py, PyList>> {
        let polled = py.detach(|| {
            self.room.clear_fd()?;
            self.room.poll_batch(most)
        });
        let events: PyResult<Vec<Py<PyAny>>> =
            polled.map_err(exception)?.into_iter().map(|one: Event| event(py, one)).collect();
        PyList::new(py, events?)
    }

    fn channel(
        &self,
        name: &str,
        qos: QosTuple,
        publish: bool,
        subscribe: bool,
        compress: &str,
    ) -> PyResult<u32> {
        let qos = to_qos(&qos).map_err(exception)?;
        let options = ChannelOptions { publish, subscribe, compress: compress.to_owned() };
        self.room.channel(name, qos, &options).map_err(exception)
    }

    fn close_channel(&self, channel: u32) -> PyResult<()> {
        self.room.close_channel(channel).map_err(exception)
    }

    /// Returns the word of what happened to the message.
    #[pyo3(signature = (channel, data, key=None, priority=None, to=0, tag=0))]
    fn send(
        &self,
        channel: u32,
        data: &Bound<'_, PyAny>,
        key: Option<&Bound<'_, PyAny>>,
        priority: Option<u8>,
        to: u32,
        tag: u32,
    ) -> PyResult<&'static str> {
        let (bytes, text) = payload(data)?;
        let key = key.map(|key| payload(key).map(|(key, _)| key)).transpose()?;
        let to = (to != 0).then_some(Recipient { participant: to, tag });
        let options = SendOptions { text, key, priority, to };
        let sent = self.room.send(channel, &bytes, &options).map_err(exception)?;
        Ok(match sent {
            Sent::Accepted => "accepted",
            Sent::Conflated => "conflated",
            Sent::NotNow => "not-now",
        })
    }

    fn set_qos(&self, channel: u32, qos: QosTuple) -> PyResult<()> {
        let qos = to_qos(&qos).map_err(exception)?;
        self.room.set_qos(channel, qos).map_err(exception)
    }

    fn qos(&self, channel: u32) -> PyResult<QosTuple> {
        Ok(of_qos(&self.room.qos(channel).map_err(exception)?))
    }

    fn limit_rate(&self, channel: u32, per_second: f64) -> PyResult<()> {
        self.room.limit_rate(channel, per_second).map_err(exception)
    }

    fn set_compress(&self, channel: u32, compress: &str) -> PyResult<()> {
        self.room.set_compress(channel, compress).map_err(exception)
    }

    fn contract(&self, channel: u32) -> PyResult<Option<ContractTuple>> {
        let contract = self.room.contract(channel).map_err(exception)?;
        Ok(contract.as_ref().map(contract_tuple))
    }

    fn shared(&self, name: &str, author: &str, previews: bool) -> PyResult<NativeShared> {
        NativeShared::open(Arc::clone(&self.room), name, author, previews)
    }

    fn set_presence(&self, presence: &Bound<'_, PyAny>) -> PyResult<()> {
        self.room.set_presence(&bytes("presence", presence)?).map_err(exception)
    }

    fn set_token(&self, token: &Bound<'_, PyAny>) -> PyResult<()> {
        let (token, _) = payload(token)?;
        self.room.set_token(&token).map_err(exception)
    }

    fn want_page(&self, after: u32) -> PyResult<()> {
        self.room.want_page(after).map_err(exception)
    }

    fn provide(&self, part: &str, channels: Vec<u32>) -> PyResult<()> {
        self.room.provide(part, &channels).map_err(exception)
    }

    fn snapshot(&self, part: &str, as_of: u64, state: &Bound<'_, PyAny>) -> PyResult<()> {
        self.room.snapshot(part, as_of, &bytes("snapshot", state)?).map_err(exception)
    }

    fn ticket(&self) -> PyResult<u32> {
        self.room.ticket().map_err(exception)
    }

    fn is_confirmed(&self, ticket: u32) -> PyResult<bool> {
        self.room.is_confirmed(ticket).map_err(exception)
    }

    fn pending(&self) -> PyResult<u64> {
        self.room.pending().map_err(exception)
    }

    fn durability(&self) -> PyResult<Option<&'static str>> {
        Ok(self.room.durability().map_err(exception)?.map(ffi::Durability::word))
    }

    /// The error of the last attempt to connect, if it failed.
    fn trouble(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let trouble = self.room.trouble().map_err(exception)?;
        Ok(trouble.map(|error| crate::convert::exception_object(py, error)))
    }

    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = self.room.stats().map_err(exception)?;
        let dict = PyDict::new(py);
        for (name, count) in [
            ("messages_out", stats.messages_out),
            ("bytes_out_before", stats.bytes_out_before),
            ("bytes_out_after", stats.bytes_out_after),
            ("packets_out", stats.packets_out),
            ("datagrams_out", stats.datagrams_out),
            ("messages_in", stats.messages_in),
            ("bytes_in_before", stats.bytes_in_before),
            ("bytes_in_after", stats.bytes_in_after),
            ("packets_in", stats.packets_in),
            ("datagrams_in", stats.datagrams_in),
            ("conflated", stats.conflated),
            ("reconnects", stats.reconnects),
        ] {
            dict.set_item(name, count)?;
        }
        dict.set_item("round_trip", stats.round_trip_ms / 1000.0)?;
        Ok(dict)
    }

    fn leave(&self) -> PyResult<()> {
        self.room.leave().map_err(exception)
    }
}
