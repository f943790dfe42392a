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
//! One server and any number of clients, each with a [`Path`] of its own: two links, whose loss, queue and counts they
//! share with nobody. Where namespaces are not permitted there is [`proxy`], which knows less. Where microseconds matter
//! there is a [`Wire`] instead, which knows nothing but the time that bits take on an [`Ethernet`], and for the rate of long streams a [`Cable`].
//!
//! ```no_run
//! use std::net::UdpSocket;
//! use std::time::Duration;
//! use groupwire_lab::emulator::{Emulator, Host, Namespace, Path};
//! use groupwire_lab::sim::LinkConfig;
//!
//! let namespace = Namespace::enter()?;
//! let lossy = LinkConfig { loss: "rand5".parse()?, ..LinkConfig::default() };
//! let emulator = Emulator::start(&namespace, &[Path::symmetric(lossy, Duration::from_millis(50), 1)])?;
//! let server = UdpSocket::bind((Host::SERVER.local(), 7000))?;
//! let client = UdpSocket::bind((emulator.client(0).local(), 0))?;
//! client.send_to(b"hello", (Host::SERVER.remote(), 7000))?;
//! let (_, from) = server.recv_from(&mut [0; 64])?; // 25 ms later, or never
//! assert_eq!(from.ip(), emulator.client(0).remote());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
pub mod proxy;
#[cfg(test)]
pub(crate) mod tests;
#[cfg(target_os = "linux")]
mod wire;

#[cfg(target_os = "linux")]
pub use cable::Cable;
#[cfg(target_os = "linux")]
pub use device::Emulator;
#[cfg(not(target_os = "linux"))]
pub use elsewhere::{Cable, Emulator, Namespace, Wire};
pub use error::EmulatorError;
pub use ethernet::{Carried, Ethernet};
#[cfg(target_os = "linux")]
pub use namespace::Namespace;
pub use network::{Host, MAX_CLIENTS};
#[cfg(target_os = "linux")]
pub use wire::Wire;

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
    /// Towards the server: bytes above TCP or UDP. They, too, count again when they are sent again.
    pub up_content: u64,
    /// The same towards the client.
    pub down_content: u64,
}
