//! Passes connections on: a client may be connected to any server of a cluster, its *edge*, and the
//! room is on one of them, its *owner*. The edge checks the client's token and carries its
//! transport. Everything else that a connection's task and its room tell each other goes over one
//! encrypted connection from the edge to the owner, so that for the room the client is one like
//! all others.
//!
//! What waits is bounded as on one server: a room has at most three packets of a client under way,
//! and the edge reads at most 16 packets of a client that the room has not handled.

pub(in crate::cluster) mod direct;
pub(super) mod edge;
mod fields;
mod frames;
mod greeting;
pub(super) mod owner;
mod pipe;

use crate::ends::conn_info::IN_PROCESS;

/// The names of transports by their numbers in frames. New ones are added at the end.
const TRANSPORTS: [&str; 5] =
    ["WebTransport", "WebSocket", "TCP socket", "HTTP requests", IN_PROCESS];

/// True if a client over this transport finds it at the address of a server's HTTP, too.
fn has_address(name: &str) -> bool {
    !matches!(name, "TCP socket" | IN_PROCESS | UNKNOWN)
}

/// The name that the inspector shows for a transport that only a newer server knows.
const UNKNOWN: &str = "unknown";

fn transport_number(name: &str) -> u8 {
    TRANSPORTS.iter().position(|&one| one == name).map_or(u8::MAX, |at| at as u8)
}

fn transport_name(number: u8) -> &'static str {
    TRANSPORTS.get(usize::from(number)).copied().unwrap_or(UNKNOWN)
}

#[cfg(test)]
mod tests;
