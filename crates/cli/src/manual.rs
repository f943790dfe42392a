//! `groupwire completions` and `groupwire man`: what shells and `man` know of the command, made of
//! the definition of its options.

use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args as ClapArgs, Command};
use clap_complete::Shell;

/// The options of `groupwire completions`.
#[derive(Debug, ClapArgs)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    shell: Shell,
}

/// The options of `groupwire man`.
#[derive(Debug, ClapArgs)]
pub(crate) struct ManArgs {
    /// The folder, which is created if it is missing.
    folder: PathBuf,
}

/// Prints the script for a shell. `command` is the definition of all options.
pub(crate) fn print_completions(args: &CompletionsArgs, mut command: Command) -> ExitCode {
    let name = command.get_name().to_owned();
    clap_complete::generate(args.shell, &mut command, name, &mut io::stdout());
    ExitCode::SUCCESS
}

/// Writes a page for each command. `command` is the definition of all options.
pub(crate) fn write_pages(args: &ManArgs, command: Command) -> Result<ExitCode, Box<dyn Error>> {
    let folder = &args.folder;
    std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(command, folder))
        .map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(ExitCode::SUCCESS)
}
