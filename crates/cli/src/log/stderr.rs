//! Standard error as the place of a log: a reader that hangs loses lines, and stops nothing.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

#[cfg(unix)]
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::json;
use tracing_subscriber::fmt::MakeWriter;

use super::Format;

/// How long a line waits for a reader that does not keep up. The first line that waited in vain is
/// lost, and with it all others until there is space again.
const PATIENCE: Duration = Duration::from_millis(100);
/// The bytes for which a pipe that says that it has space has it, on every Unix.
const PIECE: usize = 512;

/// Standard error. A pipe whose reader hangs would block the thread that writes, and one after the
/// other all threads of the program.
#[derive(Debug)]
pub(crate) struct Stderr {
    format: Format,
    lost: Mutex<Lost>,
}

/// The lines that were not written since the last one that was.
#[derive(Debug, Default)]
struct Lost {
    lines: u64,
    /// True if the first part of the first one was written.
    is_cut: bool,
}

impl<'a> MakeWriter<'a> for Stderr {
    type Writer = &'a Self;

    fn make_writer(&'a self) -> Self::Writer {
        self
    }
}

impl Write for &Stderr {
    /// Takes a whole line, and reports it as written if it is lost.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        if lost.lines > 0 && has_space(Duration::ZERO) {
            let lost = std::mem::take(&mut *lost);
            write_pieces(self.notice(&lost).as_bytes())?;
        }
        let written = if lost.lines > 0 { 0 } else { write_pieces(line)? };
        if written < line.len() {
            lost.lines += 1;
            lost.is_cut |= written > 0;
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stderr {
    pub(crate) fn new(format: Format) -> Self {
        Self { format, lost: Mutex::default() }
    }

    fn notice(&self, lost: &Lost) -> String {
        let text =
            format!("{} lines of the log are missing here: nobody read standard error", lost.lines);
        let line = match self.format {
            Format::Text => format!(" WARN {text}"),
            Format::Json => json!({ "level": "WARN", "fields": { "message": text } }).to_string(),
        };
        format!("{}{line}\n", if lost.is_cut { "\n" } else { "" })
    }
}

/// Writes to standard error while it has space; returns the number of bytes.
fn write_pieces(bytes: &[u8]) -> io::Result<usize> {
    let mut written = 0;
    for piece in bytes.chunks(PIECE) {
        if !has_space(PATIENCE) {
            break;
        }
        io::stderr().write_all(piece)?;
        written += piece.len();
    }
    Ok(written)
}

/// True if standard error takes [`PIECE`] bytes without waiting, or fails at once. A terminal that
/// is stopped and a full pipe do not.
#[cfg(unix)]
fn has_space(patience: Duration) -> bool {
    let stderr = io::stderr();
    let mut polled = [PollFd::new(&stderr, PollFlags::OUT)];
    let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(patience.subsec_nanos()) };
    // An interrupted wait counts as one in vain.
    poll(&mut polled, Some(&timeout)).is_ok_and(|ready| ready > 0)
}

/// Elsewhere nothing tells, and a log that nobody reads blocks.
#[cfg(not(unix))]
fn has_space(_patience: Duration) -> bool {
    true
}
