//! The integration tests of this crate, in one program: every further program would have to be
//! linked.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod access;
mod limits;
mod rooms;
mod shared;
mod support;
mod texts;
mod transports;
