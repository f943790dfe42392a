//! Checks which options of the file need or exclude others, by the rules that clap has of the flags. Clap itself would report
//! the first problem only, and knows no lines.

use clap::builder::{Resettable, ValueParser};
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, Command};

use super::file::File;
use super::layers::{Source, is_flag, variable_of};

/// Adds to the file's problems what options in it need and do not have, and what they must not be used with. `sources` are the
/// options that are set.
pub(super) fn check(serve: &Command, sources: &[(String, Source)], file: &mut File) {
    let names = without_values(serve);
    for (place, (name, source)) in sources.iter().enumerate() {
        let Source::File(line) = source else { continue };
        let missing = needs(&names, name);
        let missing: Vec<_> =
            missing.into_iter().filter(|due| sources.iter().all(|(name, _)| name != due)).collect();
        if !missing.is_empty() {
            file.add_problem(*line, format!("{name}: also needs {}", missing.join(" and ")));
        }
        for (other_place, (other, source)) in sources.iter().enumerate() {
            // Two options of the file are reported once, at the later one.
            let is_reported = matches!(source, Source::File(_)) && other_place >= place;
            if !is_reported && (excludes(serve, name, other) || excludes(serve, other, name)) {
                let at = describe(other, *source);
                file.add_problem(*line, format!("{name}: cannot be used with {at}"));
            }
        }
    }
}

/// The options with the rules about each other, but any value, and from nowhere else.
fn without_values(serve: &Command) -> Command {
    serve.clone().no_binary_name(true).mut_args(|option| {
        let option = option.env(Resettable::Reset);
        match is_flag(&option) {
            true => option,
            false => option.default_value(Resettable::Reset).value_parser(ValueParser::os_string()),
        }
    })
}

/// The options that clap wants with this one.
fn needs(names: &Command, name: &str) -> Vec<String> {
    let Some(option) = find(names, name) else { return Vec::new() };
    let argument = if is_flag(option) { format!("--{name}") } else { format!("--{name}=x") };
    let Err(error) = names.clone().try_get_matches_from([argument]) else { return Vec::new() };
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::Strings(due)) => due.iter().map(|due| name_in(due)).collect(),
        Some(ContextValue::String(due)) => vec![name_in(due)],
        _ => Vec::new(),
    }
}

/// The name of an option in clap's text about it: `data` in `--data <FOLDER>`.
fn name_in(text: &str) -> String {
    let name = text.split([' ', '=']).next().unwrap_or_default();
    name.trim_start_matches("--").to_owned()
}

fn excludes(serve: &Command, name: &str, other: &str) -> bool {
    let Some(option) = find(serve, name) else { return false };
    serve.get_arg_conflicts_with(option).iter().any(|option| option.get_long() == Some(other))
}

fn find<'a>(serve: &'a Command, name: &str) -> Option<&'a Arg> {
    serve.get_arguments().find(|option| option.get_long() == Some(name))
}

/// An option and where it is set, for people.
fn describe(name: &str, source: Source) -> String {
    match source {
        Source::CommandLine => format!("--{name} of the command line"),
        Source::Variable => format!("the variable {}", variable_of(name)),
        Source::File(line) => format!("{name} in line {line}"),
    }
}
