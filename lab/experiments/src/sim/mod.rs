//! Programs for the nodes of the [simulated network](groupwire_sim): [tcp] and [http3], [rooms with
//! their clients](rooms) over them, and [the messages of a telepointer](input).

pub mod http3;
pub mod input;
pub mod rooms;
pub mod tcp;

pub use groupwire_sim::{
    Capacity, CapacityTrace, Link, LinkConfig, LinkStats, Loss, LossProcess, Network, Node, Queue,
    link, network, random,
};
pub use rooms::{App, ClientNode, Lane, RoomNode};
pub use tcp::TcpConnection;
