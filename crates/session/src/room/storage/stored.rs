//! The types that a durable room hands to a store, and from which it is rebuilt after a restart.
//! Only the room interprets the bytes in them; a store keeps them as they are.

use alloc::string::String;
use alloc::vec::Vec;

use crate::{ChannelNo, Counter, ParticipantId, Position};

/// Numbers of participants are reserved in blocks of this size, so that few joins wait for the
/// store.
pub const RESERVED_AT_ONCE: u32 = 1024;

/// A change of a room that has to become durable as one: all of it, or nothing. The first one of a
/// room creates it in the store.
#[non_exhaustive]
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Write {
    /// New transactions in the order of their positions, which follow each other.
    pub transactions: Vec<StoredTransaction>,
    /// The room's facts, which replace those stored before: its channels and the counters of its
    /// participants.
    pub facts: Option<Vec<u8>>,
    /// No participant gets a number above this one before a later change is durable.
    pub reserved: Option<ParticipantId>,
    /// Parts of the room's snapshot. Each replaces the one of its name, and the transactions of its
    /// channels up to its position, which may be deleted.
    pub parts: Vec<StoredPart>,
}

impl Write {
    /// True if the change contains nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Write::default()
    }
}

/// A transaction, as a store keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredTransaction {
    /// Its place in the room's order.
    pub position: Position,
    /// The channel.
    pub channel: ChannelNo,
    /// The participant that sent it; 0 is the room itself.
    pub author: ParticipantId,
    /// The only receiver (wire W114), or 0 for all participants. `u32::MAX` if the only receiver
    /// cannot get it any more.
    pub recipient: ParticipantId,
    /// Its number among the transactions of its author.
    pub counter: Counter,
    /// The message with its key and priority.
    pub content: Vec<u8>,
}

/// The size of a stored part that is no part but a reset of its channels (wire W102). Parts are
/// larger.
pub const RESET_SIZE: usize = 1;

/// A part of a room's snapshot, as a store keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPart {
    /// Its name, of at most 128 bytes.
    pub name: String,
    /// The channels whose transactions it stands for, in the order of their numbers. No channel is
    /// in two parts of a room.
    pub channels: Vec<ChannelNo>,
    /// It stands for the transactions of these channels up to this position.
    pub as_of: Position,
    /// The application's bytes, and the room's own.
    pub content: Vec<u8>,
}

/// Everything that a store has of a room.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stored {
    /// The incarnation that the room had when it was stored first, or a new one if the store had to
    /// take back confirmed transactions.
    pub incarnation: u64,
    /// The last of [`Write::reserved`]: participant numbers up to this one may have been given out.
    pub last_participant: ParticipantId,
    /// Participant numbers up to this one are reserved. The caller durably reserves
    /// [`RESERVED_AT_ONCE`] further numbers before it loads the room, so that the first newcomer
    /// need not wait.
    pub reserved: ParticipantId,
    /// The last of [`Write::facts`].
    pub facts: Vec<u8>,
    /// The position of the newest transaction that was confirmed, which may be covered by a part,
    /// or be damaged.
    pub head: Position,
    /// The newest part of each name.
    pub parts: Vec<StoredPart>,
    /// The stored transactions, in the order of their positions. Those that a part covers are not
    /// needed.
    pub transactions: Vec<StoredTransaction>,
}

impl Stored {
    /// Carries out a change, as a store does that holds rooms in memory. Transactions that a part
    /// covers are deleted.
    pub fn apply(&mut self, write: Write) {
        let Write { transactions, facts, reserved, parts } = write;
        self.head = transactions.last().map_or(self.head, |last| last.position);
        self.transactions.extend(transactions);
        self.facts = facts.unwrap_or_else(|| core::mem::take(&mut self.facts));
        self.reserved = reserved.unwrap_or(self.reserved);
        for part in parts {
            let covers = |one: &StoredTransaction| {
                one.position <= part.as_of && part.channels.contains(&one.channel)
            };
            self.transactions.retain(|one| !covers(one));
            self.parts.retain(|one| one.name != part.name);
            self.parts.push(part);
        }
    }
}
