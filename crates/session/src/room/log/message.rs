//! Messages as the log stores them.

use alloc::boxed::Box;
use core::time::Duration;

use crate::wire::piece::Piece;
use crate::{ChannelNo, Counter, Index, Order, ParticipantId, Position};

/// The memory of a message besides its bytes and its key.
const FLAT_COST: usize = 128;

/// A message as its sender made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::room) struct Message {
    pub(in crate::room) channel: ChannelNo,
    pub(in crate::room) sender: ParticipantId,
    pub(in crate::room) key: Option<Box<[u8]>>,
    pub(in crate::room) priority: Option<u8>,
    /// The participant that left, if the message is the room's own entry about that (wire W113).
    pub(in crate::room) departed: Option<ParticipantId>,
    /// The only receiver of the message (wire W114). The log then has only the message's place, and
    /// no bytes of it.
    pub(in crate::room) to: Option<ParticipantId>,
    pub(in crate::room) text: bool,
    /// The piece of a transaction that this is. All pieces of a transaction are in the log at
    /// consecutive positions.
    pub(in crate::room) piece: Piece,
    pub(in crate::room) bytes: Box<[u8]>,
    /// When the sending application made the message, on the room's clock.
    pub(in crate::room) born: Duration,
}

impl Message {
    /// The log's copy of a direct transaction: its place, without its content.
    pub(super) fn place(&self) -> Message {
        let &Message { channel, sender, to, born, .. } = self;
        let (key, priority, departed, bytes) = (None, None, None, [].into());
        let (text, piece) = (false, Piece::Whole);
        Message { channel, sender, key, priority, departed, to, text, piece, bytes, born }
    }

    /// Bytes of the message and its key.
    pub(in crate::room) fn size(&self) -> usize {
        self.bytes.len() + self.key_size()
    }

    pub(in crate::room) fn key_size(&self) -> usize {
        self.key.as_ref().map_or(0, |key| key.len())
    }

    /// Bytes of memory that the message takes, about.
    pub(in crate::room) fn cost(&self) -> usize {
        self.size() + FLAT_COST
    }
}

/// A message of an awareness channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::room) struct Value {
    pub(in crate::room) message: Message,
    pub(in crate::room) index: Index,
    /// The counter of the sender's last transaction before the value.
    pub(in crate::room) after: Counter,
    /// When the log drops the value at the latest, even if some receivers were not sent it yet.
    /// `None`: the value stays for late joiners until a newer value of its key replaces it.
    pub(in crate::room) expires: Option<Duration>,
    /// True if the log keeps an older value of the same key beside this one instead of replacing
    /// it.
    pub(super) is_second: bool,
}

impl Value {
    pub(in crate::room) fn new(message: Message, index: Index, after: Counter) -> Self {
        Value { message, index, after, expires: None, is_second: false }
    }
}

/// A message of a transaction channel, with its position in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::room) struct Transaction {
    pub(in crate::room) message: Message,
    pub(in crate::room) counter: Counter,
    pub(in crate::room) position: Position,
    /// Its place in the sequence of all messages, values included.
    pub(in crate::room) order: Order,
}
