//! The promise of stored rooms, kept by the real `groupwire serve --data`: what was confirmed is
//! neither lost, repeated nor moved, whatever ends the server; and what an operator is told on a
//! bad day.

mod admin;
mod admin_http;
mod bad_disk;
#[cfg(unix)]
mod crowd;
mod damage;
pub(crate) mod disk;
mod http_users;
mod kills;
mod large;
mod operator;
pub(crate) mod people;
mod power_cuts;
mod server;
mod sessions;
mod upgrade;
pub(crate) mod visitor;
mod webhook;
