//! The configuration of `groupwire serve`: options, variables of the environment, and a file. Each
//! option is declared once, as a flag for clap: `layers` gives it a variable and a key in the file
//! of the same name.
//!
//! Precedence: flag, then variable, then file, then default.

mod example;
mod file;
mod layers;
mod report;
mod requirements;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args as ClapArgs, Command, Subcommand};

pub(crate) use self::layers::{parse, with_layers};

/// The file that `groupwire config check` reads if none is named.
const USUAL: &str = "groupwire.toml";

/// The options of `groupwire config`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Check a configuration file: print every error in it, or the options that would be in force
    /// in this environment.
    Check {
        /// The file. Default: the one that the variable GROUPWIRE_CONFIG names, or groupwire.toml.
        file: Option<PathBuf>,
    },
    /// Print a configuration file with every option, its default and its description.
    Example,
}

/// Checks a file, or prints an example. `command` is the definition of all options.
pub(crate) fn run(args: Args, command: Command) -> Result<ExitCode, Box<dyn Error>> {
    let command = layers::with_layers(command);
    match args.action {
        Action::Example => print!("{}", example::example(layers::serve(&command))),
        Action::Check { file } => {
            let file = file.or_else(|| std::env::var_os("GROUPWIRE_CONFIG").map(PathBuf::from));
            let file = file.as_deref().unwrap_or_else(|| Path::new(USUAL));
            print!("{}", report::check(command, file)?);
        }
    }
    Ok(ExitCode::SUCCESS)
}
