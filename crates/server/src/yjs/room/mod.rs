//! A document's place in the room of its name, through which clients of `groupwire-yjs` and of y-websocket edit the same document: what the room
//! has is the document, and this end is one of its participants.

mod claims;
mod control;
mod fields;
mod member;
mod shared;

pub(super) use fields::Change;
pub(super) use shared::{News, Shared};
