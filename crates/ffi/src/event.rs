//! What a program takes from a room's queue.

use crate::contract::Contract;
use crate::error::Error;
use crate::options::Qos;

/// An event of a room. Channels are named by the number that
/// [`Room::channel`](crate::Room::channel) returned.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The state of the connection changed.
    Status {
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
    Contract {
        /// The channel.
        channel: u32,
        /// Its state.
        contract: Contract,
    },
    /// A message.
    Message(Message),
    /// A message to one participant: to this one, or an own one to another.
    Direct(Message),
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
    /// A participant came, changed or left. [`Room::participants`](crate::Room::participants) is
    /// up to date with it.
    Participant {
        /// The participant, as it is now; one that left as it was last.
        participant: Participant,
        /// The kind of the change.
        change: Change,
    },
    /// How many participants a large room has.
    Count {
        /// All participants, this one among them.
        count: u32,
        /// True if all of them are announced by [`Event::Participant`].
        everybody: bool,
    },
    /// The answer to [`Room::want_page`](crate::Room::want_page).
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
    /// [`Room::snapshot`](crate::Room::snapshot).
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
    /// After [`Sent::NotNow`](crate::Sent::NotNow): messages are accepted again.
    Drain,
    /// The first own transactions wait for their confirmation, or all are confirmed.
    Pending {
        /// How many wait.
        count: u64,
    },
    /// The token expires soon, has expired or was revoked: call
    /// [`Room::set_token`](crate::Room::set_token).
    TokenWanted,
    /// An error.
    Failed {
        /// The error.
        error: Error,
        /// The channel that it is about, if it is about one.
        channel: Option<u32>,
        /// True if the room is closed, because trying again cannot help.
        fatal: bool,
    },
    /// Shared data may have changed, also by this participant, or its state may have
    /// ([`Room::shared_state`](crate::Room::shared_state)).
    SharedChanged {
        /// The data, as [`Room::shared`](crate::Room::shared) returned it.
        data: u32,
        /// The data of each name that may have changed; empty if only the state has.
        changes: Vec<SharedChange>,
    },
    /// This program does not have all of the shared data.
    SharedLost {
        /// The data, as [`Room::shared`](crate::Room::shared) returned it.
        data: u32,
        /// The part that is lost, and why.
        loss: SharedLoss,
    },
}

/// A message that arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The channel.
    pub channel: u32,
    /// The participant that sent it; 0 is the room itself.
    pub sender: u32,
    /// The content; UTF-8 if `text`.
    pub bytes: Vec<u8>,
    /// True if it was sent as text.
    pub text: bool,
    /// The sender's key, if it gave one.
    pub key: Option<Vec<u8>>,
    /// Microseconds since the sending program made it, as far as the clocks of both ends tell.
    pub age_us: u64,
    /// The place of a transaction in the room's order; 0 for awareness.
    pub position: u64,
    /// Its number among the sender's transactions, or among its messages on an awareness channel.
    pub index: u32,
    /// True for an own transaction, which now has its place in the order.
    pub own: bool,
    /// True for awareness that a later transaction of its sender has overtaken.
    pub stale: bool,
    /// True for late-joiner state.
    pub state: bool,
    /// The participant that left for good, if this is the room's entry about that; otherwise 0.
    pub departed: u32,
    /// The only receiver, if the message has one; otherwise 0.
    pub to: u32,
}

/// A map, list, counter, lock or order of turns that may have changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedChange {
    /// The kind of the data.
    pub kind: SharedKind,
    /// Its name.
    pub name: String,
    /// The keys of a map, or the ids of a list's items, that may have changed; otherwise empty.
    pub keys: Vec<String>,
}

/// A participant of a room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Participant {
    /// Its number, which no other participant of the room ever has.
    pub id: u32,
    /// The state of its connection.
    pub state: Presence,
    /// Its user, as the server verified; `None` if the server does not know its users.
    pub user: Option<String>,
    /// The presence that it published itself.
    pub presence: Vec<u8>,
}

/// Declares an enum without fields whose numbers C uses and whose words other languages use.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $number:literal $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u32)]
        pub enum $name {
            $($(#[$variant_doc])* $variant = $number,)*
        }

        impl $name {
            /// The word for programs and logs.
            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }
        }
    };
}

words! {
    /// The state of a room's connection.
    Status {
        /// It connects for the first time.
        Connecting = 0 "connecting",
        /// The room took this participant in.
        Connected = 1 "connected",
        /// The connection broke, and the client connects again.
        Reconnecting = 2 "reconnecting",
        /// The room is closed for good.
        Closed = 3 "closed",
    }
}

words! {
    /// The state of a participant's connection.
    Presence {
        /// It left, or did not come back in time.
        Left = 0 "left",
        /// The participant is connected.
        Here = 1 "here",
        /// Its connection broke; it may still come back.
        Away = 2 "away",
    }
}

words! {
    /// What happened to a participant.
    Change {
        /// The participant came.
        Came = 0 "came",
        /// Its presence, user or connection changed.
        Changed = 1 "changed",
        /// The participant left.
        Left = 2 "left",
    }
}

words! {
    /// The reason of a gap.
    GapReason {
        /// The room lost its state; a program that still has it should send it again.
        Incarnation = 0 "incarnation",
        /// The room no longer knows this participant, which has a new number now.
        Session = 1 "session",
        /// Transactions are missing that the room no longer has.
        History = 2 "history",
        /// An administrator reset a channel: the program forgets all that it has of it.
        Reset = 3 "reset",
    }
}

words! {
    /// The outcome of a message to one participant.
    Outcome {
        /// The receiver's program has it.
        Delivered = 0 "delivered",
        /// The receiver is not in the room, or left before it confirmed the message.
        Gone = 1 "gone",
        /// The receiver has not opened the channel, or may not receive on it.
        NotOpen = 2 "not-open",
        /// Too many messages wait for the receiver.
        Full = 3 "full",
        /// Not known: the session or the room's state was lost.
        Unknown = 4 "unknown",
    }
}

words! {
    /// What a confirmed transaction survives.
    Durability {
        /// Nothing: the room ends with its server.
        Memory = 0 "memory",
        /// The end of the server and its machine, but not of its disk.
        Local = 1 "local",
        /// The loss of a server's disk, too.
        Cluster = 2 "cluster",
    }
}

words! {
    /// A kind of shared data. The names of two kinds do not conflict.
    SharedKind {
        /// A map or a list.
        Cells = 0 "cells",
        /// A counter.
        Counter = 1 "counter",
        /// A value with a reducer, which only programs in Rust and TypeScript can read.
        Reducer = 2 "reducer",
        /// A lock.
        Lock = 3 "lock",
        /// Turns.
        Turns = 4 "turns",
    }
}

words! {
    /// Why a program does not have all of the shared data.
    SharedLoss {
        /// Operations are missing that the room no longer has: join the room anew.
        History = 0 "history",
        /// The server has lost the room, and this program came back too late to restore its state.
        Restart = 1 "restart",
        /// A snapshot is malformed.
        Snapshot = 2 "snapshot",
    }
}
