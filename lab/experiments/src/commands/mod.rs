//! The experiments as commands: their options, and the tables that they print.

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

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Experiment {
    /// Measure the choice of a codec for each block of a stream.
    Ace(ace::Args),
    /// Measure the share of messages that miss their deadline, and the cost of meeting a target.
    Afec(afec::Args),
    /// Measure whether channels meet their QoS contract, from application to application.
    Contract(contract::Args),
    /// Measure the cost of a delivery when few participants send and all receive, for several servers.
    Fanout(fanout::Args),
    /// Measure size, time and memory of message compression.
    Gmc(gmc::Args),
    /// Measure the gain of lossless codecs for single messages, by size and link.
    Lossless(lossless::Args),
    /// Write a page with plots of rows that were saved with --json.
    Report(report::Args),
    /// Measure latency and rate of messages from browser to browser, over each transport and network.
    Web(web::Args),
}

impl Experiment {
    /// Runs the experiment.
    ///
    /// # Errors
    /// What is in its way, in words for the user.
    pub(crate) fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        match self {
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
}
