//! What a client's application has submitted and the room has not confirmed.

use alloc::boxed::Box;
use core::time::Duration;

use crate::ids::{Counter, Index, Order};
use crate::trace::Carrier;

/// A message on its way out.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) key: Option<Box<[u8]>>,
    pub(super) priority: Option<u8>,
    pub(super) text: bool,
    pub(super) bytes: Box<[u8]>,
    /// When the application made it.
    pub(super) born: Duration,
    /// The last own transaction that was submitted before it, by the number that it has or will get (W24).
    pub(super) after: Counter,
}

impl Item {
    /// Bytes of memory that it holds, with 64 for the bookkeeping.
    pub(super) fn cost(&self) -> usize {
        self.bytes.len() + self.key.as_ref().map_or(0, |key| key.len()) + 64
    }
}

/// An own transaction that is not ordered yet.
#[derive(Debug)]
pub(super) struct Pending {
    /// Its number, given when it is first sent.
    pub(super) counter: Option<Counter>,
    /// Sent on this transport, or known to the room from an earlier one.
    pub(super) sent: bool,
    /// Its channel's place among the session's channels.
    pub(super) channel: usize,
    /// Place among all that the application submitted.
    pub(super) order: Order,
    pub(super) item: Item,
}

/// A value of a conflated channel that was sent and may have been lost.
#[derive(Debug)]
pub(super) struct SentValue {
    /// What carried it: a stream loses it only with the transport.
    pub(super) carrier: Carrier,
    /// The transport that carried it, as [`Session::transports`](super::session::Session) counts.
    pub(super) transport: u32,
    pub(super) item: Item,
    pub(super) index: Index,
    /// When it was sent.
    pub(super) sent: Duration,
}
