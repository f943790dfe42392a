//! Policies on real bytes over emulated links, beside real load.

mod cell;
mod load;
mod network;
mod policy;
mod processor;
mod steps;
mod traffic;
mod transfer;
mod witness;
mod zstd;

pub(crate) use load::dummy;

pub(super) use cell::{Busyness, Cell};
pub(super) use network::{Busy, FAST, ROUND_TRIP, SLOW};
pub(super) use policy::{Policy, trained};
pub(super) use steps::Step;
