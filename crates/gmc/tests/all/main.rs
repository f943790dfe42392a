//! The integration tests of this crate, in one program: every further program would have to be
//! linked.

mod binary;
mod common;
mod controls;
mod counters;
mod datagrams;
mod hostile;
mod identifiers;
mod learning;
mod lossless;
mod nested;
mod numbers;
mod recorded_packets;
mod snapshot;
mod unanswered;
mod vectors;
