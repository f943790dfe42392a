//! A table at the bottom of the terminal that is redrawn in place. The lines above it stay.

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tracing_subscriber::fmt::MakeWriter;

use crate::log::{Format, Stderr};

/// Rows and columns of a terminal that does not report its size: those of a VT100.
const DEFAULT_SIZE: (usize, usize) = (24, 80);

/// The terminal. The log is written through this type too, so that the table is erased before a log
/// line.
#[derive(Debug)]
pub(super) struct Screen {
    is_terminal: bool,
    /// The number of rows of the table that is drawn.
    drawn: Mutex<usize>,
    log: Stderr,
}

impl Screen {
    /// `log_format`: the format of the log.
    pub(super) fn new(log_format: Format) -> Self {
        Screen {
            is_terminal: io::stdout().is_terminal(),
            drawn: Mutex::new(0),
            log: Stderr::new(log_format),
        }
    }

    /// Whether standard output is a terminal, on which a table can be redrawn.
    pub(super) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Prints `lines`, which stay on the terminal, and draws `table` below them.
    pub(super) fn draw(&self, lines: &[String], table: &[String]) -> io::Result<()> {
        let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
        if !self.is_terminal {
            // The log does not wait for whoever reads these lines.
            return print(&lines);
        }
        let mut drawn = self.drawn();
        let mut text = erasure(*drawn) + &lines;
        let (rows, columns) = self.size();
        let hidden = table.len().saturating_sub(rows.saturating_sub(2).max(1));
        let mut shown: Vec<_> =
            table[..table.len() - hidden].iter().map(|row| cut(row, columns)).collect();
        if hidden > 0 {
            shown.push(cut(&format!("and {hidden} more"), columns));
        }
        *drawn = shown.len();
        shown.iter().for_each(|row| text += &format!("{row}\n"));
        print(&text)
    }

    fn size(&self) -> (usize, usize) {
        let size = terminal_size::terminal_size();
        size.map_or(DEFAULT_SIZE, |(width, height)| (usize::from(height.0), usize::from(width.0)))
    }

    fn drawn(&self) -> MutexGuard<'_, usize> {
        self.drawn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// The escape sequence that moves up by `rows` and erases everything below.
fn erasure(rows: usize) -> String {
    if rows == 0 { String::new() } else { format!("\x1b[{rows}A\x1b[J") }
}

/// Truncates a row to the width of the terminal. A longer row would be wrapped and not be erased.
fn cut(row: &str, columns: usize) -> String {
    match row.char_indices().nth(columns) {
        Some(_) => row.chars().take(columns.saturating_sub(1)).chain(['…']).collect(),
        None => row.to_owned(),
    }
}

/// Writes log messages to standard error after erasing the table.
#[derive(Debug)]
pub(super) struct Log(Arc<Screen>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut drawn = self.0.drawn();
        if *drawn > 0 {
            // The table is drawn again at the next update.
            print(&erasure(*drawn))?;
            *drawn = 0;
        }
        (&self.0.log).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        (&self.0.log).flush()
    }
}

/// Makes the writers of the log for tracing.
#[derive(Debug)]
pub(super) struct LogTo(pub(super) Arc<Screen>);

impl<'a> MakeWriter<'a> for LogTo {
    type Writer = Log;

    fn make_writer(&'a self) -> Log {
        Log(Arc::clone(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_rows_are_truncated() {
        assert_eq!(cut("route", 5), "route");
        assert_eq!(cut("routes", 5), "rout…");
        assert_eq!((erasure(0), erasure(3)), (String::new(), "\x1b[3A\x1b[J".to_owned()));
    }
}
