//! How much a path carries, and who yields when that is too little: rate control for small real-time messages over
//! raw datagrams, the part that the paper leaves out (its section 5.3).
//!
//! Three parts, none of which needs the others:
//! - [`RateEstimator`], at the receiver, sees packets come and says when the path is full, and at what rate;
//! - [`Budget`], at the sender, holds the packets to that rate, or to what a transport knows;
//! - [`share`] says what each channel gets of it.
//!
//! Rates are in bytes per second of whole packets, headers included.

mod arrivals;
mod budget;
mod delay;
mod estimator;
mod growth;
mod share;
mod trial;

pub use budget::Budget;
pub use estimator::{News, RateEstimator, differs};
pub use share::{Demand, Share, share};

/// No limit is ever lower than this, in bytes per second, whatever a peer says: about four packets of 60 bytes and a
/// second's report. With less a channel would not notice that the path is good again.
pub const RATE_FLOOR: u32 = 500;
