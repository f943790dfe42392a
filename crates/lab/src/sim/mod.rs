//! A network in simulated time, the same one for the same seed.
//!
//! [`loss`] says which packets are lost.

pub mod loss;
mod random;

pub use loss::{Loss, LossProcess};
