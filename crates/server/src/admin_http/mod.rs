//! The administration listener: inspector, recordings, emulated networks, metrics, and requests
//! about rooms and people over HTTP. Every request needs the listener's token.
//!
//! The address that a request comes from and the name that it is sent to give no right: a proxy, a
//! page that rebinds a name, and every user of the machine can send requests from a loopback
//! address.

pub(crate) mod access;
mod answer;
mod api;
mod bans;
mod channels;
pub(crate) mod config;
pub(crate) mod context;
mod elsewhere;
mod import;
pub(crate) mod listen;
mod overview;
mod publish;
mod refusal;
pub(crate) mod routes;
mod snapshots;
pub(crate) mod token;
mod transfer;
pub(crate) mod transfers;
