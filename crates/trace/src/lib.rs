//! Recorded sessions, read from files.
//!
//! | file | what |
//! | --- | --- |
//! | `NAME.bin`, `NAME.bin.gz` | records of a little-endian u32 length and that many bytes, a message each |
//! | `NAME.tsv` or `events.tsv`, also `.gz`, beside it | when each was sent, by whom, of what kind |
//! | `NAME.csv`, `NAME.csv.gz` | raw pointer events: time in ms, button, state, x, y |
//!
//! A table has a row per record: time in ms, sender, kind, and more columns that are ignored; a
//! first row of column names is optional and then says which column is which. Where a column is
//! called *channel*, its value is the kind. `NAME.tsv` has to fit its records; `events.tsv`, which
//! may belong to another file, is used if it does.
//!
//! Records without a table come from one sender at [`DEFAULT_RATE`] messages per second.

mod error;
mod file;
mod pointer;
mod records;
mod table;

use std::path::Path;
use std::time::Duration;

pub use error::Error;
pub use file::read as read_file;

/// Messages per second of records without times: what a moving pointer makes.
pub const DEFAULT_RATE: u32 = 25;

/// What a trace may hold, so that no file can exhaust memory.
pub mod limits {
    /// Bytes of a file, unpacked: some hundred times the longest session we have.
    pub const MAX_FILE: usize = 256 << 20;
    /// Bytes of one message: more than any server takes.
    pub const MAX_MESSAGE: usize = 1 << 20;
    /// Messages of a trace.
    pub const MAX_MESSAGES: usize = 4_000_000;
    /// Different kinds of messages.
    pub const MAX_KINDS: usize = 1024;
    /// The time of a message: a century in milliseconds, for clocks that count from 1970.
    pub const MAX_TIME_MS: f64 = 100.0 * 366.0 * 24.0 * 3_600_000.0;
}

/// A recorded session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    /// The messages in the order of their times; the first one is at zero.
    pub messages: Vec<TraceMessage>,
    /// The names of the kinds of messages.
    pub kinds: Vec<String>,
    /// Whether the times were recorded. If not, messages are evenly spaced.
    pub timed: bool,
}

/// A message of a recorded session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceMessage {
    /// The time at which it was sent, since the first message.
    pub at: Duration,
    /// The participant that sent it, a number from 0 on.
    pub sender: u32,
    /// Which of [`Trace::kinds`] it is.
    pub kind: usize,
    /// The message.
    pub bytes: Box<[u8]>,
}

impl Trace {
    /// Reads a trace and the table beside it, if there is one.
    ///
    /// ```no_run
    /// let trace = groupwire_trace::Trace::read("samples/whiteboard.bin".as_ref())?;
    /// println!("{} messages in {:?}", trace.messages.len(), trace.duration());
    /// # Ok::<(), groupwire_trace::Error>(())
    /// ```
    ///
    /// # Errors
    /// A file that cannot be read, is none of the above, or breaks its format or a [limit](limits).
    pub fn read(path: &Path) -> Result<Self, Error> {
        let Some((stem, kind)) = file::kind(path) else {
            return Err(Error::Extension { path: path.to_owned() });
        };
        let bytes = file::read(path)?;
        let mut trace = match kind {
            file::Kind::Pointer => pointer::parse(path, &bytes)?,
            file::Kind::Records => {
                let records = records::parse(path, &bytes)?;
                match table::beside(path, stem, records.len())? {
                    Some(table) => table.join(records),
                    None => evenly_spaced(records),
                }
            }
        };
        if trace.messages.is_empty() {
            return Err(Error::Empty { path: path.to_owned() });
        }
        trace.start_at_zero();
        Ok(trace)
    }

    /// The time from the first message to the last.
    pub fn duration(&self) -> Duration {
        self.messages.last().map_or(Duration::ZERO, |last| last.at)
    }

    /// Bytes of all messages.
    pub fn bytes(&self) -> usize {
        self.messages.iter().map(|message| message.bytes.len()).sum()
    }

    /// The senders, in the order of their first messages.
    pub fn senders(&self) -> Vec<u32> {
        let mut seen = std::collections::HashSet::new();
        let senders = self.messages.iter().map(|message| message.sender);
        senders.filter(|sender| seen.insert(*sender)).collect()
    }

    /// Sorts by time, keeping the order of what happened at once.
    fn start_at_zero(&mut self) {
        self.messages.sort_by_key(|message| message.at);
        let start = self.messages.first().map_or(Duration::ZERO, |first| first.at);
        self.messages.iter_mut().for_each(|message| message.at -= start);
    }
}

fn evenly_spaced(records: Vec<Box<[u8]>>) -> Trace {
    let interval = Duration::from_secs(1) / DEFAULT_RATE;
    let at = std::iter::successors(Some(Duration::ZERO), |at| Some(*at + interval));
    let messages =
        at.zip(records).map(|(at, bytes)| TraceMessage { at, sender: 0, kind: 0, bytes }).collect();
    Trace { messages, kinds: vec!["message".to_owned()], timed: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_table_messages_are_evenly_spaced() {
        let records = (0..3).map(|n: u8| vec![n].into_boxed_slice()).collect();
        let trace = evenly_spaced(records);
        assert_eq!(trace.duration(), Duration::from_millis(80));
        assert_eq!(trace.senders(), [0]);
        assert_eq!(trace.bytes(), 3);
    }

    #[test]
    fn time_starts_at_zero_and_never_goes_back() {
        let message = |ms, byte: u8| TraceMessage {
            at: Duration::from_millis(ms),
            sender: 1,
            kind: 0,
            bytes: vec![byte].into(),
        };
        let mut trace = Trace {
            messages: vec![message(9, 0), message(7, 1), message(9, 2)],
            kinds: vec![],
            timed: true,
        };
        trace.start_at_zero();
        let found: Vec<_> =
            trace.messages.iter().map(|one| (one.at.as_millis(), one.bytes[0])).collect();
        assert_eq!(found, [(0, 1), (2, 0), (2, 2)]);
    }
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
