//! `groupwire lab`: experiments that run Groupwire beside its peers.

mod ace;
mod afec;
mod common;
mod contract;
mod fanout;
mod gmc;
mod lossless;
mod report;
mod rows;
mod table;
mod web;

use std::error::Error;
use std::process::ExitCode;

use clap::{Args as ClapArgs, Subcommand};

/// The options of `groupwire lab`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Debug, Subcommand)]
enum Experiment {
    /// Which codec for which block of a stream, and what choosing gains.
    Ace(ace::Args),
    /// Which share of messages misses its deadline, and what holding a target costs.
    Afec(afec::Args),
    /// Whether channels get what they were promised, from application to application.
    Contract(contract::Args),
    /// What a delivery costs when few send and everybody receives, beside other servers.
    Fanout(fanout::Args),
    /// How small messages get, how fast, with how much memory.
    Gmc(gmc::Args),
    /// What codecs under every message gain, by size and link.
    Lossless(lossless::Args),
    /// One page with plots of rows that were saved with --json.
    Report(report::Args),
    /// How fast messages get from browser to browser, over every transport and network.
    Web(web::Args),
}

pub(crate) fn run(args: Args) -> Result<ExitCode, Box<dyn Error>> {
    match args.experiment {
        Experiment::Ace(args) => ace::run(args),
        Experiment::Afec(args) => afec::run(args),
        Experiment::Contract(args) => contract::run(args),
        Experiment::Fanout(args) => fanout::run(args),
        Experiment::Gmc(args) => gmc::run(args),
        Experiment::Lossless(args) => lossless::run(args),
        Experiment::Report(args) => report::run(args),
        Experiment::Web(args) => web::run(args),
    }
}
