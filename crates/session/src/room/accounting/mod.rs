//! What the room counts.

pub(super) mod upstream;
