//! The program `groupwire-lab`: experiments that compare Groupwire with similar software (docs/lab.md).

mod commands;

use std::process::ExitCode;

use clap::Parser;
use commands::Experiment;

/// Experiments that compare Groupwire with similar software.
#[derive(Debug, Parser)]
#[command(name = "groupwire-lab", version, propagate_version = true, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    experiment: Experiment,
}

#[tokio::main]
async fn main() -> ExitCode {
    Cli::parse().experiment.run().unwrap_or_else(|error| {
        eprintln!("groupwire-lab: {error}");
        ExitCode::FAILURE
    })
}
