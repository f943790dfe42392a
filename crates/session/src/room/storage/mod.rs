//! Rooms that are stored: what a store is handed, and what is durable.

mod durable;
pub(super) mod stored;
pub(super) mod storing;
