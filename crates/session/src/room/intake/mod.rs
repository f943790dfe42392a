//! What the room keeps to take in messages.

pub(super) mod pieces;
