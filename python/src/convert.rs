//! Between Python's values and those of the facade.

use groupwire_ffi::{Error, Kind, Overflow, Qos};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PyString};

/// A QoS as a tuple: kind, overflow, loss, deadline in milliseconds, lowest and highest rate,
/// priority, private, departures, speakers. `Qos` of the package makes and reads it.
pub(crate) type QosTuple = (String, String, f64, u64, f64, f64, u8, bool, bool, u8);

/// The exception for an error, which the package defines.
pub(crate) fn exception(error: Error) -> PyErr {
    Python::attach(|py| {
        let made = py.import("groupwire._errors").and_then(|errors| {
            let arguments =
                (error.code.word(), error.code as u32, error.fault.word(), error.text.as_str());
            errors.getattr("exception_of")?.call1(arguments)
        });
        made.map_or_else(|failed| failed, PyErr::from_value)
    })
}

/// The error of an event, as an exception that is not raised.
pub(crate) fn exception_object(py: Python<'_>, error: Error) -> Py<PyAny> {
    exception(error).into_value(py).into_any()
}

/// The bytes of a message, and whether it is text.
///
/// # Errors
/// `TypeError` for anything but `str` and bytes.
pub(crate) fn payload(value: &Bound<'_, PyAny>) -> PyResult<(Vec<u8>, bool)> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok((text.to_cow()?.into_owned().into_bytes(), true));
    }
    Ok((bytes("payload", value)?, false))
}

/// Bytes of any of Python's types for them.
///
/// # Errors
/// `TypeError` for anything else.
pub(crate) fn bytes(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec());
    }
    if let Ok(bytes) = value.cast::<PyByteArray>() {
        return Ok(bytes.to_vec());
    }
    if value.cast::<PyMemoryView>().is_ok() {
        let bytes = value.call_method0("tobytes")?;
        return Ok(bytes.cast::<PyBytes>()?.as_bytes().to_vec());
    }
    let kind = value.get_type().name()?;
    Err(PyTypeError::new_err(format!("{name} must be str or bytes-like, not {kind}")))
}

pub(crate) fn to_qos(tuple: &QosTuple) -> Result<Qos, Error> {
    let (
        kind,
        overflow,
        loss,
        deadline_ms,
        min_rate,
        max_rate,
        priority,
        private,
        departures,
        speakers,
    ) = tuple;
    Ok(Qos {
        kind: match kind.as_str() {
            "transaction" => Kind::Transaction,
            "awareness" => Kind::Awareness,
            _ => return Err(Error::argument("`kind`", "\"transaction\" or \"awareness\"")),
        },
        overflow: match overflow.as_str() {
            "usual" => Overflow::Usual,
            "conflate" => Overflow::Conflate,
            "aggregate" => Overflow::Aggregate,
            _ => return Err(Error::argument("`overflow`", "\"conflate\" or \"aggregate\"")),
        },
        loss: *loss,
        deadline_ms: *deadline_ms,
        min_rate: *min_rate,
        max_rate: *max_rate,
        priority: *priority,
        private: *private,
        departures: *departures,
        speakers: *speakers,
    })
}

/// The QoS of frames of sound.
#[pyfunction]
pub(crate) fn voice_qos() -> QosTuple {
    of_qos(&Qos::voice())
}

pub(crate) fn of_qos(qos: &Qos) -> QosTuple {
    let kind = match qos.kind {
        Kind::Transaction => "transaction",
        Kind::Awareness => "awareness",
    };
    let overflow = match qos.overflow {
        Overflow::Usual => "usual",
        Overflow::Conflate => "conflate",
        Overflow::Aggregate => "aggregate",
    };
    (
        kind.to_owned(),
        overflow.to_owned(),
        qos.loss,
        qos.deadline_ms,
        qos.min_rate,
        qos.max_rate,
        qos.priority,
        qos.private,
        qos.departures,
        qos.speakers,
    )
}
