//! What the room hands to its caller.

mod emit;
pub(super) mod outputs;
