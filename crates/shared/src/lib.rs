//! Shared data of a Groupwire room as a state machine: maps, lists, counters, reducers, locks and
//! turns with the same value for all participants, with undo, batches and previews.
//!
//! A change shows at once, and the room's one order decides, so nothing has to be merged: every
//! program applies the same operations in the same order, and then its own operations that are not
//! ordered yet. The operations, the snapshots and the values are those of the TypeScript package
//! `groupwire/shared`, byte for byte, so that programs in both languages share one room. What
//! shared data promises is in `docs/shared.md`.
//!
//! [`Shared`] has the driving contract and an example. The crate has no I/O, clock, thread or
//! randomness; `groupwire-client` connects it with a room.
//!
//! # Hostile programs
//!
//! Whoever may publish can send any operation. No input makes this crate panic, recurse deeply or
//! use more memory than a small multiple of the input. What is no operation is refused with an
//! [`OperationError`], and has no effect for anybody.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod batch;
mod between;
mod cell;
mod claims;
mod effect;
mod error;
mod event;
mod history;
mod json;
mod link;
mod operation;
mod ordered;
mod previews;
mod reducer;
mod replica;
mod schema;
mod shared;
mod tables;
mod text;
mod views;

pub use error::Error;
pub use event::{Change, Event, Gap, Input, Kind, Lost};
pub use json::{Json, JsonError, Object};
pub use link::{Definitions, Link, Taken};
pub use operation::{Action, Content, Operation, OperationError, Piece};
pub use reducer::Reducer;
pub use schema::{Fault, Schema};
pub use shared::Shared;
pub use text::Text;
pub use views::{Counter, List, Lock, Map, Reduced, Turns};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
