//! Rate control for small real-time messages over raw datagrams, which the AFEC paper of 2012
//! leaves out (its section 5.3).
//!
//! Three independent parts:
//! - [`RateEstimator`], at the receiver, finds from the arrival of packets whether the path is
//!   full, and its rate;
//! - [`Budget`], at the sender, keeps the packets within that rate and within the rate of the
//!   transport;
//! - [`share`] divides the rate among channels.
//!
//! Rates are in bytes per second of whole packets, headers included.

mod arrivals;
mod budget;
mod delay;
mod estimator;
mod growth;
mod limited;
mod news;
mod share;
mod trial;

pub use budget::Budget;
pub use estimator::RateEstimator;
pub use news::{News, differs};
pub use share::{Demand, Share, share};

/// The lowest rate limit in bytes per second, whatever a peer reports: about seven packets of 60
/// bytes and one report (of how packets arrive) per second. At a lower limit a channel would not
/// notice that the path is good again. Chosen by judgement; not tuned.
pub const RATE_FLOOR: u32 = 500;
