//! A network for real programs: what the kernel's own TCP and UDP sockets send meets delay, a rate with a queue, loss,
//! reordering and duplicates on its way, by the arithmetic of the [simulated link](crate::sim::Link) and a real clock.
//!
//! Everything happens in a network [`Namespace`] of our own with one TUN device in it, a network card whose cable ends
//! in this process. Each [`Host`] has two addresses: programs on it use the local one, all others send to the remote
//! one. A packet from host A to host B comes out of the device as `A.local -> B.remote`; after its delay it is written
//! back as `A.remote -> B.local`, and so the kernel takes it for one from far away. No address is in the kernel on both
//! sides, or the kernel would deliver the packet by itself. Checksums stay right, because remote addresses are local
//! ones plus one: what the source gains the destination loses.
//!
//! ```text
//!   client 0  10.87.1.1 ─ up ──►                server  10.87.0.1
//!             (10.87.1.2)  ◄── down ─  TUN      (10.87.0.2)
//!   client 1  10.87.2.1 ─ up ──►
//!             (10.87.2.2)  ◄── down ─
//! ```
//!
//! One server and any number of clients, each with a [`Path`] of its own: two links, whose loss, queue and counts they
//! share with nobody. Where namespaces are not permitted there is [`proxy`], which knows less.

mod courier;
mod device;
mod error;
mod links;
mod namespace;
mod network;
pub mod proxy;
#[cfg(test)]
pub(crate) mod tests;

pub use device::Emulator;
pub use error::EmulatorError;
pub use namespace::Namespace;
pub use network::{Host, MAX_CLIENTS};

use std::time::Duration;

use crate::sim::{LinkConfig, LinkStats};

/// What lies between a client and the server.
///
/// [`LinkConfig::header`] is not looked at: the packets have their headers.
#[derive(Debug, Clone, Default)]
pub struct Path {
    /// Towards the server.
    pub up: LinkConfig,
    /// Towards the client.
    pub down: LinkConfig,
    /// The same seed loses the same packets, if the same are sent. Each direction loses on its own.
    pub seed: u64,
}

impl Path {
    /// The same link both ways, half of the round trip each.
    pub fn symmetric(link: LinkConfig, round_trip: Duration, seed: u64) -> Self {
        let link = LinkConfig { delay: round_trip / 2, ..link };
        Path { up: link.clone(), down: link, seed }
    }
}

/// What both directions of a path have carried so far. Bytes count from the IP header on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PathStats {
    /// Towards the server.
    pub up: LinkStats,
    /// Towards the client.
    pub down: LinkStats,
}
