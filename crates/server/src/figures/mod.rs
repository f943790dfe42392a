//! What a server counts: the form of figures, and the counters beside those of rooms.

pub(crate) mod events;
pub(crate) mod figure;
pub(crate) mod seldom;

pub(crate) use groupwire_store::Times;
