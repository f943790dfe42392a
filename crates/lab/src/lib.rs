//! What Groupwire is measured with: [traces](trace) of recorded sessions, a [generated session](session) in several
//! formats, the [formats written by hand](hand) that the compressor is compared with, a [link] and a whole
//! [network](sim) in simulated time, and experiments that run it beside its peers: [gmc].

pub mod afec;
pub mod emulator;
pub mod gmc;
pub mod hand;
pub mod link;
pub mod session;
pub mod sim;
pub mod trace;

pub use trace::{Trace, TraceMessage};
