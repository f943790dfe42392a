//! Tests of the store from outside: through its handle, on a real folder or on a simulated disk.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod basics;
mod crashes;
mod damage;
mod erasure;
mod files;
mod formats;
mod outbox;
mod replica;
mod replica_crashes;
mod replica_history;
mod restore;
mod support;
