//! Adaptive forward error correction: keeps streams of small messages over datagrams inside their loss targets and
//! deadlines, at the least redundancy.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod choice;
pub mod code;
mod endpoint;
pub mod loss;
mod path;
pub mod playout;
mod qos;
pub mod rate;
mod receiver;
mod scheme;
mod sender;
pub mod stats;
mod wire;

pub use endpoint::{Config, Endpoint, Notice};
pub use qos::{Order, Qos};
pub use receiver::Delivery;
pub use scheme::{Afec2012, Scheme};
pub use sender::{Made, SendError, Submission, Submitted};
pub use wire::PacketError;
