//! The Groupwire client as a library for C. `include/groupwire.h` is its documentation, and
//! `docs/c.md` its guide.
//!
//! Rooms are numbers, not pointers, so that a room which was freed is an error and not a crash. All
//! unsafe code is in the functions that C calls and in `arguments.rs`, which checks what they get.
#![allow(non_camel_case_types)]

mod arguments;
mod call;
mod channels;
mod event;
mod messages;
mod rooms;
mod shared;
mod stats;
mod table;
mod types;

pub use channels::*;
pub use event::*;
pub use messages::*;
pub use rooms::*;
pub use shared::*;
pub use stats::*;
pub use types::*;

pub use call::{gw_code_word, gw_error_text};
