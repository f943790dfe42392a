//! Which participants the room has to look at.

pub(super) mod resting;
pub(super) mod skipped;
