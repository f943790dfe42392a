//! What runs over the [simulated network](groupwire_sim): [tcp] and [quic], [rooms with their clients](session) over them,
//! and [what a telepointer sends](input).

pub mod input;
pub mod quic;
pub mod session;
pub mod tcp;

pub use groupwire_sim::{
    Arrivals, Capacity, CapacityTrace, Link, LinkConfig, LinkStats, Loss, LossProcess, Network,
    Node, Queue, link, loss, network, random,
};
pub use quic::QuicConnection;
pub use session::{App, ClientNode, Lane, RoomNode};
pub use tcp::{TcpConnection, TcpEnd};
