//! Which channel a recorded message goes on: one for each kind.

use groupwire_client::Qos;
use groupwire_lab::Trace;

use super::Promise;

/// Kinds that show where somebody is: of these the next one makes up for a lost one. The names are those of our
/// recordings, of the whiteboard's channels, and a few that others use.
const POINTERS: [&str; 7] = ["tele", "pointer", "telepointer", "cursor", "mouse", "drag", "stroke"];

/// A channel to open.
#[derive(Debug, Clone)]
pub(super) struct Open {
    pub(super) name: String,
    pub(super) qos: Qos,
}

/// The channel of each of the trace's kinds.
pub(super) fn of(trace: &Trace, promise: Promise) -> Vec<Open> {
    let aggregate = Qos::awareness().loss_per_mille(0).aggregate();
    let open = |kind: &String| {
        let qos = match promise {
            Promise::Transaction => Qos::transaction(),
            Promise::Aggregate => aggregate,
            Promise::Conflate => Qos::awareness(),
            Promise::ByKind if POINTERS.contains(&kind.as_str()) => aggregate,
            Promise::ByKind => Qos::transaction(),
        };
        // The room has no use for a nameless channel.
        let name = if kind.is_empty() { "message".to_owned() } else { kind.clone() };
        Open { name, qos }
    };
    trace.kinds.iter().map(open).collect()
}
