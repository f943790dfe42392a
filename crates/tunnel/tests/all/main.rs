//! The integration tests of this crate, in one program: every further program would have to be
//! linked.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

#[cfg(target_os = "linux")]
mod redirect;
mod socks;
mod stream;
mod support;
mod tunnel;
