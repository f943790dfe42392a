//! What a client tells its application.

use alloc::vec::Vec;
use core::time::Duration;

use super::ChannelId;
use crate::ids::{Index, ParticipantId, Position};
use crate::{ContractNews, Error, PresenceState, Qos};

/// Something the application should know.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The state of the connection changed.
    Status(Status),
    /// The room took this participant in, or back.
    Joined {
        /// Its number, small and never given to anybody else in this incarnation.
        participant: ParticipantId,
        /// Whether the session continues where it stopped.
        resumed: bool,
    },
    /// The server answered for a channel: this QoS holds.
    Opened {
        /// Which channel.
        channel: ChannelId,
        /// What holds.
        qos: Qos,
    },
    /// A channel's QoS became another one while it was open.
    Changed {
        /// Which channel.
        channel: ChannelId,
        /// What holds from now on.
        qos: Qos,
    },
    /// A channel's contract began to be missed, or is kept again.
    Contract(ContractNews),
    /// A message.
    Message(Incoming),
    /// People came, changed or went.
    Participants {
        /// The list replaces all that was known; else it adds to it.
        complete: bool,
        /// Who.
        changes: Vec<ParticipantChange>,
    },
    /// Late-joiner state is complete: of one channel, or of all that were open when joining.
    Synced {
        /// `None`: of the join.
        channel: Option<ChannelId>,
    },
    /// The room wants a snapshot: answer with [`Client::snapshot`](super::Client::snapshot) and this `as_of`.
    SnapshotWanted {
        /// The state to send is the one after all events before this one: all transactions up to here.
        as_of: Position,
    },
    /// A snapshot that replaces all state built from transactions so far.
    Snapshot {
        /// It stands for all transactions up to this position.
        as_of: Position,
        /// What a participant uploaded.
        bytes: Vec<u8>,
    },
    /// Something is missing that cannot be had again.
    Gap {
        /// What.
        reason: GapReason,
        /// Own transactions that were sent but not acknowledged, and are sent again under a new
        /// number: the lost session may have ordered some of them already.
        uncertain: usize,
    },
    /// The transport may be dead: nothing has been heard for suspiciously long. A shell that knows of another one
    /// opens it now and reports it by [`Input::Opened`](super::Input::Opened).
    Quiet {
        /// `false`: it was heard again.
        quiet: bool,
    },
    /// After [`Sent::NotNow`](super::Sent::NotNow): there is room again.
    Drain,
    /// Something went wrong.
    Error {
        /// What, and who is at fault.
        error: Error,
        /// The channel that was refused, if it was about one.
        channel: Option<ChannelId>,
        /// The client ended; trying again cannot help.
        fatal: bool,
    },
}

/// The state of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// For the first time.
    Connecting,
    /// Joined.
    Connected,
    /// The transport broke.
    Reconnecting,
    /// For good.
    Closed,
}

/// Why something is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GapReason {
    /// The room lost its state; whoever still has it should send it again.
    Incarnation,
    /// The room no longer knows this participant, which has a new number now.
    Session,
    /// Transactions are missing that the room no longer has.
    History,
}

/// A message that arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incoming {
    /// Its channel.
    pub channel: ChannelId,
    /// Who sent it.
    pub sender: ParticipantId,
    /// The message.
    pub bytes: Vec<u8>,
    /// Whether it was sent as text; then it is UTF-8.
    pub text: bool,
    /// The sender's key, if it gave one.
    pub key: Option<Vec<u8>>,
    /// The sender's priority, if it differs from the channel's.
    pub priority: Option<u8>,
    /// How long ago the sending application made it, as far as is known.
    pub age: Duration,
    /// Place of a transaction in the room's order; 0 for awareness.
    pub position: Position,
    /// The sender's own count: of its transactions, or of its messages on an awareness channel.
    pub index: Index,
    /// One's own transaction at its place in the order.
    pub own: bool,
    /// Awareness that a later transaction of its sender has overtaken.
    pub stale: bool,
    /// Part of what a late joiner is sent.
    pub state: bool,
}

/// News of a participant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParticipantChange {
    /// Who.
    pub id: ParticipantId,
    /// Whether it is there.
    pub state: PresenceState,
    /// What it says of itself; empty when it left.
    pub presence: Vec<u8>,
}
