//! Messages and updates of Yjs documents, for `groupwire.yjs`: the updates of others are checked
//! before pycrdt reads them, and compared without a document.

use std::sync::{Mutex, MutexGuard, PoisonError};

use groupwire_yjs::{Control, Document, Error, Piece, Pieces, StateVector, Update, diff, merge};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

/// Whether the document with the state vector `state`, to which the update was applied, still lacks
/// a part of it, because that part refers to what has not come yet.
///
/// # Errors
/// `ValueError` if one of them is malformed.
#[pyfunction]
pub(crate) fn yjs_lacks(update: &[u8], state: &[u8]) -> PyResult<bool> {
    let update = Update::parse(update).map_err(malformed)?;
    let state = StateVector::parse(state).map_err(malformed)?;
    let deletes = update.delete_set();
    let is_beyond = deletes
        .iter()
        .any(|(client, ranges)| ranges.last().is_some_and(|&(_, end)| end > state.get(client)));
    // The first number of an update counts the clients of whom structs follow.
    Ok(is_beyond || diff(&update, &state).first().is_some_and(|&clients| clients != 0))
}

/// Checks that bytes are an update as Yjs writes it.
///
/// # Errors
/// `ValueError` if they are not.
#[pyfunction]
pub(crate) fn yjs_check(update: &[u8]) -> PyResult<()> {
    Update::parse(update).map(drop).map_err(malformed)
}

/// What an update has beyond these updates; None if it has nothing.
///
/// # Errors
/// `ValueError` if one of them is malformed.
#[pyfunction]
pub(crate) fn yjs_news<'py>(
    py: Python<'py>,
    update: &[u8],
    known: Vec<PyBackedBytes>,
) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let update = Update::parse(update).map_err(malformed)?;
    let known = Document::of(known.iter().map(AsRef::as_ref)).map_err(malformed)?;
    Ok(known.news(&update).map(|news| PyBytes::new(py, &news)))
}

/// The part of an update that a document with the state vector `state` lacks.
///
/// # Errors
/// `ValueError` if one of them is malformed.
#[pyfunction]
pub(crate) fn yjs_diff<'py>(
    py: Python<'py>,
    update: &[u8],
    state: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    let update = Update::parse(update).map_err(malformed)?;
    let state = StateVector::parse(state).map_err(malformed)?;
    Ok(PyBytes::new(py, &diff(&update, &state)))
}

/// One update with the content of all.
///
/// # Errors
/// `ValueError` if one of them is malformed.
#[pyfunction]
pub(crate) fn yjs_merge(
    py: Python<'_>,
    updates: Vec<PyBackedBytes>,
) -> PyResult<Bound<'_, PyBytes>> {
    let updates: Result<Vec<_>, _> = updates.iter().map(|update| Update::parse(update)).collect();
    Ok(PyBytes::new(py, &merge(&updates.map_err(malformed)?)))
}

/// The state vector of the content that all documents with these state vectors have; None without
/// any.
///
/// # Errors
/// `ValueError` if one of them is malformed.
#[pyfunction]
pub(crate) fn yjs_least(
    py: Python<'_>,
    states: Vec<PyBackedBytes>,
) -> PyResult<Option<Bound<'_, PyBytes>>> {
    let states: Result<Vec<_>, _> = states.iter().map(|state| StateVector::parse(state)).collect();
    let states = states.map_err(malformed)?;
    let least = states.into_iter().reduce(|one, other| one.least(&other));
    Ok(least.map(|least| PyBytes::new(py, &least.encode())))
}

/// Reads a text of another participant (`groupwire_yjs::Control`): a tuple with the kind and the
/// fields; None if it is malformed. `_native.pyi` lists the tuples.
#[pyfunction]
pub(crate) fn yjs_control(py: Python<'_>, text: &str) -> PyResult<Option<Py<PyAny>>> {
    let Some(control) = Control::parse(text) else { return Ok(None) };
    let tuple = match control {
        Control::Claim => ("claim",).into_py_any(py),
        Control::Done { is_complete } => ("done", is_complete).into_py_any(py),
        Control::Ask(state) => ("ask", PyBytes::new(py, &state.encode())).into_py_any(py),
        Control::Piece(Piece { series, index, count, bytes }) => {
            ("piece", series, index, count, PyBytes::new(py, &bytes)).into_py_any(py)
        }
    };
    tuple.map(Some)
}

/// The text with which this participant offers to send a long update.
#[pyfunction]
pub(crate) fn yjs_claim() -> String {
    Control::claim()
}

/// The text that says that this participant has sent its update.
#[pyfunction]
pub(crate) fn yjs_done(is_complete: bool) -> String {
    Control::done(is_complete)
}

/// The text that asks for everything that a document with the state vector `state` lacks.
///
/// # Errors
/// `ValueError` if the state vector is malformed.
#[pyfunction]
pub(crate) fn yjs_ask(state: &[u8]) -> PyResult<String> {
    Ok(Control::ask(&StateVector::parse(state).map_err(malformed)?))
}

/// Cuts an update into texts, each of which fits into one message.
#[pyfunction]
pub(crate) fn yjs_cut(update: &[u8], series: u64) -> Vec<String> {
    Control::cut(update, series).collect()
}

/// Joins the pieces of large updates, which senders send one after the other.
#[pyclass(frozen, module = "groupwire._native")]
pub(crate) struct YjsPieces {
    pieces: Mutex<Pieces>,
}

#[pymethods]
impl YjsPieces {
    #[new]
    fn new() -> Self {
        YjsPieces { pieces: Mutex::new(Pieces::default()) }
    }

    /// Takes a piece. Returns the update if this is its last piece.
    fn add<'py>(
        &self,
        py: Python<'py>,
        sender: u64,
        series: u64,
        index: u64,
        count: u64,
        bytes: &[u8],
    ) -> Option<Bound<'py, PyBytes>> {
        let joined =
            self.lock().add(sender, Piece { series, index, count, bytes: bytes.to_vec() })?;
        Some(PyBytes::new(py, &joined))
    }

    /// Forgets the incomplete update of a sender.
    fn drop(&self, sender: u64) {
        Pieces::drop(&mut self.lock(), sender);
    }

    /// Forgets all incomplete updates.
    fn clear(&self) {
        *self.lock() = Pieces::default();
    }

    /// A part of a room's snapshot: the incomplete updates, and a document as one update.
    fn encode<'py>(&self, py: Python<'py>, document: &[u8]) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.lock().encode(document))
    }

    /// Replaces the incomplete updates by those in a part of a snapshot. Returns its document,
    /// which is not checked. Raises `ValueError` if the bytes are no such part.
    fn decode<'py>(&self, py: Python<'py>, snapshot: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let mut pieces = self.lock();
        let document = pieces.decode(snapshot).map_err(malformed)?;
        Ok(PyBytes::new(py, document))
    }
}

impl YjsPieces {
    fn lock(&self) -> MutexGuard<'_, Pieces> {
        self.pieces.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn malformed(error: Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}
