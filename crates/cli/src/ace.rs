//! `groupwire ace`: streams whose codecs are chosen by forecast.

mod profile;
mod table;

use std::error::Error;
use std::process::ExitCode;

use clap::{Args as ClapArgs, Subcommand};

/// The options of `groupwire ace`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure what the codecs of 2005 do on this machine, for streams with the policy ace-2005. Do it once, and again
    /// when the hardware changes, while nothing else runs.
    Profile(profile::Args),
}

pub(crate) fn run(args: Args) -> Result<ExitCode, Box<dyn Error>> {
    match args.command {
        Command::Profile(args) => profile::run(args),
    }
}
