//! The integration tests of this crate, in one program: every further program would have to be
//! linked.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod acme;
mod admin;
mod agent;
mod cluster;
mod config;
mod drain;
mod durable;
mod health;
mod replay;
mod rights;
mod serve;
mod service;
mod skip;
mod traces;
mod tunnel;
