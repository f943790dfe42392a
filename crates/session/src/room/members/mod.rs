//! The participants of a room as the others are told of them.

pub(super) mod news;
pub(super) mod roster;
