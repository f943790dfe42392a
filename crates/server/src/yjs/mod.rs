//! The endpoint for clients of [Yjs](https://yjs.dev) that speak y-websocket: `/yjs/DOCUMENT`
//! (docs/yjs.md).
//!
//! One task per open document holds its bytes and its connections, and takes part in the room of
//! the same name. The document is in that room: programs with the npm package `groupwire-yjs` edit
//! it there, too, and the room stores it. One task per connection moves messages between its
//! WebSocket and the document. No CRDT runs in this process: the crate `groupwire-yjs` checks,
//! merges and compares updates as bytes.

mod access;
mod channels;
pub(crate) mod config;
mod connection;
pub(crate) mod context;
pub(crate) mod documents;
mod ending;
pub(crate) mod figures;
mod joining;
mod message;
mod open_document;
mod outbox;
mod pace;
mod room;
mod task;
pub(crate) mod upgrade;
