//! Limits of input that others send.

/// The most bytes of an update.
pub const MAX_UPDATE: usize = 64 << 20;

/// The deepest nesting of a value, or of JSON, in a document.
pub const MAX_DEPTH: usize = 128;

/// The most states of an awareness message: more than a document has people.
pub const MAX_STATES: usize = 10_000;
