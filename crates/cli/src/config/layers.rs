//! The layers of the configuration: command line, environment, file, defaults.
//!
//! Values of the file become arguments before those of the command line, unless the command line or
//! the environment has the option: so clap reads them, and its rules about options that need or
//! exclude each other hold for them, too.

use std::error::Error;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::builder::{BoolishValueParser, Resettable, TypedValueParser, ValueParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, CommandFactory, FromArgMatches};

use super::file::{self, File};
use super::requirements;

/// The option that names the file.
pub(super) const OPTION: &str = "config";

/// Where the value of an option comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    CommandLine,
    Variable,
    /// The line in the file.
    File(usize),
}

/// The configuration of a server with a file.
pub(super) struct Layered {
    /// The definition of all commands, in which variables that switch a flag off are as if they
    /// were not set.
    command: Command,
    pub(super) file: File,
    /// The arguments, those from the file included.
    arguments: Vec<OsString>,
    /// The options that are set, by their names.
    pub(super) sources: Vec<(String, Source)>,
}

/// Reads the arguments and the environment of this process, and the file that they name. Ends the
/// process if the arguments are wrong, or ask for help. Returns warnings about the file, too.
///
/// # Errors
/// All that is wrong with the file.
pub(crate) fn parse<C: CommandFactory + FromArgMatches>() -> Result<(C, Vec<String>), Box<dyn Error>>
{
    let command = with_layers(C::command());
    let arguments: Vec<_> = std::env::args_os().collect();
    let (matches, warnings) = match file_of(&command, &arguments) {
        None => (command.try_get_matches_from(arguments), Vec::new()),
        Some(path) => {
            let layered = Layered::read(command, arguments, &path)?;
            let problems = layered.file.problems();
            if !problems.is_empty() {
                return Err(format!("the configuration file cannot be used:\n{problems}").into());
            }
            (layered.matches(), layered.file.warnings())
        }
    };
    let parsed = matches.and_then(|matches| C::from_arg_matches(&matches));
    Ok((parsed.unwrap_or_else(|error| error.exit()), warnings))
}

/// Gives every option of `serve` a variable and the option that names the file.
pub(crate) fn with_layers(command: Command) -> Command {
    let file = Arg::new(OPTION)
        .long(OPTION)
        .value_name("FILE")
        .value_parser(ValueParser::path_buf())
        .help(
            "A TOML file with options, such as `listen = \"0.0.0.0:8080\"`: the keys are the flags' names. Flags and variables go \
             before it. `groupwire config example` prints one with all options, `groupwire config check` checks one",
        );
    command.mut_subcommand("serve", |serve| {
        serve.arg(file).mut_args(|option| {
            let Some(name) = option.get_long().filter(|_| !option.is_hide_set()) else {
                return option;
            };
            let variable = variable_of(name);
            match is_flag(&option) {
                true => option.env(variable).value_parser(BoolishValueParser::new()),
                false => option.env(variable),
            }
        })
    })
}

/// The definition of `serve`.
pub(super) fn serve(command: &Command) -> &Command {
    command.find_subcommand("serve").expect("the command serve is defined")
}

/// The variable of an option.
pub(super) fn variable_of(option: &str) -> String {
    format!("GROUPWIRE_{}", option.replace('-', "_").to_uppercase())
}

/// True if the option takes no value.
pub(super) fn is_flag(option: &Arg) -> bool {
    matches!(option.get_action(), ArgAction::SetTrue)
}

/// The file that the arguments or the environment name.
fn file_of(command: &Command, arguments: &[OsString]) -> Option<PathBuf> {
    let read = command.clone().ignore_errors(true).try_get_matches_from(arguments).ok()?;
    read.subcommand_matches("serve")?.get_one::<PathBuf>(OPTION).cloned()
}

impl Layered {
    /// Lays the arguments and the environment over the file.
    ///
    /// # Errors
    /// The file cannot be read. What is wrong in it is in `file`.
    pub(super) fn read(
        command: Command,
        mut arguments: Vec<OsString>,
        path: &Path,
    ) -> Result<Self, Box<dyn Error>> {
        let mut file = file::read(path, serve(&command))?;
        let read = command.clone().ignore_errors(true).try_get_matches_from(&arguments);
        let read = read.unwrap_or_else(|error| error.exit());
        let read = read.subcommand_matches("serve").ok_or("there is no command serve")?;
        let (mut sources, mut off) = (Vec::new(), Vec::new());
        for option in serve(&command).get_arguments() {
            let Some(name) = option.get_long() else { continue };
            let by_variable = option.get_env().and_then(std::env::var_os);
            match by_variable {
                _ if read.value_source(name_of(option)) == Some(ValueSource::CommandLine) => {
                    sources.push((name.to_owned(), Source::CommandLine));
                }
                Some(value) if is_flag(option) && is_off(option, &value) => {
                    off.push(name.to_owned());
                }
                Some(_) => sources.push((name.to_owned(), Source::Variable)),
                None => {}
            }
        }
        let place =
            arguments.iter().position(|argument| argument == "serve").map_or(1, |place| place + 1);
        let is_set = |key: &str| {
            off.iter().chain(sources.iter().map(|(name, _)| name)).any(|name| name == key)
        };
        let entries = file.entries().filter(|entry| !is_set(&entry.key));
        let (added, lines): (Vec<_>, Vec<_>) = entries
            .filter(|entry| entry.is_on())
            .map(|entry| (entry.arguments(), (entry.key.clone(), Source::File(entry.line))))
            .unzip();
        arguments.splice(place..place, added.into_iter().flatten().map(OsString::from));
        sources.extend(lines);
        let command = command.mut_subcommand("serve", |serve| {
            serve.mut_args(|option| match option.get_long() {
                Some(name) if off.iter().any(|off| off == name) => option.env(Resettable::Reset),
                _ => option,
            })
        });
        requirements::check(serve(&command), &sources, &mut file);
        Ok(Layered { command, file, arguments, sources })
    }

    /// What clap reads from all layers together.
    ///
    /// # Errors
    /// Options of the command line or the environment that are wrong.
    pub(super) fn matches(&self) -> Result<ArgMatches, clap::Error> {
        self.command.clone().try_get_matches_from(&self.arguments)
    }

    /// The definition of `serve`.
    pub(super) fn serve(&self) -> &Command {
        serve(&self.command)
    }
}

/// The name of an option in clap's matches.
pub(super) fn name_of(option: &Arg) -> &str {
    option.get_id().as_str()
}

/// True if the value of a variable switches the flag off.
fn is_off(option: &Arg, value: &OsString) -> bool {
    let command = Command::new("groupwire");
    BoolishValueParser::new().parse_ref(&command, Some(option), value).is_ok_and(|holds| !holds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_has_a_flag_and_a_variable_of_its_name() {
        let command = with_layers(crate::Cli::command());
        let mut checked = 0;
        for option in serve(&command).get_arguments().filter(|option| !option.is_hide_set()) {
            let name = option.get_long().expect("every option has a flag");
            let variable = option.get_env().and_then(|name| name.to_str());
            assert_eq!(variable, Some(variable_of(name).as_str()));
            checked += 1;
        }
        assert!(checked > 30);
        command.debug_assert();
    }
}
