//! The results of a session's functions: types of `groupwire_ffi`, declared for UniFFI.

use groupwire_ffi::{
    Change, ChannelStats, Contract, ContractState, Durability, GapReason, Message, Outcome,
    Participant, Presence, Stats, Status, Tally, Traffic,
};

/// A message that arrived.
#[uniffi::remote(Record)]
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

/// A participant of a room.
#[uniffi::remote(Record)]
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

/// The state of a room's connection.
#[uniffi::remote(Enum)]
pub enum Status {
    /// It connects for the first time.
    Connecting,
    /// The room took this participant in.
    Connected,
    /// The connection broke, and the client connects again.
    Reconnecting,
    /// The room is closed for good.
    Closed,
}

/// The state of a participant's connection.
#[uniffi::remote(Enum)]
pub enum Presence {
    /// It left, or did not come back in time.
    Left,
    /// The participant is connected.
    Here,
    /// Its connection broke; it may still come back.
    Away,
}

/// What happened to a participant.
#[uniffi::remote(Enum)]
pub enum Change {
    /// The participant came.
    Came,
    /// Its presence, user or connection changed.
    Changed,
    /// The participant left.
    Left,
}

/// The reason of a gap.
#[uniffi::remote(Enum)]
pub enum GapReason {
    /// The room lost its state; a program that still has it should send it again.
    Incarnation,
    /// The room no longer knows this participant, which has a new number now.
    Session,
    /// Transactions are missing that the room no longer has.
    History,
    /// An administrator reset a channel: the program forgets all that it has of it.
    Reset,
}

/// The outcome of a message to one participant.
#[uniffi::remote(Enum)]
pub enum Outcome {
    /// The receiver's program has it.
    Delivered,
    /// The receiver is not in the room, or left before it confirmed the message.
    Gone,
    /// The receiver has not opened the channel, or may not receive on it.
    NotOpen,
    /// Too many messages wait for the receiver.
    Full,
    /// Not known: the session or the room's state was lost.
    Unknown,
}

/// What a confirmed transaction survives.
#[uniffi::remote(Enum)]
pub enum Durability {
    /// Nothing: the room ends with its server.
    Memory,
    /// The end of the server and its machine, but not of its disk.
    Local,
    /// The loss of a server's disk, too.
    Cluster,
}

/// Whether a channel's contract is kept, judged by what this participant receives.
#[uniffi::remote(Record)]
pub struct Contract {
    /// The state.
    pub state: ContractState,
    /// The state as a sentence for people.
    pub text: String,
    /// What Groupwire does to keep the contract, as sentences for people.
    pub measures: Vec<String>,
    /// Messages of the last ten seconds; all 0 in an event.
    pub recent: Tally,
    /// Messages since the channel was opened; all 0 in an event.
    pub total: Tally,
    /// The median age of received messages in milliseconds; 0 if none came.
    pub median_ms: f64,
    /// The age in milliseconds that 1 % of received messages exceed; 0 if none came.
    pub p99_ms: f64,
}

/// Whether a contract is kept.
#[uniffi::remote(Enum)]
pub enum ContractState {
    /// It is kept, or there were too few messages to tell.
    Met,
    /// The contract was broken in the last ten seconds.
    Missed,
    /// It cannot be kept on the present path.
    CannotMeet,
}

/// A count of judged messages.
#[uniffi::remote(Record)]
pub struct Tally {
    /// Messages that were received, or are known to be missing.
    pub judged: u64,
    /// Of these, messages that were not received, or too late.
    pub missed: u64,
    /// Of these, messages that were received too late.
    pub late: u64,
}

/// Totals since the room was made. "Before" counts the bytes of messages, "after" whole packets.
#[uniffi::remote(Record)]
pub struct Stats {
    /// Messages handed to the transport.
    pub messages_out: u64,
    /// Bytes of these messages.
    pub bytes_out_before: u64,
    /// Bytes of the packets that carried them.
    pub bytes_out_after: u64,
    /// Packets handed to the transport.
    pub packets_out: u64,
    /// Packets that were sent as datagrams.
    pub datagrams_out: u64,
    /// Messages delivered.
    pub messages_in: u64,
    /// Bytes of these messages.
    pub bytes_in_before: u64,
    /// Bytes of the packets that carried them.
    pub bytes_in_after: u64,
    /// Packets received.
    pub packets_in: u64,
    /// Packets that came as datagrams.
    pub datagrams_in: u64,
    /// Awareness values replaced by newer ones before they were sent.
    pub conflated: u64,
    /// How often the session was resumed after its transport was lost.
    pub reconnects: u64,
    /// The smoothed round-trip time in milliseconds; 0 before the first measurement.
    pub round_trip_ms: f64,
}

/// The traffic of one channel.
#[uniffi::remote(Record)]
pub struct ChannelStats {
    /// Messages to the server.
    pub sent: Traffic,
    /// Messages from the server.
    pub received: Traffic,
}

/// The traffic of one channel in one direction.
#[uniffi::remote(Record)]
pub struct Traffic {
    /// Messages that were packed alone, or not compressed.
    pub messages: u64,
    /// Their bytes before compression.
    pub bytes_before: u64,
    /// Their bytes after compression.
    pub bytes_after: u64,
    /// Messages that were coded together with others of their packet.
    pub coded_messages: u64,
    /// Their bytes before compression.
    pub coded_bytes: u64,
    /// The codec of the last message that was packed alone; `None` if there was none.
    pub codec: Option<String>,
}
