//! Connects a document to the room of the same name, so that clients of `groupwire-yjs` and of
//! y-websocket edit the same document. The room's content is the document, and this end is one of
//! the room's participants.

mod claims;
mod fields;
mod member;
mod shared;

pub(super) use fields::Change;
pub(super) use shared::{News, SharedDocument};
