//! `groupwire ace`: tools for streams that choose codecs by forecast.

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
    /// Measure the codecs of the policy ace-2005 on this machine. Run it once, and again when the hardware changes, on an
    /// idle machine.
    Profile(profile::Args),
}

pub(crate) fn run(args: Args) -> Result<ExitCode, Box<dyn Error>> {
    match args.command {
        Command::Profile(args) => profile::run(args),
    }
}
