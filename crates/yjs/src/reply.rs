//! The messages that a server sends to clients of y-websocket.
//!
//! ```
//! use groupwire_yjs::{StateVector, reply};
//!
//! assert_eq!(reply::ask_document(&StateVector::default()), [0, 0, 1, 0]);
//! assert_eq!(reply::update(&[0, 0]), [0, 2, 2, 0, 0]);
//! assert_eq!(reply::denied("no"), [2, 0, 2, b'n', b'o']);
//! ```

use alloc::vec::Vec;

use crate::message::{AUTH, AWARENESS, STEP_1, STEP_2, SYNC, State, UPDATE};
use crate::state_vector::StateVector;
use crate::writer;

/// Asks a client for the content that is not in this state vector: "sync step 1".
#[must_use]
pub fn ask_document(there: &StateVector) -> Vec<u8> {
    sync(STEP_1, &there.encode())
}

/// Answers [`Message::AskDocument`](crate::Message::AskDocument) with an update: "sync step 2".
#[must_use]
pub fn document(update: &[u8]) -> Vec<u8> {
    sync(STEP_2, update)
}

/// An update.
#[must_use]
pub fn update(update: &[u8]) -> Vec<u8> {
    sync(UPDATE, update)
}

/// States of awareness.
#[must_use]
pub fn awareness<'a>(states: impl IntoIterator<Item = State<'a>>) -> Vec<u8> {
    let mut count = 0;
    let mut body = Vec::new();
    for State { client, clock, json } in states {
        count += 1;
        writer::number(&mut body, client);
        writer::number(&mut body, clock);
        writer::blob(&mut body, json.unwrap_or("null").as_bytes());
    }
    let mut content = Vec::with_capacity(body.len() + 2);
    writer::number(&mut content, count);
    content.append(&mut body);
    let mut out = Vec::with_capacity(content.len() + 5);
    writer::number(&mut out, AWARENESS);
    writer::blob(&mut out, &content);
    out
}

/// Says why a client gets nothing. The connection has to be closed behind it.
#[must_use]
pub fn denied(reason: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(reason.len() + 5);
    writer::number(&mut out, AUTH);
    // The only type of such messages.
    writer::number(&mut out, 0);
    writer::blob(&mut out, reason.as_bytes());
    out
}

fn sync(kind: u64, content: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(content.len() + 12);
    writer::number(&mut out, SYNC);
    writer::number(&mut out, kind);
    writer::blob(&mut out, content);
    out
}
