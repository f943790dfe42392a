//! Reads the configuration file: which options it has, at which lines, and what is wrong with it.

use std::any::TypeId;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, Command};
use toml::de::{DeTable, DeValue};

use super::layers::{OPTION, is_flag};

/// The largest configuration file, in bytes: more is a mistake, such as the name of another file.
const MAX_SIZE: u64 = 1 << 20;

/// The least similarity (Jaro-Winkler) at which a known key is suggested for an unknown one: the
/// same as clap's.
const ALIKE: f64 = 0.8;

/// A configuration file.
pub(super) struct File {
    pub(super) path: PathBuf,
    entries: Vec<Entry>,
    problems: Vec<Problem>,
    has_secrets: bool,
}

/// An option in the file whose value can be used.
pub(super) struct Entry {
    /// The key, which is the flag's name.
    pub(super) key: String,
    /// The line, from 1.
    pub(super) line: usize,
    /// The values as arguments would have them; none for a flag that is off.
    values: Vec<String>,
    is_flag: bool,
}

/// An error in the file.
struct Problem {
    line: usize,
    /// The key and what is wrong.
    text: String,
}

/// Reads the file and checks each of its keys. `serve` defines the options.
///
/// # Errors
/// The file cannot be read.
pub(super) fn read(path: &Path, serve: &Command) -> Result<File, String> {
    let cannot =
        |why: String| format!("cannot read the configuration file {}: {why}", path.display());
    let size = std::fs::metadata(path).map_err(|error| cannot(error.to_string()))?.len();
    if size > MAX_SIZE {
        return Err(cannot(format!("it has {size} bytes, which is too large")));
    }
    let text = std::fs::read_to_string(path).map_err(|error| cannot(error.to_string()))?;
    Ok(understand(path, &text, serve))
}

fn understand(path: &Path, text: &str, serve: &Command) -> File {
    let mut file = File {
        path: path.to_owned(),
        entries: Vec::new(),
        problems: Vec::new(),
        has_secrets: false,
    };
    let line_at = |offset: usize| {
        1 + text.as_bytes()[..offset.min(text.len())].iter().filter(|byte| **byte == b'\n').count()
    };
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let line = error.span().map_or(1, |span| line_at(span.start));
        file.add_problem(line, error.message().replace('\n', "; "));
    }
    for (key, value) in table.get_ref() {
        let line = line_at(key.span().start);
        let key = key.get_ref().to_string();
        if file.problems.iter().any(|problem| problem.line == line) {
            // Further problems in a line that is no TOML follow from that.
            continue;
        }
        let Some(option) = options(serve).find(|option| option.get_long() == Some(&key)) else {
            file.add_problem(line, unknown(&key, value.get_ref(), serve));
            continue;
        };
        let is_secret = option.is_hide_env_values_set();
        file.has_secrets |= is_secret;
        match values(option, value.get_ref()) {
            Ok(values) => {
                let wrong = values
                    .iter()
                    .filter(|_| !is_flag(option))
                    .filter_map(|value| why_wrong(option, value, is_secret));
                let wrong: Vec<_> = wrong.collect();
                if wrong.is_empty() {
                    file.entries.push(Entry { key, line, values, is_flag: is_flag(option) });
                } else {
                    wrong.iter().for_each(|why| file.add_problem(line, format!("{key}: {why}")));
                }
            }
            Err(why) => file.add_problem(line, format!("{key}: {why}")),
        }
    }
    file
}

impl File {
    /// The options whose values can be used.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    /// Adds an error.
    pub(super) fn add_problem(&mut self, line: usize, text: String) {
        self.problems.push(Problem { line, text });
    }

    /// All errors, one per line; empty if there are none.
    pub(super) fn problems(&self) -> String {
        let mut sorted: Vec<_> = self.problems.iter().collect();
        sorted.sort_by_key(|problem| problem.line);
        let mut text = String::new();
        for Problem { line, text: what } in sorted {
            let separator = if text.is_empty() { "" } else { "\n" };
            let _ = write!(text, "{separator}{}:{line}: {what}", self.path.display());
        }
        text
    }

    /// Warnings about a file that can be used.
    pub(super) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        #[cfg(unix)]
        if self.has_secrets {
            use std::os::unix::fs::PermissionsExt;
            let mode =
                std::fs::metadata(&self.path).map_or(0, |metadata| metadata.permissions().mode());
            if mode & 0o004 != 0 {
                let path = self.path.display();
                warnings.push(format!(
                    "every user of this machine can read {path}, which has a secret: `chmod 600 {path}` prevents that"
                ));
            }
        }
        warnings
    }
}

impl Entry {
    /// False for a flag that is off, and for an empty list.
    pub(super) fn is_on(&self) -> bool {
        !self.values.is_empty()
    }

