//! The events that a client hands to its application.

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use super::api::Recipient;
use super::channel_id::ChannelId;
use crate::ids::{Index, ParticipantId, Position};
use crate::{ContractEvent, Error, Owner, PresenceState, Qos, Receipt};

/// An event that a client hands to its application.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The state of the connection changed.
    Status(Status),
    /// The participant joined the room, or resumed its session in it.
    Joined {
        /// Its number, which no other participant is given in this incarnation of the room.
        participant: ParticipantId,
        /// True if the session continues where it stopped.
        resumed: bool,
    },
    /// The server opened a channel with this QoS.
    Opened {
        /// The channel.
        channel: ChannelId,
        /// The channel's QoS.
        qos: Qos,
    },
    /// The server changed a channel's QoS while the channel was open.
    Changed {
        /// The channel.
        channel: ChannelId,
        /// The QoS that holds from now on.
        qos: Qos,
    },
    /// A channel that the application wanted to close is closed: no more messages are received on
    /// it.
    Closed {
        /// The channel.
        channel: ChannelId,
    },
    /// A channel's contract began to be missed, or is kept again.
    Contract(ContractEvent),
    /// A message. Awareness comes after [`Event::Participants`] has named its sender (wire W104),
    /// if it is a participant.
    Message(Incoming),
    /// A direct transaction (wire W114): one for this participant alone, or an own one for another
    /// participant. It comes at its place in the room's order. No other participant receives it, so
    /// state that all participants share must not depend on it.
    Direct(Incoming),
    /// The outcome of a message that this participant sent to one other
    /// ([`Outgoing::to`](super::Outgoing::to)). It comes once for each that the room has taken, or
    /// that was given up.
    Receipt {
        /// The channel.
        channel: ChannelId,
        /// The receiver, with the application's number of the message.
        to: Recipient,
        /// The outcome.
        receipt: Receipt,
    },
    /// Participants came, changed or left.
    Participants {
        /// `true`: `changes` replaces the whole list of participants. `false`: `changes` has only
        /// the participants that changed.
        complete: bool,
        /// The new state of each participant.
        changes: Vec<ParticipantChange>,
    },
    /// The room became large or is no longer large, or its number of participants changed while it
    /// is large. In a large room this event also follows [`Event::Joined`].
    Count {
        /// The participants that are here or away, this one among them.
        count: u32,
        /// `true`: [`Event::Participants`] reports all participants, as in a room that is not
        /// large. `false`: it reports only participants that act, each before its message;
        /// [`Client::want_page`](super::Client::want_page) asks for the others.
        everybody: bool,
    },
    /// Some participants, in the order of their numbers, as they were when the room was
    /// [asked](super::Client::want_page).
    Page {
        /// The numbers of all these participants are greater than this one.
        after: ParticipantId,
        /// The participants, without this one.
        participants: Vec<ParticipantChange>,
        /// True if no further participants follow.
        last: bool,
    },
    /// Late-joiner state is complete: of one channel, or of all that were open when joining.
    Synced {
        /// The channel; `None`: all that were open when joining.
        channel: Option<ChannelId>,
    },
    /// The room wants a part of its snapshot that the application
    /// [provides](super::Client::provide): answer with
    /// [`Client::snapshot`](super::Client::snapshot) and this `as_of`.
    SnapshotWanted {
        /// The name of the part.
        part: String,
        /// The part is to hold the transactions of its channels up to this position: the state
        /// after all events before this one.
        as_of: Position,
    },
    /// A part of the room's snapshot. It replaces all state built from transactions of its channels
    /// so far.
    Snapshot {
        /// The name of the part.
        part: String,
        /// The part stands for the transactions of its channels up to this position.
        as_of: Position,
        /// What a participant uploaded.
        bytes: Vec<u8>,
    },
    /// Transactions or a whole session are lost and cannot be received again.
    Gap {
        /// The reason why content is missing, which says what is.
        reason: GapReason,
        /// The number of own transactions that were sent but not acknowledged. They are sent again
        /// under new numbers, though the lost session may have ordered some of them already.
        uncertain: usize,
        /// Of [`GapReason::History`] and [`GapReason::Reset`]: the channel, and the position up to
        /// which transactions of it are missing.
        missing: Option<(ChannelId, Position)>,
    },
    /// The transport may be dead: no packet came for suspiciously long. A shell that knows of
    /// another transport opens it now and reports it by [`Input::Opened`](super::Input::Opened).
    Quiet {
        /// `false`: a packet came after all.
        quiet: bool,
    },
    /// After [`Sent::NotNow`](super::Sent::NotNow): the client accepts messages again.
    Drain,
    /// The first own transactions wait for their confirmation, or all are confirmed. It is emitted
    /// when [`Client::pending`](super::Client::pending) is no longer 0 and when it is 0 again, not
    /// for each transaction.
    Pending {
        /// Own transactions that are not confirmed, at this moment.
        count: usize,
    },
    /// The token expires soon, has expired or was revoked: call
    /// [`Client::set_token`](super::Client::set_token) with another one. After it has expired or
    /// was revoked, the client does not dial before.
    TokenWanted,
    /// The room is on another server than the one that the client is connected to. A shell that can
    /// opens a transport there after the stated time, and reports it by
    /// [`Input::Opened`](super::Input::Opened).
    Owner(Owner),
    /// An error, of the session or of one channel.
    Error {
        /// The error, which says who is at fault.
        error: Error,
        /// The channel that it is about, if it is about one.
        channel: Option<ChannelId>,
        /// `true`: the client has ended, as trying again cannot help.
        fatal: bool,
    },
}

