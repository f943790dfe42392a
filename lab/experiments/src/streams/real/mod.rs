//! Policies on real bytes over emulated links, beside real load.

mod cell;
mod load;
mod network;
mod phase;
mod policy;
mod processor;
mod scenarios;
mod steps;
mod transfer;
mod witness;
mod zstd;

pub(crate) use load::dummy;

pub(super) use cell::Cell;
pub(super) use network::{Busy, FAST, ROUND_TRIP, SLOW};
pub(super) use phase::{Busyness, Phase};
pub(super) use policy::Policy;
pub(super) use scenarios::Changing;
pub(super) use steps::Step;
