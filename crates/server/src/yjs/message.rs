//! The messages to the task of a document.

use axum::body::Bytes;
use tokio::sync::oneshot;

use super::open_document::Peer;
use super::pace::Cost;

/// A message to the task of a document.
///
/// The queue of these messages has no limit of its own, because all who fill it wait for the
/// document. Of a connection, whose number `--max-connections` limits, at most these wait: a join,
/// a packet, after which none is read until the document has answered `done`, one notice that its
/// outbox is empty, which the document asked for, and an end.
pub(super) enum Message {
    Join {
        connection: u64,
        peer: Peer,
    },
    /// A message of a client. Its cost is sent on `done` when the next one may be read.
    Packet {
        connection: u64,
        bytes: Bytes,
        done: oneshot::Sender<Cost>,
    },
    /// The whole outbox of a slow client was sent.
    Drained {
        connection: u64,
    },
    /// A connection has ended.
    Left {
        connection: u64,
    },
    /// Another document needs the place, which was offered.
    MakeWay,
    /// The server stops.
    Shutdown,
}
