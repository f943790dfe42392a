//! Time series, as in Figures 6 and 10 of the AFEC paper.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::run::{Log, WINDOW};
use crate::Row;

/// Writes a CSV file with a line per message: when it was sent, its latency (empty if it never
/// arrived), the share of the last 1000 messages that missed, and the code in force, if it is
/// known.
pub(super) fn write(directory: &Path, row: &Row, log: &Log) -> io::Result<()> {
    let kbit = row.number("link_kbit").unwrap_or_default();
    let name = format!("{}-{}-{kbit}kbit.csv", row.text("scheme"), row.text("channel"));
    let mut file = BufWriter::new(File::create(directory.join(name))?);
    writeln!(file, "time_s,latency_ms,mer_1000,code")?;
    let mut window: VecDeque<bool> = VecDeque::with_capacity(WINDOW);
    let mut missed = 0;
    let mut codes = log.codes.iter().peekable();
    let mut code = String::new();
    for (sent, latency) in &log.messages {
        if window.len() == WINDOW && window.pop_front() == Some(true) {
            missed -= 1;
        }
        let is_missed = log.missed(*latency);
        window.push_back(is_missed);
        missed += usize::from(is_missed);
        while let Some((_, next)) = codes.next_if(|(from, _)| from <= sent) {
            code = super::code_name(next);
        }
        let ms =
            latency.map_or(String::new(), |latency| format!("{:.2}", latency.as_secs_f64() * 1e3));
        let mer = missed as f64 / window.len() as f64;
        writeln!(file, "{:.3},{ms},{mer:.4},\"{code}\"", sent.as_secs_f64())?;
    }
    file.flush()
}
