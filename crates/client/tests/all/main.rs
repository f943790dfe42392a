//! The integration tests of this crate, in one program: every further program would have to be
//! linked.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod compress;
mod data;
mod encrypted;
mod moves;
mod session;
mod support;
