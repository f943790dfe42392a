//! Programs for the nodes of the [simulated network](groupwire_sim): [tcp] and [http3], [rooms with
//! their clients](rooms) over them, and [the messages of a telepointer](input).

pub mod http3;
pub mod input;
pub mod rooms;
pub mod tcp;

pub use groupwire_sim::{
    Arrivals, Capacity, CapacityTrace, Link, LinkConfig, LinkStats, Loss, LossProcess, Network,
    Node, Queue, link, loss, network, random,
};
pub use http3::QuicConnection;
pub use rooms::{App, ClientNode, Lane, RoomNode};
pub use tcp::{TcpConnection, TcpEnd};
