//! Requests of programs that are no participants, and the room's answers: they read channels,
//! publish as the room itself, and reset channels.

pub(super) mod look;
mod ordered;
mod publication;
mod reset;

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use crate::room::log::RequestKey;
use crate::{ChannelNo, Error, Order, ParticipantId, Position, Qos};

/// A message that the room itself publishes.
#[derive(Debug, Clone, Copy)]
pub struct Publication<'a> {
    /// The name of a channel that the room has.
    pub channel: &'a str,
    /// The content, at most [`Limits::max_message`](crate::Limits::max_message) bytes.
    pub bytes: &'a [u8],
    /// True if the content is text.
    pub text: bool,
    /// On a channel that conflates, the key whose value this is.
    pub key: Option<&'a [u8]>,
    /// Identifies the request, so that the room carries out a repeated request only once. Required
    /// for a transaction.
    pub request: Option<RequestKey>,
}

/// A message that was published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Published {
    /// A transaction at this position. In a stored room it takes effect once it is durable.
    Transaction {
        /// Its place in the room's order.
        position: Position,
        /// True if an earlier request with the same key published it, and this one published
        /// nothing.
        repeated: bool,
    },
    /// An awareness message.
    Awareness,
}

/// Why nothing was published.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotPublished {
    /// The room has no channel of this name.
    NoChannel,
    /// The channel carries transactions, and the request has no key.
    NoRequestKey,
    /// Another request with this key published something else.
    OtherContent,
    /// The room can take no transactions at present: its store has no space, or is behind.
    NotNow,
    /// The message is over a limit, or its text is not UTF-8.
    Failed(Error),
}

/// Why channels were not reset.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotReset {
    /// The room has no channel of this name.
    NoChannel(String),
    /// A part of the snapshot stands for these channels, too. All channels of a part have to be
    /// reset together.
    SharesPart(Vec<String>),
    /// A limit of the room was reached.
    Failed(Error),
}

/// What a channel holds.
#[derive(Debug, Clone, PartialEq)]
pub struct ChannelContents {
    /// Its number in the room.
    pub id: ChannelNo,
    /// Its name.
    pub name: String,
    /// The channel's QoS.
    pub qos: Qos,
    /// Participants that have the channel open and receive its messages.
    pub receivers: usize,
    /// The transactions in memory, and the bytes of their messages.
    pub transactions: (usize, usize),
    /// The awareness values, and the bytes of their messages.
    pub values: (usize, usize),
    /// The part of the snapshot that stands for older transactions, if there is one.
    pub part: Option<PartFacts>,
    /// The position of the last reset; 0 if there was none.
    pub reset: Position,
}

/// A part of the snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartFacts {
    /// Its name.
    pub name: String,
    /// It stands for the transactions of its channels up to this position.
    pub as_of: Position,
    /// Its size in bytes.
    pub size: usize,
}

/// A transaction or a value that [`Room::newest`](crate::room::Room::newest) returns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LookedAt {
    /// The place of a transaction in the room's order; 0 for a value.
    pub position: Position,
    /// The place among all messages that the room received since it is in memory.
    pub order: Order,
    /// The participant that sent it; 0 is the room itself.
    pub sender: ParticipantId,
    /// Its key, if it has one.
    pub key: Option<Vec<u8>>,
    /// True if the content was sent as text.
    pub text: bool,
    /// The participant that left, if this is the room's own entry about that.
    pub departed: Option<ParticipantId>,
    /// The size of the content in bytes.
    pub size: usize,
    /// The beginning of the content.
    pub bytes: Vec<u8>,
    /// The time since the sending application made it.
    pub age: Duration,
}

/// The messages that [`Room::newest`](crate::room::Room::newest) returns.
#[derive(Debug, Clone, Copy)]
pub struct Newest {
    /// Transactions before this position; `None`: the newest.
    pub transactions_before: Option<Position>,
    /// Values before this order; `None`: the newest.
    pub values_before: Option<Order>,
    /// The most transactions, and the most values, that are returned.
    pub limit: usize,
    /// The most bytes of each content that are returned.
    pub max_bytes: usize,
}

/// A transaction at its place in the room's order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ordered<'a> {
    /// The place in the room's order. Positions begin at 1, and a large transaction takes more than
    /// one: this is its last.
    pub position: Position,
    /// The participant that sent the transaction; 0 is the room itself, for a program that is no
    /// participant.
    pub sender: ParticipantId,
    /// The name of the channel.
    pub channel: &'a str,
    /// The sender's key, if it gave one.
    pub key: Option<&'a [u8]>,
    /// The content.
    pub bytes: Cow<'a, [u8]>,
    /// True if the content was sent as text. It is UTF-8 then.
    pub text: bool,
    /// The participant that left, if this is the room's own entry about that, which has no content.
    /// Channels have such entries if their QoS says so
    /// ([`Qos::departures`](crate::Qos::departures)).
    pub departed: Option<ParticipantId>,
}