    /// The option as arguments of the command line.
    pub(super) fn arguments(&self) -> Vec<String> {
        match self.is_flag {
            true => vec![format!("--{}", self.key)],
            false => self.values.iter().map(|value| format!("--{}={value}", self.key)).collect(),
        }
    }
}

/// The options that a file may have.
pub(super) fn options(serve: &Command) -> impl Iterator<Item = &Arg> {
    serve.get_arguments().filter(|option| {
        !option.is_hide_set()
            && option.get_long().is_some_and(|name| ![OPTION, "help", "version"].contains(&name))
    })
}

/// True if the option may have several values.
pub(super) fn is_list(option: &Arg) -> bool {
    matches!(option.get_action(), ArgAction::Append)
}

/// True if the option's values are numbers, which a file has without quotes.
pub(super) fn is_number(option: &Arg) -> bool {
    let kind = option.get_value_parser().type_id();
    let whole = [
        TypeId::of::<u64>(),
        TypeId::of::<u32>(),
        TypeId::of::<u16>(),
        TypeId::of::<u8>(),
        TypeId::of::<usize>(),
    ];
    whole.iter().any(|number| kind == *number)
        || kind == TypeId::of::<i64>()
        || kind == TypeId::of::<f64>()
}

/// The option's values in the file as arguments would have them, or why they are of the wrong type.
fn values(option: &Arg, value: &DeValue<'_>) -> Result<Vec<String>, String> {
    let name = option.get_long().unwrap_or_default();
    if is_flag(option) {
        let holds = value
            .as_bool()
            .ok_or_else(|| format!("must be true or false, without quotes: {name} = true"))?;
        return Ok(if holds { vec!["true".to_owned()] } else { Vec::new() });
    }
    match value {
        DeValue::Array(items) if is_list(option) => {
            items.iter().map(|item| single(option, item.get_ref())).collect()
        }
        DeValue::Array(_) => Err("has one value, not a list".to_owned()),
        _ => Ok(vec![single(option, value)?]),
    }
}

fn single(option: &Arg, value: &DeValue<'_>) -> Result<String, String> {
    let name = option.get_long().unwrap_or_default();
    let unfit = |due: &str| Err(format!("is {}, and must be {due}", kind(value)));
    match (is_number(option), value) {
        (true, DeValue::Integer(number)) => i128::from_str_radix(number.as_str(), number.radix())
            .map(|number| number.to_string())
            .map_err(|_| "is too large".to_owned()),
        (true, DeValue::Float(number)) => Ok(number.as_str().to_owned()),
        (true, _) => unfit(&format!("a number, without quotes: {name} = 1")),
        (false, DeValue::String(text)) => Ok(text.to_string()),
        (false, _) if is_list(option) => {
            unfit(&format!("a list of texts in quotes: {name} = [\"…\"]"))
        }
        (false, _) => unfit(&format!("a text in quotes: {name} = \"…\"")),
    }
}

/// The type of a value, for messages.
fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// Why the option cannot have this value; `None` if it can.
fn why_wrong(option: &Arg, value: &str, is_secret: bool) -> Option<String> {
    let name = option.get_long().unwrap_or_default().to_owned();
    let mut probe = Arg::new("value").long(name.clone()).num_args(1);
    probe = probe.value_parser(option.get_value_parser().clone());
    if let Some(delimiter) = option.get_value_delimiter() {
        probe = probe.value_delimiter(delimiter).action(ArgAction::Append);
    }
    let probe = Command::new("groupwire").no_binary_name(true).arg(probe);
    let error = probe.try_get_matches_from([format!("--{name}={value}")]).err()?;
    let value = if is_secret { "this".to_owned() } else { format!("{value:?}") };
    let due = match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(known)) if !known.is_empty() => {
            format!("one of {}", known.join(", "))
        }
        _ => option.get_value_names().map_or_else(String::new, |names| names.join(" ")),
    };
    let why = match (error.kind(), std::error::Error::source(&error)) {
        (ErrorKind::ValueValidation, Some(why)) => format!(" ({why})"),
        _ => String::new(),
    };
    Some(format!("cannot be {value}{why}: it must be {due}"))
}

/// The message about a key that is no option.
fn unknown(key: &str, value: &DeValue<'_>, serve: &Command) -> String {
    if value.is_table() {
        return format!(
            "{key}: the file has no tables; write {key}-… = … if an option's name begins so"
        );
    }
    let names = options(serve).filter_map(Arg::get_long);
    let nearest = names
        .map(|name| (strsim::jaro_winkler(name, &key.replace('_', "-")), name))
        .filter(|(alike, _)| *alike >= ALIKE)
        .max_by(|(one, _), (two, _)| one.total_cmp(two));
    match nearest {
        Some((_, name)) => format!("{key}: there is no such option; did you mean {name}?"),
        None => format!("{key}: there is no such option; `groupwire config example` lists all"),
    }
}
