//! A network for real programs: what the kernel's own TCP and UDP sockets send meets delay, a rate
//! with a queue, loss, reordering and duplicates on its way, by the arithmetic of the [simulated
//! link](crate::sim::Link) and a real clock.
//!
//! Everything happens in a network [`Namespace`] of our own with one TUN device in it, a network
//! card whose cable ends in this process. Each [`Host`] has two addresses: programs on it use the
//! local one, all others send to the remote one. A packet from host A to host B comes out of the
//! device as `A.local -> B.remote`; after its delay it is written back as `A.remote -> B.local`,
//! and so the kernel takes it for one from far away. No address is in the kernel on both sides, or
//! the kernel would deliver the packet by itself. Checksums stay right, because remote addresses
//! are local ones plus one: what the source gains the destination loses.
//!
//! ```text
//!   client 0  10.87.1.1 ─ up ──►                server  10.87.0.1
//!             (10.87.1.2)  ◄── down ─  TUN      (10.87.0.2)
//!   client 1  10.87.2.1 ─ up ──►
//!             (10.87.2.2)  ◄── down ─
//! ```
//!
//! A program that is bound to no address, such as a browser, is any client it likes: over the path
//! of client n it finds the server at [`Host::server`], by the same trick (`10.87.1.4`, which the
//! server has as `10.87.1.3`).
//!
//! A client that [moves](Emulator::move_client) to another network has `10.87.1.5` (and `.6`) there
//! instead of `10.87.1.1`.
//!
//! One server and any number of clients, each with a [`Path`] of its own: two links, whose loss,
//! queue and counts they share with nobody. Where namespaces are not permitted there is [`proxy`],
//! which knows less. Where microseconds matter there is a [`Wire`] instead, which knows nothing but
//! the time that bits take on an [`Ethernet`], and for the rate of long streams a [`Cable`].

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

use crate::sim::{LinkConfig, LinkStats, Loss};

/// The links between a client and the server. [`LinkConfig::header`] is ignored: the packets
/// include their headers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Path {
    /// The link towards the server.
    pub(crate) up: LinkConfig,
    /// The link towards the client.
    pub(crate) down: LinkConfig,
    /// The seed of losses. The same seed loses the same packets, if the same are sent. Each
    /// direction loses independently.
    pub(crate) seed: u64,
}

impl Path {
    /// A path with the same link in both directions, each with half of the round trip.
    pub(crate) fn symmetric(link: LinkConfig, round_trip: Duration, seed: u64) -> Self {
        let link = LinkConfig { delay: round_trip / 2, ..link };
        Path { up: link.clone(), down: link, seed }
    }

    /// The same path without loss.
    pub(crate) fn without_loss(&self) -> Self {
        let whole = |link: &LinkConfig| LinkConfig { loss: Loss::NONE, ..link.clone() };
        Path { up: whole(&self.up), down: whole(&self.down), seed: self.seed }
    }
}

/// Counters of both directions of a path. Bytes count from the IP header on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct PathStats {
    /// Packets towards the server.
    pub(crate) up: LinkStats,
    /// Packets towards the client.
    pub(crate) down: LinkStats,
    /// Bytes of payload towards the server, above TCP or UDP. Retransmitted bytes count again.
    pub(crate) up_content: u64,
    /// Bytes of payload towards the client.
    pub(crate) down_content: u64,
}
