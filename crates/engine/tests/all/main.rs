//! Engines on real servers, which the tests start: NATS alone and three together, and PostgreSQL.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod access;
mod conformance;
mod faults;
mod measure;
mod nats;
mod postgres;
mod program;
mod service;
