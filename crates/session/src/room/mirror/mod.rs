//! Mirrors: a room's other ends at further servers, for rooms with more people than one server can
//! serve.
//!
//! A mirror is a [`Room`](crate::Room) in another role. It has a copy of the room's log and of the
//! list of participants, and serves its clients from these with the code of all rooms: late
//! joining, ticks, compression, fan-out groups, datagrams. To the room it is one receiver. The room
//! decides everything: it admits clients, gives numbers to participants, and gives transactions
//! their places. A mirror keeps no participant beyond its transport, so that a client can resume
//! at any server.
//!
//! - `down.rs`, `up.rs`: the frames between a room and its mirrors, in packets of `pieces.rs`
//! - `owner.rs`, `batch.rs`, `guests.rs`: the room's end. *Guests* are participants whose
//!   transports are at mirrors
//! - `upward.rs`, `joining.rs`, `copying.rs`: the mirror's end

mod batch;
mod copying;
mod down;
mod fields;
mod guests;
mod joining;
mod owner;
mod pieces;
#[cfg(test)]
mod tests;
mod up;
mod upward;

pub(super) use owner::Mirrors;
pub(super) use upward::{Upward, follows};

/// Whether rooms can be mirrored. If not, the compiler leaves most of this out, which makes a room
/// in a page smaller.
pub(super) const MIRRORS: bool = cfg!(feature = "mirrors");
