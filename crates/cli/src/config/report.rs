//! `groupwire config check`: every error of a file, or what would be in force.

use std::error::Error;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::Path;

use clap::{Arg, ArgMatches, Command};

use super::file::options;
use super::layers::{Layered, Source, name_of, variable_of};

/// Checks the file together with the environment, and says what would be in force.
///
/// # Errors
/// All that is wrong, one problem per line.
pub(super) fn check(command: Command, path: &Path) -> Result<String, Box<dyn Error>> {
    let arguments = ["groupwire", "serve", "--config"].map(OsString::from);
    let arguments = arguments.into_iter().chain([path.into()]).collect();
    let mut layered = Layered::read(command, arguments, path)?;
    let matches = layered.matches();
    if let Ok(matches) = &matches {
        let serve = matches.subcommand_matches("serve").ok_or("there is no command serve")?;
        for (line, problem) in unreadable(&layered, serve) {
            layered.file.add_problem(line, problem);
        }
    }
    let problems = layered.file.problems();
    if !problems.is_empty() {
        return Err(format!("the configuration file cannot be used:\n{problems}").into());
    }
    let matches = matches.map_err(|error| plain(&error))?;
    let serve = matches.subcommand_matches("serve").ok_or("there is no command serve")?;
    let mut text = String::new();
    for warning in layered.file.warnings() {
        let _ = writeln!(text, "warning: {warning}");
    }
    let _ = writeln!(text, "{} can be used. In force with this environment:\n", path.display());
    for option in options(layered.serve()) {
        let Some((value, source)) = in_force(&layered, serve, option) else { continue };
        let name = option.get_long().unwrap_or_default();
        let _ = writeln!(text, "{name:<20} {value:<32} {source}");
    }
    text += "\nOptions that are not listed are not set.\n";
    Ok(text)
}

/// The value of an option and where it comes from; `None` if it is not set.
fn in_force(layered: &Layered, serve: &ArgMatches, option: &Arg) -> Option<(String, String)> {
    let name = option.get_long()?;
    let values: Vec<_> = serve.get_raw(name_of(option))?.map(|raw| raw.to_string_lossy()).collect();
    let source = layered.sources.iter().find(|(set, _)| set == name);
    let source = match source {
        Some((_, Source::CommandLine)) => format!("--{name}"),
        Some((_, Source::Variable)) => variable_of(name),
        Some((_, Source::File(line))) => format!("line {line}"),
        None => "default".to_owned(),
    };
    let value =
        if option.is_hide_env_values_set() { "(hidden)".to_owned() } else { values.join(", ") };
    Some((value, source))
}

/// The files that options in the file name and this user cannot read.
fn unreadable(layered: &Layered, serve: &ArgMatches) -> Vec<(usize, String)> {
    let mut problems = Vec::new();
    for (name, source) in &layered.sources {
        let option = options(layered.serve()).find(|option| option.get_long() == Some(name));
        let (Some(option), Source::File(line)) = (option, source) else { continue };
        let is_file =
            option.get_value_names().is_some_and(|names| names.iter().any(|name| name == "FILE"));
        for path in serve.get_raw(name_of(option)).into_iter().flatten().filter(|_| is_file) {
            if let Err(error) = std::fs::File::open(path) {
                let path = Path::new(path).display();
                problems.push((*line, format!("{name}: cannot read {path}: {error}")));
            }
        }
    }
    problems
}

/// An error of clap without its hints about the usage of the command line.
fn plain(error: &clap::Error) -> String {
    let text = error.to_string();
    let text = text.split("\n\n").next().unwrap_or_default();
    text.trim_start_matches("error: ").to_owned()
}
