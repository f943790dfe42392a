//! A network in simulated time, the same one for the same seed: [nodes](network) of any kind joined by [links](link)
//! with delay, jitter, reordering, duplicates, damage, a [capacity] with a queue, and [loss]; [tcp]
//! and [quic], [rooms with their clients](session) over them, and [what a telepointer sends](input).

pub mod capacity;
pub mod input;
pub mod link;
pub mod loss;
pub mod network;
pub mod quic;
pub(crate) mod random;
pub mod session;
pub mod tcp;

pub use capacity::{Capacity, CapacityTrace};
pub use link::{Arrivals, Link, LinkConfig, LinkStats, Queue};
pub use loss::{Loss, LossProcess};
pub use network::{Network, Node};
pub use quic::QuicConnection;
pub use session::{App, ClientNode, Lane, RoomNode};
pub use tcp::{TcpConnection, TcpEnd};
