//! Links and networks in simulated time, the same ones for the same seed.
//!
//! - A [`Link`] is one direction of a path, with delay, jitter, reordering, duplicates, damage, a [capacity] with a queue,
//!   and [loss]. It says when a packet arrives, and leaves it to its owner to carry the packet.
//! - A [`Network`] carries packets over links between [nodes](Node) of any kind.
//!
//! Tests of all crates, and the experiments, use this simulator.

pub mod capacity;
pub mod link;
pub mod loss;
pub mod network;
pub mod random;

pub use capacity::{Capacity, CapacityTrace, WrongTrace};
pub use link::{Arrivals, Link, LinkConfig, LinkStats, Queue};
pub use loss::{Loss, LossProcess};
pub use network::{Network, Node};
