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
//! A program that is bound to no address, such as a browser, is any client it likes: over the path of client n it finds
//! the server at [`Host::server`], by the same trick (`10.87.1.4`, which the server has as `10.87.1.3`).
//!
//! A client that [moves](Emulator::move_client) to another network has `10.87.1.5` (and `.6`) there instead of `10.87.1.1`.
//!
//! One server and any number of clients, each with a [`Path`] of its own: two links, whose loss, queue and counts they
//! share with nobody. Where namespaces are not permitted there is [`proxy`], which knows less. Where microseconds matter
//! there is a [`Wire`] instead, which knows nothing but the time that bits take on an [`Ethernet`], and for the rate of long streams a [`Cable`].

#[cfg(target_os = "linux")]
mod cable;
mod courier;
#[cfg(target_os = "linux")]
mod device;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
mod error;
mod ethernet;
mod links;
#[cfg(target_os = "linux")]
mod namespace;
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "its packets are the kernel's"))]
mod network;
pub(crate) mod proxy;
#[cfg(test)]
pub(crate) mod tests;
#[cfg(target_os = "linux")]
mod wire;

#[cfg(target_os = "linux")]
pub(crate) use cable::Cable;
#[cfg(target_os = "linux")]
pub(crate) use device::Emulator;
#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::{Cable, Emulator, Namespace, Wire};
pub(crate) use error::EmulatorError;
pub(crate) use ethernet::{Carried, Ethernet};
#[cfg(target_os = "linux")]
pub(crate) use namespace::Namespace;
pub(crate) use network::{Host, MAX_CLIENTS};
#[cfg(target_os = "linux")]
pub(crate) use wire::Wire;

use std::time::Duration;

use crate::sim::{LinkConfig, LinkStats};

/// What lies between a client and the server.
///
/// [`LinkConfig::header`] is not looked at: the packets have their headers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Path {
    /// Towards the server.
    pub(crate) up: LinkConfig,
    /// Towards the client.
    pub(crate) down: LinkConfig,
    /// The same seed loses the same packets, if the same are sent. Each direction loses on its own.
    pub(crate) seed: u64,
}

impl Path {
    /// The same link both ways, half of the round trip each.
    pub(crate) fn symmetric(link: LinkConfig, round_trip: Duration, seed: u64) -> Self {
        let link = LinkConfig { delay: round_trip / 2, ..link };
        Path { up: link.clone(), down: link, seed }
    }
}

/// What both directions of a path have carried so far. Bytes count from the IP header on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct PathStats {
    /// Towards the server.
    pub(crate) up: LinkStats,
    /// Towards the client.
    pub(crate) down: LinkStats,
    /// Towards the server: bytes above TCP or UDP. They, too, count again when they are sent again.
    pub(crate) up_content: u64,
    /// The same towards the client.
    pub(crate) down_content: u64,
}
