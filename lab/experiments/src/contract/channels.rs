//! The channels that are measured, with their contracts.

use std::time::Duration;

use groupwire_session::{Kind, Overflow, Qos};

/// The share of transactions that may come after the deadline. None may be lost.
const LATE_TRANSACTIONS: f64 = 0.01;

/// A type of message and its contract.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Channel {
    pub(super) name: &'static str,
    pub(super) qos: Qos,
    /// The channel's name on the wire. Two contracts may apply to one channel, one after the other.
    pub(super) wire: &'static str,
    /// Whether messages are text, or else bytes that no compressor makes smaller.
    pub(super) is_text: bool,
    /// The largest mean divergence from the mean latency that the application bears, if it cares.
    pub(super) jitter: Option<Duration>,
}

impl Channel {
    pub(super) const fn new(name: &'static str, qos: Qos) -> Self {
        Channel { name, qos, wire: name, is_text: true, jitter: None }
    }

    /// The share of messages that may be lost or late.
    pub(super) fn target(&self) -> f64 {
        match self.qos.kind {
            Kind::Transaction => LATE_TRANSACTIONS,
            Kind::Awareness => f64::from(self.qos.loss) / 1000.0,
        }
    }

    pub(super) fn deadline(&self) -> Duration {
        self.qos.deadline.unwrap_or(Duration::MAX)
    }

    /// Whether a newer value of a key makes up for an older one.
    pub(super) fn conflates(&self) -> bool {
        self.qos.overflow == Overflow::Conflate
    }
}

/// Indices of channels in [`table1`].
pub(super) const ADD: usize = 0;
pub(super) const DELETE: usize = 1;
pub(super) const MOVE: usize = 2;
pub(super) const MOVED: usize = 3;
pub(super) const RESIZE: usize = 4;
pub(super) const RESIZED: usize = 5;
pub(super) const EDIT: usize = 6;
pub(super) const EDITED: usize = 7;
pub(super) const VIEWPORT: usize = 8;
pub(super) const POINTER: usize = 9;
pub(super) const POINTER_VOICE: usize = 10;

/// The AFEC paper's Table 1, a shared whiteboard. *Latency* is the deadline, *reliability* what may
/// be lost.
pub(super) fn table1() -> Vec<Channel> {
    let on_event = |ms| Qos::transaction().deadline(Duration::from_millis(ms));
    let awareness = |ms, loss, min, max| {
        Qos::awareness().deadline(Duration::from_millis(ms)).loss_per_mille(loss).rate(min, max)
    };
    let pointer = Channel::new("telepointer", awareness(100, 200, 10, 25));
    vec![
        Channel::new("add-object", on_event(250)),
        Channel::new("delete-object", on_event(500)),
        Channel::new("move-object", awareness(100, 200, 5, 25)),
        Channel::new("move-object-final", on_event(500)),
        Channel::new("resize-object", awareness(100, 200, 5, 25)),
        Channel::new("resize-object-final", on_event(500)),
        Channel::new("modify-text", awareness(100, 50, 1, 5)),
        Channel::new("modify-text-final", on_event(500)),
        Channel::new("move-viewport", awareness(250, 200, 2, 5)),
        pointer,
        Channel { name: "telepointer-voice", qos: awareness(100, 100, 20, 30), ..pointer },
    ]
}

/// One channel of pointers, with a deadline in ms and what may be lost in 1/1000.
pub(super) fn pointers(deadline_ms: u64, loss: u16) -> Vec<Channel> {
    let deadline = Duration::from_millis(deadline_ms);
    let qos = Qos::awareness().deadline(deadline).loss_per_mille(loss).rate(10, 30);
    vec![Channel::new("telepointer", qos)]
}
