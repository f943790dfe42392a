//! Visitors: participants without a transport, for programs that speak plain HTTP. A visitor is a
//! participant like any other: it has a number, a verified user, rights and a quota, the others see
//! it, and its values go when it leaves. Instead of a transport it has requests. After its last one
//! it stays for [`Timing::away`](crate::Timing::away), like a participant whose transport is gone.
//!
//! A visitor has no feed. It [reads](crate::room::Room::read) the log from a [`Place`] that it
//! keeps itself, so the room holds nothing for slow ones, and values are conflated by the log.

mod people;
mod publish;
mod read;
mod seat;
#[cfg(test)]
mod tests;

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use crate::room::administration::{LookedAt, NotPublished};
use crate::{
    ChannelNo, Error, Identity, Index, Order, ParticipantId, Position, PresenceState, Qos,
};

/// The most bytes of the name by which a user tells its programs apart.
pub const MAX_VISITOR_NAME: usize = 64;

/// A program's request to be a participant, or to stay one.
#[derive(Debug, Clone, Copy)]
pub struct Visit<'a> {
    /// Who it is, as the server has verified.
    pub identity: &'a Identity,
    /// Tells programs of one user apart, which are different participants then. It may be empty.
    pub name: &'a str,
}

/// A message of a visitor. [`Room::publish_for`](crate::room::Room::publish_for) publishes it.
#[derive(Debug, Clone, Copy)]
pub struct VisitorMessage<'a> {
    /// The message. Its key of the request counts only among requests of the same user.
    pub publication: super::Publication<'a>,
    /// The QoS with which the channel is made if the room does not have it. `None`: then nothing is
    /// published.
    pub create: Option<Qos>,
}

/// Why a visitor's message was not published.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotAccepted {
    /// The participant has left.
    Gone,
    /// The authority does not permit it to publish on this channel.
    Refused(String),
    /// The participant is above its quota for this time.
    TooOften(Duration),
    /// Any other reason.
    NotPublished(NotPublished),
}

impl From<NotPublished> for NotAccepted {
    fn from(why: NotPublished) -> Self {
        NotAccepted::NotPublished(why)
    }
}

/// How far a visitor has read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Place {
    /// It has the transactions up to this position.
    pub position: Position,
    /// It has the values up to this order. Orders mean nothing in a room that was loaded again.
    pub order: Order,
}

/// What a visitor wants to read.
#[derive(Debug, Clone, Copy)]
pub struct Reading<'a> {
    /// The names of the channels.
    pub channels: &'a [&'a str],
    /// The place up to which the visitor has read. `None`: it wants the newest transactions and all
    /// values.
    pub after: Option<Place>,
    /// The most transactions, and the most values, that are returned; at least 1.
    pub limit: usize,
    /// No further message is returned after this many bytes.
    pub max_bytes: usize,
}

/// A message that a visitor reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadMessage {
    /// The place of its channel in [`Reading::channels`].
    pub channel: usize,
    /// The verified user of its sender, if that is still there.
    pub user: Option<String>,
    /// The message.
    pub message: LookedAt,
}

/// A visitor lacks transactions of a channel that the room no longer has: a part of the snapshot
/// stands for them, the channel was reset, or the log was full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MissedBefore {
    /// The place of the channel in [`Reading::channels`].
    pub channel: usize,
    /// The visitor lacks transactions up to this position.
    pub position: Position,
}

/// What [`Room::read`](crate::room::Room::read) returns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    /// Transactions in their order, then values, the oldest first.
    pub messages: Vec<ReadMessage>,
    /// What is missing before the messages.
    pub missed: Vec<MissedBefore>,
    /// The place after the messages.
    pub place: Place,
    /// True if there is more to read at once.
    pub more: bool,
}

/// Why nothing can be read.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotRead {
    /// The participant has left.
    Gone,
    /// The room has no channel of this name.
    NoChannel(String),
    /// The authority does not permit it to receive the messages of a channel.
    Refused {
        /// The name of the channel.
        channel: String,
        /// The authority's reason.
        why: String,
    },
}

/// A participant as the others see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// Its number.
    pub id: ParticipantId,
    /// Whether it is here.
    pub state: PresenceState,
    /// Its verified user.
    pub user: Option<String>,
    /// The presence that its application wrote.
    pub presence: Vec<u8>,
}

/// What has changed among the participants.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PeopleNews {
    /// The participants that came, changed or left. Empty in a large room (wire W103).
    pub changed: Vec<Person>,
    /// True if `changed` lists all participants of the room, so that all others have left.
    pub complete: bool,
    /// How many participants the room has.
    pub count: usize,
    /// Changes after these have a greater version.
    pub version: u64,
}

/// Grows with what visitors may want to read: the durable position, the order of the newest
/// message, and the version of the participants.
pub type Tidings = (Position, Order, u64);

/// The visitors of a room.
#[derive(Debug, Default)]
pub(super) struct Visitors {
    by_name: BTreeMap<(Vec<u8>, String), ParticipantId>,
    seats: BTreeMap<ParticipantId, Seat>,
}

/// What the room keeps of a visitor beside the participant.
#[derive(Debug)]
struct Seat {
    /// Subject and name.
    name: (Vec<u8>, String),
    /// The index of the last value on each channel.
    indices: BTreeMap<ChannelNo, Index>,
    /// It is above its quota until this time.
    not_before: Duration,
}

impl Visitors {
    /// Forgets a participant that left.
    pub(super) fn forget(&mut self, id: ParticipantId) {
        if let Some(seat) = self.seats.remove(&id) {
            self.by_name.remove(&seat.name);
        }
    }
}

/// Checks the name by which a user tells its programs apart.
fn check_name(name: &str) -> Result<(), Error> {
    match name.len() > MAX_VISITOR_NAME {
        true => Err(Error::TooLarge {
            what: "name of a client",
            size: name.len(),
            limit: MAX_VISITOR_NAME,
        }),
        false => Ok(()),
    }
}
