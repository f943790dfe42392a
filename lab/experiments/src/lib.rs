//! What Groupwire is measured with: a generated [session](session) in several formats, the [formats written by
//! hand](hand) that the compressor is compared with, a [link] and a whole [network](sim) in simulated time, an
//! [emulated](emulator) one for real programs, and the experiments: [gmc], [afec], [lossless], [web], [ace], [fanout],
//! [contract]. A [report] shows what they yielded.

mod ace;
mod afec;
mod command;
mod contract;
mod emulator;
mod error;
mod fanout;
mod gmc;
mod hand;
mod link;
mod lossless;
mod options;
mod output;
mod parallel;
mod program;
mod recordings;
mod report;
mod row;
mod session;
pub mod sim;
mod statistics;
mod table;
mod web;
mod zip;

pub use command::main;

pub(crate) use error::{Error, Result};
pub(crate) use groupwire_trace as trace;
pub(crate) use groupwire_trace::{Trace, TraceMessage};
pub(crate) use output::Update;
pub(crate) use row::Row;
