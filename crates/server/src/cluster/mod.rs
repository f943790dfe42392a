//! Several servers that share their rooms: each room is on one of them, and any of them takes any
//! client.
//!
//! Rooms belong to *shards*, and each shard has a log in an *engine*, a service outside. The state
//! machine in `groupwire-cluster` decides by claims in the logs which server has which shard, and
//! the driver carries its requests out. What rooms ask to be stored goes through the log of their
//! shard, and from there into the local store of each server, which all reading uses. The relay
//! passes connections on to the server that has their room, and `http` passes HTTP requests on to
//! the server that can answer them.

mod account;
mod asks;
mod blobs;
mod clocks;
pub(crate) mod config;
pub(crate) mod control;
mod copy;
mod cursors;
mod driver;
mod event;
pub(crate) mod figures;
mod hints;
pub(crate) mod http;
mod listen;
pub(crate) mod open;
mod peers;
mod queue;
mod relay;
pub(crate) mod routes;
mod secret;
mod shards;
mod store;
mod tls;

#[cfg(test)]
mod person;
#[cfg(test)]
mod tests;
