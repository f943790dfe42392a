//! What can be wrong with saved rows.

use std::io;
use std::path::PathBuf;

/// Every error of a report.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A directory or a file could not be read.
    #[error("{path}: {source}", path = path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A line that is no JSON object.
    #[error(
        "{path}, line {line}: no JSON object: {why}. Each line is a row, as `groupwire-lab EXPERIMENT --json` \
         prints it",
        path = path.display()
    )]
    Line {
        /// The file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// What is wrong.
        why: String,
    },
    /// A file of a size that no experiment makes.
    #[error("{path}: {found} bytes are over the limit of {limit}: are these saved rows?", path = path.display())]
    Large {
        /// The file.
        path: PathBuf,
        /// Its size.
        found: u64,
        /// How large it may be.
        limit: u64,
    },
    /// There is nothing to make a page of.
    #[error(
        "{path}: there are no rows in *.json or *.jsonl. Save some first: \
         groupwire-lab lossless --json > {path}/lossless.json",
        path = path.display()
    )]
    Nothing {
        /// The directory.
        path: PathBuf,
    },
}
