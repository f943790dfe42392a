//! The experiment `yjs`: one document with many editors or pointers, and many documents, with
//! Groupwire's provider in a room, with y-websocket's messages to Groupwire's endpoint, and with
//! the servers of y-websocket and Hocuspocus.
//!
//! Servers are processes of their own; all clients are in this one. They send what Yjs would send,
//! and only look for what they wait for in what comes: what is measured is the server and the wire.
//!
//! lab/README.md says what each figure means.

mod client;
mod documents;
mod one;
mod row;
mod system;
mod typist;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use self::system::System;
use crate::options::{Common, Program, is_wanted, named, or_usual};
use crate::server::allow_files;
use crate::{Result, Update};

/// The activity that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Work {
    /// One client types into a document, and all have it open.
    Typing,
    /// One client moves its cursor, and all others receive it.
    Awareness,
    /// Documents are open with one client each, and closed again.
    Open,
    /// A document of 10 MB is loaded by a client that has nothing of it.
    Load,
    /// Each of many documents is opened, changed once, and left.
    Touch,
}

named!(Work);

/// The options of `groupwire-lab yjs`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Measure only these systems.
    #[arg(long = "system", value_name = "NAME")]
    systems: Vec<System>,

    /// Measure only this work.
    #[arg(long = "work", value_name = "NAME")]
    works: Vec<Work>,

    /// The number of clients of the one document. May be given several times. Default: 100, 500.
    #[arg(long, value_name = "COUNT")]
    clients: Vec<usize>,

    /// The number of changes per second.
    #[arg(long, value_name = "COUNT", default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=100))]
    rate: u64,

    /// The number of changes that are measured.
    #[arg(long, value_name = "COUNT", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    changes: u32,

    /// The number of documents that are opened and closed.
    #[arg(long, value_name = "COUNT", default_value_t = 500)]
    open: u32,

    /// The number of documents that are touched once.
    #[arg(long, value_name = "COUNT", default_value_t = 10_000)]
    touched: u32,

    /// How long after documents were left the memory of the server is looked at.
    #[arg(long, value_name = "SECONDS", default_value_t = 75)]
    rest: u64,

    /// The directory into which scripts/peers.sh has installed the peers.
    #[arg(long, value_name = "DIRECTORY", default_value = ".cache/peers")]
    peers: PathBuf,

    #[command(flatten)]
    program: Program,

    #[command(flatten)]
    pub(crate) common: Common,
}

/// The settings that all measurements share.
struct Plan<'a> {
    options: &'a Options,
    program: PathBuf,
    changes: u32,
    period: Duration,
    open: u32,
    touched: u32,
    /// The bytes of the document that is loaded.
    loaded: usize,
    rest: Duration,
}

/// The numbers of clients of one document.
const CLIENTS: [usize; 2] = [100, 500];

/// Runs the experiment.
///
/// # Errors
/// Nothing can be measured.
pub(crate) fn run(options: &Options, emit: &mut dyn FnMut(Update)) -> Result<()> {
    allow_files();
    let common = options.common;
    let plan = Plan {
        options,
        program: options.program.path()?,
        changes: common.quick_or(options.changes.min(8), options.changes),
        period: Duration::from_secs(1) / u32::try_from(options.rate).unwrap_or(u32::MAX),
        open: common.quick_or(options.open.min(20), options.open),
        touched: common.quick_or(options.touched.min(50), options.touched),
        loaded: common.quick_or(1 << 20, 10 << 20),
        rest: common.quick_or(Duration::from_millis(100), Duration::from_secs(options.rest)),
    };
    let sizes = or_usual(&options.clients, &CLIENTS);
    let mut sizes: Vec<usize> =
        sizes.into_iter().map(|size| common.quick_or(size.min(10), size).max(2)).collect();
    sizes.dedup();
    let systems = System::value_variants().iter().filter(|it| is_wanted(&options.systems, *it));
    let works: Vec<Work> = Work::value_variants()
        .iter()
        .filter(|it| is_wanted(&options.works, *it))
        .copied()
        .collect();
    for &system in systems {
        for &work in &works {
            let sizes = match work {
                Work::Typing | Work::Awareness => sizes.clone(),
                Work::Open | Work::Load | Work::Touch => vec![1],
            };
            for clients in sizes {
                emit(Update::begun(format!("{system}, {work}, {clients} clients")));
                emit(Update::Row(row::measure(system, work, clients, &plan)));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::parsed;

    #[test]
    fn quick_rows_have_few_clients_and_changes() {
        let options: Options = parsed("--quick --system y-websocket --work load --clients 7");
        assert_eq!((options.systems, options.works), (vec![System::YWebsocket], vec![Work::Load]));
        assert_eq!(options.clients, [7]);
    }
}
