//! What a program takes from a session's queue.

use groupwire_ffi::{
    Change, Contract, GapReason, Message, Outcome, Participant, Qos, SharedChange, SharedLoss,
    Status,
};

use crate::error::Failure;

/// An event of a room. Channels are named by the number that `Session.channel` returned.
#[derive(Debug, Clone, PartialEq, uniffi::Enum)]
pub enum Event {
    /// The state of the connection changed.
    StatusChanged {
        /// The new state.
        status: Status,
    },
    /// This participant joined the room, or resumed its session in it.
    Joined {
        /// Its number.
        participant: u32,
        /// True if the session goes on where it stopped.
        resumed: bool,
    },
    /// The server opened a channel with this QoS, or changed the QoS of an open one.
    Opened {
        /// The channel.
        channel: u32,
        /// The QoS in force.
        qos: Qos,
        /// True if the channel was open before.
        changed: bool,
    },
    /// A channel is closed, as the program wanted.
    Closed {
        /// The channel.
        channel: u32,
    },
    /// A channel's contract began to be missed, or is kept again.
    ContractChanged {
        /// The channel.
        channel: u32,
        /// Its state.
        contract: Contract,
    },
    /// A message.
    Received {
        /// The message.
        message: Message,
    },
    /// A message to one participant: to this one, or an own one to another.
    ReceivedDirect {
        /// The message.
        message: Message,
    },
    /// The outcome of an own message to one participant.
    Receipt {
        /// The channel.
        channel: u32,
        /// The receiver.
        participant: u32,
        /// The program's number of the message.
        tag: u32,
        /// The outcome.
        outcome: Outcome,
    },
    /// A participant came, changed or left. `Session.participants` is
    /// up to date with it.
    ParticipantChanged {
        /// The participant, as it is now; one that left as it was last.
        participant: Participant,
        /// The kind of the change.
        change: Change,
    },
    /// How many participants a large room has.
    Count {
        /// All participants, this one among them.
        count: u32,
        /// True if all of them are announced by `Event.ParticipantChanged`.
        everybody: bool,
    },
    /// The answer to `Session.want_page`.
    Page {
        /// The number after which the page begins.
        after: u32,
        /// The participants, without this one.
        participants: Vec<Participant>,
        /// True if no others follow.
        last: bool,
    },
    /// The late-joiner state is complete.
    Synced {
        /// Of this channel; `None`: of all that were open when joining.
        channel: Option<u32>,
    },
    /// The room wants a part of its snapshot: answer with
    /// `Session.snapshot`.
    SnapshotWanted {
        /// The name of the part.
        part: String,
        /// The position up to which the part has to hold all transactions.
        as_of: u64,
    },
    /// A part of the room's snapshot, which replaces all state built from transactions of its
    /// channels so far.
    Snapshot {
        /// The name of the part.
        part: String,
        /// The position up to which the part stands for transactions.
        as_of: u64,
        /// What a participant uploaded.
        bytes: Vec<u8>,
    },
    /// Something is lost and cannot be received again.
    Gap {
        /// The reason, which says what is lost.
        reason: GapReason,
        /// Own transactions that were sent and not acknowledged. They are sent again.
        uncertain: u64,
        /// Of history and reset: the channel.
        channel: Option<u32>,
        /// Of history and reset: the position up to which transactions are missing; otherwise 0.
        position: u64,
    },
    /// After `Sent.NotNow`: messages are accepted again.
    Drain,
    /// The first own transactions wait for their confirmation, or all are confirmed.
    Pending {
        /// How many wait.
        count: u64,
    },
    /// The token expires soon, has expired or was revoked: call
    /// `Session.set_token`.
    TokenWanted,
    /// An error.
    Failed {
        /// The error.
        failure: Failure,
        /// The channel that it is about, if it is about one.
        channel: Option<u32>,
        /// True if the room is closed, because trying again cannot help.
        fatal: bool,
    },
    /// Shared data may have changed, also by this participant, or its state may have
    /// (`Session.shared_state`).
    SharedChanged {
        /// The data, as `Session.shared` returned it.
        data: u32,
        /// The data of each name that may have changed; empty if only the state has.
        changes: Vec<SharedChange>,
    },
    /// This program does not have all of the shared data.
    SharedLost {
        /// The data, as `Session.shared` returned it.
        data: u32,
        /// The part that is lost, and why.
        loss: SharedLoss,
    },
    /// An event that this version of the library does not know.
    Other,
}

impl From<groupwire_ffi::Event> for Event {
    fn from(event: groupwire_ffi::Event) -> Event {
        use groupwire_ffi::Event as From;
        match event {
            From::Status { status } => Event::StatusChanged { status },
            From::Joined { participant, resumed } => Event::Joined { participant, resumed },
            From::Opened { channel, qos, changed } => Event::Opened { channel, qos, changed },
            From::Closed { channel } => Event::Closed { channel },
            From::Contract { channel, contract } => Event::ContractChanged { channel, contract },
            From::Message(message) => Event::Received { message },
            From::Direct(message) => Event::ReceivedDirect { message },
            From::Receipt { channel, participant, tag, outcome } => {
                Event::Receipt { channel, participant, tag, outcome }
            }
            From::Participant { participant, change } => {
                Event::ParticipantChanged { participant, change }
            }
            From::Count { count, everybody } => Event::Count { count, everybody },
            From::Page { after, participants, last } => Event::Page { after, participants, last },
            From::Synced { channel } => Event::Synced { channel },
            From::SnapshotWanted { part, as_of } => Event::SnapshotWanted { part, as_of },
            From::Snapshot { part, as_of, bytes } => Event::Snapshot { part, as_of, bytes },
            From::Gap { reason, uncertain, channel, position } => {
                Event::Gap { reason, uncertain, channel, position }
            }
            From::Drain => Event::Drain,
            From::Pending { count } => Event::Pending { count },
            From::TokenWanted => Event::TokenWanted,
            From::Failed { error, channel, fatal } => {
                Event::Failed { failure: error.into(), channel, fatal }
            }
            From::SharedChanged { data, changes } => Event::SharedChanged { data, changes },
            From::SharedLost { data, loss } => Event::SharedLost { data, loss },
            _ => Event::Other,
        }
    }
}
