//! Rows as experiments print them with `--json`, read again.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::Error;

/// Of one file, in bytes.
const LARGEST: u64 = 256 << 20;

/// Which experiment a row is of, told by its fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Experiment {
    /// Lossless codecs under every message.
    Lossless,
    /// How small messages get.
    Gmc,
    /// Which messages miss their deadline.
    Afec,
    /// From browser to browser.
    Web,
    /// Which codec for which block of a stream.
    Ace,
    /// What a delivery costs when everybody receives.
    Fanout,
    /// Whether channels get what they were promised.
    Contract,
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Saved {
    /// By experiment, in the order of the files' names and lines.
    pub(super) rows: BTreeMap<Experiment, Vec<Row>>,
    /// A line for people about each file with rows of no known experiment.
    pub not_understood: Vec<String>,
    /// Names of the files that rows are from.
    pub files: Vec<String>,
}

/// A row: fields and what they say.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row(Map<String, Value>);

impl Experiment {
    /// The fields that rows of it have, and no rows of others.
    fn signs(self) -> &'static [&'static str] {
        match self {
            Experiment::Lossless => &["codec", "payload", "size", "hops"],
            Experiment::Gmc => &["trace", "technique", "mode"],
            Experiment::Afec => &["scheme", "channel", "mer"],
            Experiment::Web => &["transport", "network", "measure", "value"],
            Experiment::Ace => &["scenario", "policy", "over_best"],
            Experiment::Fanout => &["system", "clients", "server_us_per_delivery"],
            Experiment::Contract => &["setup", "channel", "ablation", "mer"],
        }
    }

    const ALL: [Experiment; 7] = [
        Experiment::Lossless,
        Experiment::Gmc,
        Experiment::Afec,
        Experiment::Web,
        Experiment::Ace,
        Experiment::Fanout,
        Experiment::Contract,
    ];

    fn of(fields: &Map<String, Value>) -> Option<Self> {
        let fits = |one: &Self| one.signs().iter().all(|&name| fields.contains_key(name));
        Experiment::ALL.into_iter().find(fits)
    }
}

impl Row {
    /// A number, if the field is one.
    pub(super) fn number(&self, name: &str) -> Option<f64> {
        self.0.get(name).and_then(Value::as_f64)
    }

    /// Text, or nothing.
    pub(super) fn text(&self, name: &str) -> &str {
        self.0.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// The name with the highest number in a field of names and numbers.
    pub(super) fn most(&self, name: &str) -> Option<&str> {
        let numbers = self.0.get(name)?.as_object()?.iter();
        let numbers = numbers.filter_map(|(name, number)| Some((name, number.as_f64()?)));
        numbers.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(name, _)| name.as_str())
    }

    /// Numbers of a list.
    pub(super) fn numbers(&self, name: &str) -> Vec<f64> {
        let list = self.0.get(name).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_f64).collect()
    }

    /// The fields of an object within.
    pub(super) fn object(&self, name: &str) -> Option<Row> {
        self.0.get(name).and_then(Value::as_object).cloned().map(Row)
    }

    /// Pairs of numbers of a list.
    pub(super) fn pairs(&self, name: &str) -> Vec<(f64, f64)> {
        let list = self.0.get(name).and_then(Value::as_array);
        let pair = |pair: &Value| Some((pair.get(0)?.as_f64()?, pair.get(1)?.as_f64()?));
        list.into_iter().flatten().filter_map(pair).collect()
    }

    /// Whether the field is true. What is not there is not.
    pub(super) fn is(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or_default()
    }

    /// Whether what came was not what was sent.
    pub(super) fn is_wrong(&self) -> bool {
        self.0.get("verified").and_then(Value::as_bool) == Some(false)
    }
}

