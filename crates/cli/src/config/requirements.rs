//! Checks which options of the file need or exclude others, by the rules that clap has of the
//! flags. Clap itself would report the first problem only, and knows no lines.

use clap::builder::{Resettable, ValueParser};
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, Command};

use super::file::File;
use super::layers::{Source, is_flag, variable_of};

/// Adds a problem to the file for each of its options that lacks an option it needs, or is used
/// with one that it excludes. `sources` are the options that are set.
pub(super) fn check(serve: &Command, sources: &[(String, Source)], file: &mut File) {
    let names = without_values(serve);
    for (place, (name, source)) in sources.iter().enumerate() {
        let Source::File(line) = source else { continue };
        let missing = needs(&names, name);
        let is_set = |due: &String| sources.iter().any(|(name, _)| name == due);
        let missing: Vec<_> = missing
            .iter()
            .filter(|any_of| !any_of.iter().any(is_set))
            .map(|any_of| any_of.join(" or "))
            .collect();
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

/// The options with their rules about each other. They take any value, and have no variables and no
/// defaults.
fn without_values(serve: &Command) -> Command {
    serve.clone().no_binary_name(true).mut_args(|option| {
        let option = option.env(Resettable::Reset);
        match is_flag(&option) {
            true => option,
            false => option.default_value(Resettable::Reset).value_parser(ValueParser::os_string()),
        }
    })
}

/// The options that clap requires with this one: at least one of each group of names.
fn needs(names: &Command, name: &str) -> Vec<Vec<String>> {
    let Some(option) = find(names, name) else { return Vec::new() };
    let argument = if is_flag(option) { format!("--{name}") } else { format!("--{name}=x") };
    let Err(error) = names.clone().try_get_matches_from([argument]) else { return Vec::new() };
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::Strings(due)) => due.iter().map(|due| names_in(due)).collect(),
        Some(ContextValue::String(due)) => vec![names_in(due)],
        _ => Vec::new(),
    }
}

/// The names of options in clap's text about them: `data` in `--data <FOLDER>`, both in
/// `<--data <FOLDER>|--acme-folder <FOLDER>>`.
fn names_in(text: &str) -> Vec<String> {
    let options = text.trim_start_matches('<').split('|');
    let name = |option: &str| {
        let name = option.split([' ', '=']).next().unwrap_or_default();
        name.trim_start_matches("--").to_owned()
    };
    options.map(name).collect()
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
