//! Events, as tuples that the package takes apart: the first item is the name.

use groupwire_ffi::{Contract, Event, Participant};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::convert::{exception_object, of_qos};
use crate::message::Message;

/// A message, or a tuple.
pub(crate) fn event(py: Python<'_>, event: Event) -> PyResult<Py<PyAny>> {
    match event {
        Event::Message(message) => Message::new(py, message, false).into_py_any(py),
        Event::Direct(message) => Message::new(py, message, true).into_py_any(py),
        Event::Status { status } => ("status", status.word()).into_py_any(py),
        Event::Joined { participant, resumed } => ("joined", participant, resumed).into_py_any(py),
        Event::Opened { channel, qos, changed } => {
            ("opened", channel, of_qos(&qos), changed).into_py_any(py)
        }
        Event::Closed { channel } => ("closed", channel).into_py_any(py),
        Event::Contract { channel, contract } => {
            ("contract", channel, contract_tuple(&contract)).into_py_any(py)
        }
        Event::Receipt { channel: _, participant: _, tag, outcome } => {
            ("receipt", tag, outcome.word()).into_py_any(py)
        }
        Event::Participant { participant, change } => {
            ("participant", participant_tuple(py, participant), change.word()).into_py_any(py)
        }
        Event::Count { count, everybody } => ("count", count, everybody).into_py_any(py),
        Event::Page { after, participants, last } => {
            let list: Vec<_> =
                participants.into_iter().map(|one| participant_tuple(py, one)).collect();
            ("page", after, list, last).into_py_any(py)
        }
        Event::Synced { channel } => ("synced", channel).into_py_any(py),
        Event::SnapshotWanted { part, as_of } => ("snapshot_wanted", part, as_of).into_py_any(py),
        Event::Snapshot { part, as_of, bytes } => {
            ("snapshot", part, as_of, PyBytes::new(py, &bytes)).into_py_any(py)
        }
        Event::Gap { reason, uncertain, channel, position } => {
            ("gap", reason.word(), uncertain, channel, position).into_py_any(py)
        }
        Event::Drain => ("drain",).into_py_any(py),
        Event::Pending { count } => ("pending", count).into_py_any(py),
        Event::TokenWanted => ("token_wanted",).into_py_any(py),
        Event::Failed { error, channel, fatal } => {
            ("failed", exception_object(py, error), channel, fatal).into_py_any(py)
        }
        Event::SharedChanged { data, changes } => {
            let changes: Vec<_> = changes
                .into_iter()
                .map(|change| (change.kind.word(), change.name, change.keys))
                .collect();
            ("shared_changed", data, changes).into_py_any(py)
        }
        Event::SharedLost { data, loss } => ("shared_lost", data, loss.word()).into_py_any(py),
        // A later version of the facade may have more, which the package does not know.
        _ => ("unknown",).into_py_any(py),
    }
}

/// A participant: id, state, user, presence.
pub(crate) type ParticipantTuple = (u32, &'static str, Option<String>, Py<PyBytes>);

pub(crate) fn participant_tuple(py: Python<'_>, participant: Participant) -> ParticipantTuple {
    let presence = PyBytes::new(py, &participant.presence).unbind();
    (participant.id, participant.state.word(), participant.user, presence)
}

/// A contract: state, text, measures, then judged, missed and late of the last ten seconds, and
/// median and 99th percentile of the age in milliseconds.
pub(crate) type ContractTuple = (&'static str, String, Vec<String>, (u64, u64, u64), (f64, f64));

pub(crate) fn contract_tuple(contract: &Contract) -> ContractTuple {
    let recent = contract.recent;
    (
        contract.state.word(),
        contract.text.clone(),
        contract.measures.clone(),
        (recent.judged, recent.missed, recent.late),
        (contract.median_ms, contract.p99_ms),
    )
}