impl Saved {
    /// Reads all `*.json` and `*.jsonl` of a directory, a row per line.
    ///
    /// # Errors
    ///
    /// If it cannot be read, if a line is no JSON object, and if there is no row at all.
    pub fn read(directory: &Path) -> Result<Self, Error> {
        let mut saved = Saved::default();
        for path in paths(directory)? {
            let failed = |source| Error::Read { path: path.clone(), source };
            let found = fs::metadata(&path).map_err(failed)?.len();
            if found > LARGEST {
                return Err(Error::Large { path, found, limit: LARGEST });
            }
            let octets = fs::read(&path).map_err(failed)?;
            saved.add(&path, &octets)?;
        }
        if saved.rows.is_empty() && saved.not_understood.is_empty() {
            return Err(Error::Nothing { path: directory.to_owned() });
        }
        Ok(saved)
    }

    /// Adds the rows of a file.
    ///
    /// # Errors
    ///
    /// If a line is no JSON object.
    pub fn add(&mut self, path: &Path, octets: &[u8]) -> Result<(), Error> {
        let mut strange: Vec<usize> = Vec::new();
        let mut count = 0;
        for (number, line) in octets.split(|&octet| octet == b'\n').enumerate() {
            if line.trim_ascii().is_empty() {
                continue;
            }
            let fields: Map<String, Value> = serde_json::from_slice(line).map_err(|error| {
                Error::Line { path: path.to_owned(), line: number + 1, why: without_line(&error) }
            })?;
            count += 1;
            match Experiment::of(&fields) {
                Some(experiment) => self.rows.entry(experiment).or_default().push(Row(fields)),
                None => strange.push(number + 1),
            }
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Some(first) = strange.first() {
            self.not_understood.push(format!(
                "{name}: {} of {count} rows are of no experiment that there are plots for (the first in line {first})",
                strange.len()
            ));
        }
        if count > strange.len() {
            self.files.push(name);
        }
        Ok(())
    }
}

/// Files of rows, in the order of their names.
fn paths(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = |source| Error::Read { path: directory.to_owned(), source };
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let is_rows = path.extension().is_some_and(|name| name == "json" || name == "jsonl");
        if is_rows && path.is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// The parser counts lines within the line.
fn without_line(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(at) => format!("{} at column {}", &text[..at], error.column()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(text: &str) -> Result<Saved, Error> {
        let mut saved = Saved::default();
        saved.add(Path::new("dir/rows.json"), text.as_bytes())?;
        Ok(saved)
    }

    #[test]
    fn rows_are_told_by_their_fields() {
        let text = "{\"codec\":\"lz4\",\"payload\":\"telecom\",\"size\":500,\"link_mbit\":null,\"hops\":0}\n\n\
                    {\"trace\":\"x\",\"technique\":\"zstd\",\"mode\":\"stream\"}\n\
                    {\"scheme\":\"udp\",\"channel\":\"rand5\",\"mer\":0.05}\n\
                    {\"transport\":\"poll\",\"network\":\"lan\",\"measure\":\"latency\",\"value\":3}\n\
                    {\"scenario\":\"fast/idle/idle\",\"policy\":\"lz4\",\"over_best\":null}\n";
        let saved = add(text).unwrap();
        assert!(saved.rows.values().all(|rows| rows.len() == 1), "{saved:?}");
        assert_eq!(saved.rows.len(), 5);
        assert_eq!(saved.files, ["rows.json"]);
    }

    #[test]
    fn strange_rows_are_named_and_no_error() {
        let saved =
            add("{\"trace\":\"x\",\"technique\":\"zstd\",\"mode\":\"stream\"}\n{\"a\":1}\n{}\n")
                .unwrap();
        assert_eq!(saved.not_understood.len(), 1);
        assert!(saved.not_understood[0].starts_with("rows.json: 2 of 3 rows"), "{saved:?}");
        assert!(saved.not_understood[0].ends_with("(the first in line 2)"), "{saved:?}");
    }

    #[test]
    fn what_is_no_json_is_named_by_its_line() {
        for (text, line) in [("{}\nhello\n", 2), ("[1]\n", 1), ("{}\n\n{\"a\":", 3), ("\u{1}", 1)] {
            let error = add(text).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("dir/rows.json, line {line}: no JSON object")),
                "{error}"
            );
            assert!(error.contains("--json"), "{error}");
        }
        let mut saved = Saved::default();
        assert!(saved.add(Path::new("a.json"), &[0xff, 0xfe, 10]).is_err());
    }
}
