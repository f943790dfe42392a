//! The channels of a replay: one for each kind of message in the recording.

use groupwire_client::Qos;
use groupwire_trace::Trace;

use super::options::QosChoice;

/// Kinds of messages that show a position, so that the next message replaces a lost one. The names
/// are those in this project's recordings, of the whiteboard's channels, and common ones.
const POINTERS: [&str; 7] = ["tele", "pointer", "telepointer", "cursor", "mouse", "drag", "stroke"];

/// A channel to open.
#[derive(Debug, Clone)]
pub(super) struct Open {
    pub(super) name: String,
    pub(super) qos: Qos,
}

/// One channel for each kind of message in the trace, in the order of the kinds.
pub(super) fn of(trace: &Trace, choice: QosChoice) -> Vec<Open> {
    let aggregate = Qos::awareness().loss_per_mille(0).aggregate();
    let open = |kind: &String| {
        let qos = match choice {
            QosChoice::Transaction => Qos::transaction(),
            QosChoice::Aggregate => aggregate,
            QosChoice::Conflate => Qos::awareness(),
            QosChoice::ByKind if POINTERS.contains(&kind.as_str()) => aggregate,
            QosChoice::ByKind => Qos::transaction(),
        };
        // A room refuses a channel without a name.
        let name = if kind.is_empty() { "message".to_owned() } else { kind.clone() };
        Open { name, qos }
    };
    trace.kinds.iter().map(open).collect()
}
