//! The experiment `contract`: the whole system in simulated time, from application to application.
//!
//! A room and its clients, the paths between them with what QUIC or TCP adds, and people who draw,
//! drag, type and point. lab/README.md says how each setup is made.

mod canonical;
mod cellular;
mod channels;
mod hand;
mod judge;
mod live;
mod narrow;
mod notes;
mod page;
mod path;
mod plain;
mod play;
mod real;
mod row;
mod scene;
mod script;
mod setups;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::browsers::Network;
use crate::emulator::Namespace;
use crate::options::{Common, Program, Threads, directory_or};
use crate::sim::Loss;
use crate::sim::http3::Ends;
use crate::{Result, Update, parallel};
use hand::Hands;
use row::{Ablation, Setup};

/// The default directory of recordings, if it exists.
const DATA: &str = "../shared/data";

/// The options of `groupwire-lab contract`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Run only these setups.
    #[arg(long = "setup", value_name = "NAME")]
    setups: Vec<Setup>,

    /// In the setup table1, run only these ablations.
    #[arg(long = "ablation", value_name = "NAME")]
    ablations: Vec<Ablation>,

    /// In the setup table1, the loss of packets on both legs, such as rand20, pb10@4.
    #[arg(long = "loss", value_name = "NAME")]
    losses: Vec<Loss>,

    /// In the setup canonical, run only these networks of the experiment web.
    #[arg(long = "network", value_name = "NAME")]
    networks: Vec<Network>,

    /// In the setup canonical, run only these transports.
    #[arg(long = "transport", value_name = "NAME", value_parser = PossibleValuesParser::new(canonical::TRANSPORTS))]
    transports: Vec<String>,

    /// The tick of the room in ms, instead of that of the setup.
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(0..=1000))]
    tick: Option<u64>,

    /// Let QUIC acknowledge as often as between browsers and the server, not as rarely as between
    /// native clients and the server.
    #[arg(long)]
    browser_acks: bool,

    /// The length of sessions in seconds, instead of that of the setup.
    #[arg(long, visible_alias = "seconds", value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=36_000))]
    length: Option<u64>,

    /// Play over real sockets through an emulated network instead, each setup followed by the same
    /// one in simulated time: table1, modem, lossy, handover, cellular, canonical. Linux, where
    /// network namespaces are permitted.
    #[arg(long, conflicts_with_all = ["ablations", "browser_acks"])]
    real: bool,

    /// The number of sessions of each setup over real sockets, each with a seed of its own.
    /// Default: 3.
    #[arg(long, value_name = "COUNT", requires = "real", value_parser = clap::value_parser!(u64).range(1..=100))]
    seeds: Option<u64>,

    /// Over real sockets, the number of participants that are pages in Chromium; all others are
    /// native.
    #[arg(long, value_name = "COUNT", requires = "real", default_value_t = 0)]
    chromium: usize,

    #[command(flatten)]
    program: Program,

    /// Replay recordings of the directories mouse (*.csv, *.csv.gz) and editing (*.json, *.json.gz)
    /// in this directory. Default: ../shared/data, if it exists.
    #[arg(long, value_name = "DIRECTORY")]
    data: Option<PathBuf>,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    pub(crate) common: Common,
}

/// Runs the experiment. Rows come in the same order each time.
///
/// # Errors
/// Recordings cannot be read, or there is no network for real sockets.
pub(crate) fn run(options: &Options, emit: &mut dyn FnMut(Update)) -> Result<()> {
    if options.networks.contains(&Network::Far) {
        return Err("the network far is one of web only, with --far".into());
    }
    // Comes first, because it may start this program again in a network namespace.
    let namespace = match options.real {
        true => {
            let entered = Namespace::enter();
            Some(entered.map_err(|error| format!("no real sockets here: {error}"))?)
        }
        false => None,
    };
    let hands = match directory_or(&options.data, DATA) {
        Some(directory) => Hands::recorded(&directory)?,
        None => Hands::generated(options.common.seed),
    };
    let jobs = setups::jobs(options, emit);
    match namespace {
        Some(namespace) => live::run(&namespace, &jobs, &hands, options, emit)?,
        None => measure(&jobs, &hands, options, emit),
    }
    Ok(())
}

fn measure(jobs: &[setups::Job], hands: &Hands, options: &Options, emit: &mut dyn FnMut(Update)) {
    let job = |_, job: &setups::Job, emit: &mut dyn FnMut(Update)| {
        emit(Update::begun(job));
        job.rows(hands, options).into_iter().for_each(|row| emit(Update::Row(row)));
    };
    parallel::run((jobs, jobs.len()), options.threads.count(), &job, emit);
}

impl Options {
    fn ends(&self) -> Ends {
        if self.browser_acks { Ends::Browser } else { Ends::Native }
    }

    /// How long a session is, in seconds unless stated.
    fn length(&self, usual: u64, quick: u64) -> Duration {
        Duration::from_secs(self.length.unwrap_or(self.common.quick_or(quick, usual)))
    }

    /// The tick of the room.
    fn tick(&self, usual: Duration) -> Duration {
        self.tick.map_or(usual, Duration::from_millis)
    }
}
