//! What happened last, in plain words, for the message of a test that fails.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::time::Duration;

/// Older lines are dropped.
const MOST_LINES: usize = 2000;

#[derive(Default)]
pub(crate) struct Log {
    lines: VecDeque<(Duration, String)>,
}

impl Log {
    pub(crate) fn add(&mut self, now: Duration, text: String) {
        if self.lines.len() == MOST_LINES {
            self.lines.pop_front();
        }
        self.lines.push_back((now, text));
    }

    /// The last lines, each with its time in milliseconds.
    pub(crate) fn text(&self, lines: usize) -> String {
        let mut text = String::new();
        for (at, line) in self.lines.range(self.lines.len().saturating_sub(lines)..) {
            let ms = at.as_secs_f64() * 1000.0;
            let _ = writeln!(text, "{ms:>9.1} ms  {line}");
        }
        text
    }
}
