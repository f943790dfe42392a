//! What Groupwire is measured with: [traces](trace) of recorded sessions, a [generated session](session) in several
//! formats, the [formats written by hand](hand) that the compressor is compared with, a [link] and a whole
//! [network](sim) in simulated time, an [emulated](emulator) one for real programs, and the experiments: [gmc], [afec],
//! [lossless], [web],
//! [ace], [fanout], [contract]. A [report] shows what they yielded.

pub mod ace;
pub mod afec;
pub mod contract;
pub mod emulator;
pub mod fanout;
pub mod gmc;
pub mod hand;
pub mod link;
pub mod lossless;
mod parallel;
pub mod program;
pub mod report;
pub mod session;
pub mod sim;
mod statistics;
mod update;
pub mod web;
mod zip;

pub use groupwire_trace as trace;
pub use groupwire_trace::{Trace, TraceMessage};
pub use update::Update;
