//! Adaptive forward error correction: keeps streams of small messages over datagrams inside their loss targets and
//! deadlines, at the least redundancy.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod choice;
pub mod code;
pub mod loss;
pub mod playout;
pub mod qos;
pub mod rate;