/// The state of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The client connects for the first time.
    Connecting,
    /// The room took the client in.
    Connected,
    /// The transport broke, and the client connects again.
    Reconnecting,
    /// The client has ended for good.
    Closed,
}

/// The reason of an [`Event::Gap`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GapReason {
    /// The room lost its state; an application that still has it should send it again.
    Incarnation,
    /// The room no longer knows this participant, which has a new number now.
    Session,
    /// Transactions are missing that the room no longer has.
    History,
    /// An administrator reset a channel: the application forgets all that it has of this channel.
    Reset,
}

/// A message that arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incoming {
    /// The channel that it was sent on.
    pub channel: ChannelId,
    /// The participant that sent it; 0 is the room itself, for a program that is no participant.
    pub sender: ParticipantId,
    /// The content of the message.
    pub bytes: Vec<u8>,
    /// True if the message was sent as text; then it is UTF-8.
    pub text: bool,
    /// The sender's key, if it gave one.
    pub key: Option<Vec<u8>>,
    /// The sender's priority, if it differs from the channel's.
    pub priority: Option<u8>,
    /// How long ago the sending application made it, as far as the clocks of both ends tell.
    pub age: Duration,
    /// The place of a transaction in the room's order. 0 for awareness, and for an own transaction
    /// whose place the server does not state: a part of the snapshot covers it, or it can no longer
    /// be had.
    pub position: Position,
    /// Its number among the sender's transactions, or among the sender's messages on an awareness
    /// channel.
    pub index: Index,
    /// True for an own transaction that now has its place in the room's order.
    pub own: bool,
    /// True for awareness that a later transaction of its sender has overtaken.
    pub stale: bool,
    /// True for late-joiner state: what the participant missed in a break is not state.
    pub state: bool,
    /// The participant that left for good, if this is the room's own entry about that, which has no
    /// content. Channels have such entries if their QoS says so
    /// ([`Qos::departures`](crate::Qos::departures)).
    pub departed: Option<ParticipantId>,
    /// The only receiver, if the message has one: this participant, or, for an own transaction, the
    /// participant that it was sent to.
    pub to: Option<ParticipantId>,
}

/// What changed about a participant.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParticipantChange {
    /// The participant.
    pub id: ParticipantId,
    /// The connection state of the participant.
    pub state: PresenceState,
    /// Its user, as the server verified (wire W100): not even a participant that lies can be of
    /// another user. `None` if the server does not know its users, or the participant left.
    pub user: Option<String>,
    /// The presence that it published itself, so that it may say anything; empty when it left.
    pub presence: Vec<u8>,
}
