//! `groupwire config example`: a configuration file with every option, made of the options'
//! definition.

use std::fmt::Write;

use clap::{Arg, Command};

use super::file::{is_list, is_number, options};
use super::layers::{is_flag, variable_of};

const HEAD: &str = "\
# The configuration of `groupwire serve --config FILE`. Every option is here, with its default where it has one.
# Precedence: flag, then variable of the environment, then this file, then default. A list replaces the list of this file.
# `groupwire config check FILE` says what is wrong, or what would be in force.
";

/// How long lines of the descriptions may be.
const WIDTH: usize = 100;

/// The file. All options in it are commented out.
pub(super) fn example(serve: &Command) -> String {
    let mut text = HEAD.to_owned();
    for option in options(serve) {
        let Some(name) = option.get_long() else { continue };
        let help = option.get_long_help().or(option.get_help());
        let help = help.map(ToString::to_string).unwrap_or_default();
        text.push('\n');
        comment(&mut text, &format!("{} ({})", help.trim(), variable_of(name)));
        let _ = writeln!(text, "# {name} = {}", value(option));
    }
    text
}

/// The default of an option, or the name of its value.
fn value(option: &Arg) -> String {
    if is_flag(option) {
        return "false".to_owned();
    }
    let names = option.get_value_names().and_then(|names| names.first());
    let default =
        option.get_default_values().first().map(|value| value.to_string_lossy().into_owned());
    let text = default.or_else(|| names.map(ToString::to_string)).unwrap_or_default();
    match (is_number(option), is_list(option)) {
        (true, _) => text,
        (false, true) => format!("[\"{text}\"]"),
        (false, false) => format!("\"{text}\""),
    }
}

/// Adds text as comments of at most [`WIDTH`] characters.
fn comment(text: &mut String, words: &str) {
    let mut line = "#".to_owned();
    for word in words.split_whitespace() {
        if line.len() + 1 + word.len() > WIDTH {
            let _ = writeln!(text, "{line}");
            "#".clone_into(&mut line);
        }
        line.push(' ');
        line.push_str(word);
    }
    let _ = writeln!(text, "{line}");
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::config::{file, layers};

    #[test]
    fn the_example_has_every_option_and_its_defaults_can_be_used() {
        let command = layers::with_layers(crate::Cli::command());
        let serve = layers::serve(&command);
        let text = example(serve);
        let is_default = |option: &Arg| is_flag(option) || !option.get_default_values().is_empty();
        let mut used = String::new();
        for option in options(serve) {
            let start = format!("# {} = ", option.get_long().unwrap());
            let line = text.lines().find(|line| line.starts_with(&start)).expect(&start);
            if is_default(option) {
                used += &format!("{}\n", &line[2..]);
            }
        }
        let path =
            std::env::temp_dir().join(format!("groupwire-example-{}.toml", std::process::id()));
        std::fs::write(&path, &used).unwrap();
        let read = file::read(&path, serve).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(read.problems(), "");
        assert!(read.entries().count() > 10);
    }
}
