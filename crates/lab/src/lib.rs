//! What Groupwire is measured with: [traces](trace) of real sessions, a [link] in simulated time, and experiments that
//! run it beside its peers: [gmc].

pub mod gmc;
pub mod link;
pub mod trace;

pub use trace::{Trace, TraceMessage};
