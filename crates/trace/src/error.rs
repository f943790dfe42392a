//! What can be wrong with a trace file.

use std::path::PathBuf;

/// Every error of reading a trace.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The name says nothing of what is in it.
    #[error(
        "{path}: a trace is called *.bin (records) or *.csv (pointer events), each also with .gz",
        path = path.display()
    )]
    Extension {
        /// The file.
        path: PathBuf,
    },
    /// The file system or gzip failed.
    #[error("{path}: {source}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// The file ends within a record.
    #[error(
        "{path}: record {record} ends after {found} of {wanted} bytes: the file was cut off; copy it again",
        path = path.display()
    )]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Which record, from 1.
        record: usize,
        /// How many bytes it should have.
        wanted: usize,
        /// The number of bytes that the file has.
        found: usize,
    },
    /// More than a trace may hold.
    #[error(
        "{path}: {what} of {found} is over the limit of {limit}: is this a trace? Records start with their length \
         in 4 bytes, the lowest first",
        path = path.display()
    )]
    Limit {
        /// The file.
        path: PathBuf,
        /// The things of which the file has too many.
        what: &'static str,
        /// The number of them in the file.
        found: usize,
        /// The largest number that is allowed.
        limit: usize,
    },
    /// A row that is not what the format says.
    #[error("{path}, line {line}: {why}", path = path.display())]
    Row {
        /// The file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// What was expected instead of the line's text.
        why: &'static str,
    },
    /// The table beside a file is not about it.
    #[error(
        "{path} has {rows} rows for {records} records: it belongs to another recording; put the right one in its \
         place or remove it",
        path = path.display()
    )]
    Rows {
        /// The table.
        path: PathBuf,
        /// Its rows.
        rows: usize,
        /// The messages of the trace.
        records: usize,
    },
    /// The file has no messages.
    #[error("{path}: there are no messages in it", path = path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
}
