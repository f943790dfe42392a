//! A network in simulated time, the same one for the same seed: [nodes](network) of any kind joined by [links](link)
//! with delay, jitter, reordering, duplicates, damage, a [capacity](capacity) with a queue, and [loss].

pub mod capacity;
pub mod input;
pub mod link;
pub mod loss;
pub mod network;
mod random;

pub use capacity::{Capacity, CapacityTrace};
pub use link::{Arrivals, Link, LinkConfig, LinkStats, Queue};
pub use loss::{Loss, LossProcess};
pub use network::{Network, Node};
