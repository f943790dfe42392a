//! Yjs documents of a room, as participants with `groupwire-yjs` edit them.
//!
//! A document is kept twice. The [`replica`] holds its updates as bytes, in the room's order,
//! checks them, and makes the document's part of the room's snapshot; no input makes it panic. The
//! [`editor`] is a document of the CRDT `yrs` on a thread of its own, made when a tool first reads
//! or changes the text. It only gets updates that the replica has checked. Should `yrs` panic
//! nevertheless, the document is unreadable for tools, and everything else goes on.

mod document;
mod edit;
mod editor;
mod markdown;
mod plan;
mod presence;
mod replica;
mod runs;
#[cfg(test)]
mod tests;
mod view;

pub(crate) use document::{AWARENESS, Document};
pub(crate) use edit::Edit;
pub(crate) use editor::Reading;
pub(crate) use markdown::Shown;
pub(crate) use replica::{DOCUMENT, is_document_channel};
