//! The integration tests of this crate, in one program: every further program would have to be
//! linked.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod administered;
mod blocks;
mod close;
mod compress;
mod contract;
mod conversation;
mod copies;
mod corners;
mod crowd;
mod datagrams;
mod departures;
mod directs;
mod durable;
#[cfg(feature = "tracing")]
mod events;
mod goodbye;
mod grammar;
mod groups;
mod hostile;
mod inspect;
mod large;
mod large_rooms;
mod late_attempts;
mod mirrors;
mod parts;
mod quotas;
mod redundancy;
mod session;
mod shared;
mod shared_packets;
mod slow_links;
mod snapshots;
mod support;
mod tokens;
mod users;
mod vectors;
mod voice;
mod wire_rules;
