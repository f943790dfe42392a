//! What Groupwire is measured with: [traces](trace) of recorded sessions, a [generated session](session) in several
//! formats, and the [formats written by hand](hand) that the compressor is compared with.

pub mod hand;
pub mod session;
pub mod trace;

pub use trace::{Trace, TraceMessage};
