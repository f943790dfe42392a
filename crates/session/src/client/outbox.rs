//! Messages that a client's application has submitted and the room has not confirmed.

use alloc::boxed::Box;
use core::time::Duration;

use super::api::Recipient;
use crate::ids::{Counter, Index, Order};
use crate::trace::Carrier;
use crate::wire::piece::Piece;

/// A message that waits to be sent or confirmed.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) key: Option<Box<[u8]>>,
    pub(super) priority: Option<u8>,
    pub(super) text: bool,
    /// The only receiver.
    pub(super) to: Option<Recipient>,
    pub(super) bytes: Box<[u8]>,
    /// When the application made it.
    pub(super) born: Duration,
    /// The number that the last own transaction submitted before this message has or will get (W24).
    pub(super) after: Counter,
}

impl Item {
    /// Bytes of memory that the message needs, with 64 for the bookkeeping.
    pub(super) fn cost(&self) -> usize {
        self.bytes.len() + self.key.as_ref().map_or(0, |key| key.len()) + 64
    }
}

/// An own transaction that is not ordered yet, or a piece of one (W97).
#[derive(Debug)]
pub(super) struct Pending {
    /// Its number, given when it is first sent.
    pub(super) counter: Option<Counter>,
    /// True if it was sent on this transport, or if the room received it on an earlier one.
    pub(super) sent: bool,
    /// Its channel's place among the session's channels.
    pub(super) channel: usize,
    /// Its place in the order in which the application submitted messages. All pieces of a transaction have the same one.
    pub(super) order: Order,
    pub(super) piece: Piece,
    pub(super) item: Item,
}

/// A value of a conflated channel that was sent and may have been lost.
#[derive(Debug)]
pub(super) struct SentValue {
    /// The carrier that it was sent over. A stream loses it only if the transport breaks.
    pub(super) carrier: Carrier,
    /// The transport that carried it, as [`Session::transports`](super::session::Session) counts.
    pub(super) transport: u32,
    pub(super) item: Item,
    pub(super) index: Index,
    /// When it was sent.
    pub(super) sent: Duration,
    /// True once it is known to have arrived. Only a stored room keeps such values.
    pub(super) has_arrived: bool,
}
