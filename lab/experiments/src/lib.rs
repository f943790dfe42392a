//! The measuring program of Groupwire: a generated session of a `drawing` program in several
//! formats, the formats written by `hand` that the compressor is compared with, a `link` and a
//! whole network ([`sim`]) in simulated time, an `emulator` of networks for real programs, and the
//! experiments. Each module of an experiment is named for its subject: `gmc` measures `messages`,
//! `afec` `deadlines`, `ace` `streams`, `web` `browsers`; `lossless`, `fanout`, `durable`,
//! `cluster`, `storm`, `contract`, `voice` and `yjs` have the names of their experiments. A
//! `report` shows what they yielded.

mod browsers;
mod cluster;
mod command;
mod contract;
mod deadlines;
mod drawing;
mod durable;
mod emulate;
mod emulator;
mod error;
mod fairness;
mod fanout;
mod far;
mod hand;
mod host;
mod link;
mod lossless;
mod messages;
mod options;
mod output;
mod parallel;
mod program;
mod recordings;
mod report;
mod row;
mod server;
pub mod sim;
mod statistics;
mod storm;
mod streams;
mod table;
mod voice;
mod yjs;
mod zip;

pub use command::main;

pub(crate) use error::{Error, Result};
pub(crate) use groupwire_trace as trace;
pub(crate) use groupwire_trace::{Trace, TraceMessage};
pub(crate) use output::Update;
pub(crate) use row::Row;
