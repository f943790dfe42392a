//! Links and networks in simulated time. The same seed gives the same run.
//!
//! - A [`Link`] is one direction of a path, with delay, jitter, reordering, duplicates, damage, a
//!   [capacity] with a queue, and [loss]. It computes when a packet arrives; its owner delivers the
//!   packet.
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
