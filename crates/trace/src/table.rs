//! The table beside a file of records: when each was sent, by whom, of what kind.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::limits::{MAX_KINDS, MAX_TIME_MS};
use super::{Error, Trace, TraceMessage, file};

/// The rows of a table.
#[derive(Debug)]
pub(super) struct Table {
    rows: Vec<Row>,
    kinds: Vec<String>,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    at: Duration,
    sender: u32,
    kind: usize,
}

/// Reads the table of `path`, whose name is `stem` and an extension, if there is one.
pub(super) fn beside(path: &Path, stem: &str, records: usize) -> Result<Option<Table>, Error> {
    let find = |name: &str| -> Option<PathBuf> {
        [format!("{name}.tsv"), format!("{name}.tsv.gz")]
            .map(|name| path.with_file_name(name))
            .into_iter()
            .find(|path| path.exists())
    };
    if let Some(path) = find(stem) {
        let table = parse(&path, &file::read(&path)?)?;
        let rows = table.rows.len();
        return match rows == records {
            true => Ok(Some(table)),
            false => Err(Error::Rows { path, rows, records }),
        };
    }
    let Some(path) = find("events") else { return Ok(None) };
    let table = parse(&path, &file::read(&path)?)?;
    Ok((table.rows.len() == records).then_some(table))
}

impl Table {
    /// Gives each record its row.
    pub(super) fn join(self, records: Vec<Box<[u8]>>) -> Trace {
        let messages = self
            .rows
            .iter()
            .zip(records)
            .map(|(&Row { at, sender, kind }, bytes)| TraceMessage { at, sender, kind, bytes })
            .collect();
        Trace { messages, kinds: self.kinds, timed: true }
    }
}

fn parse(path: &Path, bytes: &[u8]) -> Result<Table, Error> {
    let wrong = |line, why| Error::Row { path: path.to_owned(), line, why };
    let text = std::str::from_utf8(bytes).map_err(|_| wrong(1, "this is not text"))?;
    let mut columns = Columns { time: 0, sender: 1, kind: 2 };
    let mut table = Table { rows: Vec::new(), kinds: Vec::new() };
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty()) {
        let cells: Vec<&str> = line.split('\t').collect();
        if at == 0 && cells[0].parse::<f64>().is_err() {
            columns = Columns::named(&cells).ok_or_else(|| {
                wrong(1, "the columns need the names time_ms, sender, and channel or kind")
            })?;
            continue;
        }
        let cell = |column: usize| cells.get(column).copied().unwrap_or_default();
        let ms: f64 = cell(columns.time).parse().unwrap_or(f64::NAN);
        if !(0.0..=MAX_TIME_MS).contains(&ms) {
            return Err(wrong(at + 1, "a time in milliseconds is due"));
        }
        let sender = cell(columns.sender).parse();
        let sender = sender.map_err(|_| wrong(at + 1, "a sender's number is due"))?;
        let kind = table.kind(cell(columns.kind)).ok_or_else(|| {
            wrong(at + 1, "this is one kind of message too many: kinds are few and come again")
        })?;
        let at = Duration::from_micros((ms * 1000.0).round() as u64);
        table.rows.push(Row { at, sender, kind });
    }
    Ok(table)
}

impl Table {
    /// The number of a kind.
    fn kind(&mut self, name: &str) -> Option<usize> {
        if let Some(known) = self.kinds.iter().position(|kind| kind == name) {
            return Some(known);
        }
        if self.kinds.len() >= MAX_KINDS {
            return None;
        }
        self.kinds.push(name.to_owned());
        Some(self.kinds.len() - 1)
    }
}

/// Which column is which.
#[derive(Clone, Copy)]
struct Columns {
    time: usize,
    sender: usize,
    kind: usize,
}

impl Columns {
    fn named(names: &[&str]) -> Option<Self> {
        let find = |name| names.iter().position(|other| *other == name);
        Some(Columns {
            time: find("time_ms").or_else(|| find("time"))?,
            sender: find("sender")?,
            kind: find("channel").or_else(|| find("kind"))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Result<Table, Error> {
        super::parse("x.tsv".as_ref(), text.as_bytes())
    }

    #[test]
    fn the_whiteboards_columns_have_names() {
        let table = parse("time_ms\tsender\tchannel\tkind\n12.5\t3\tpointer\tsent\n").unwrap();
        assert_eq!(table.kinds, ["pointer"]);
        assert_eq!((table.rows[0].at, table.rows[0].sender), (Duration::from_micros(12_500), 3));
    }

    #[test]
    fn without_names_the_order_counts() {
        let table = parse("716632726\t7\ttele\t981\t688\n716632730\t7\tedit\tx\n").unwrap();
        assert_eq!(table.kinds, ["tele", "edit"]);
        assert_eq!(table.rows[1].kind, 1);
    }

    #[test]
    fn wrong_rows_are_named() {
        for (text, line) in
            [("1\tA\tx", 1), ("1\t2\tx\n-1\t2\tx", 2), ("1\t2\tx\nNaN\t2\tx", 2), ("who\twhat", 1)]
        {
            match parse(text).unwrap_err() {
                Error::Row { line: found, .. } => assert_eq!(found, line, "{text:?}"),
                other => panic!("{text:?}: {other}"),
            }
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>, text in "[0-9a\t\n.-]{0,80}") {
            let _ = super::parse("x.tsv".as_ref(), &bytes);
            let _ = parse(&text);
        }
    }
}
