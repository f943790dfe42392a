//! What Groupwire is measured with. For now: [traces](trace) of real sessions.

pub mod trace;

pub use trace::{Trace, TraceMessage};
