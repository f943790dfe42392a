//! Time series, as in Figures 6 and 10 of the AFEC paper.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use super::run::{Log, WINDOW};
use crate::Row;
use crate::options::Common;

/// The messages of a series in a row: as many as Figure 10 shows, the last of the run.
const SHOWN: usize = 1000;

/// lab/README.md says what each field means.
const FIELDS: &str = "part scheme judged channel rtt_ms deadline_ms link_kbit target hops \
    time_s latency_ms mer_1000 code_from codes";

/// A message of a series.
struct Point<'a> {
    sent: Duration,
    latency: Option<Duration>,
    /// The share of the last 1000 messages that missed.
    mer: f64,
    /// The place of the code in force among those of the run, if the scheme has codes.
    code: Option<usize>,
    log: &'a Log,
}

/// A row with the last messages of a run, which has the conditions of `row`.
pub(super) fn row(row: &Row, log: &Log, common: &Common) -> Row {
    let points: Vec<Point<'_>> = points(log).collect();
    let shown = &points[points.len().saturating_sub(SHOWN)..];
    let start = shown.first().map_or(Duration::ZERO, |point| point.sent);
    let changes = (0..).zip(shown).filter(|(at, point)| {
        *at == 0 || shown.get(at - 1).is_none_or(|before| before.code != point.code)
    });
    let (code_from, codes): (Vec<usize>, Vec<String>) =
        changes.filter_map(|(at, point)| Some((at, point.code_name()?))).unzip();
    let all = |of: &dyn Fn(&Point<'_>) -> Option<f64>| -> Vec<Option<f64>> {
        shown.iter().map(of).collect()
    };
    let mut series = Row::new("afec-series", FIELDS, common);
    for field in [
        "part",
        "scheme",
        "judged",
        "channel",
        "rtt_ms",
        "deadline_ms",
        "link_kbit",
        "target",
        "hops",
    ] {
        series.set(field, row.get(field));
    }
    series
        .with("time_s", all(&|point| Some(rounded((point.sent - start).as_secs_f64(), 1e3))))
        .with("latency_ms", all(&|point| Some(rounded(point.latency?.as_secs_f64() * 1e3, 10.0))))
        .with("mer_1000", all(&|point| Some(rounded(point.mer, 1e4))))
        .with("code_from", code_from)
        .with("codes", codes)
}

/// Writes a CSV file with a line per message: when it was sent, its latency (empty if it never
/// arrived), the share of the last 1000 messages that missed, and the code in force, if it is
/// known.
pub(super) fn write(directory: &Path, row: &Row, log: &Log) -> io::Result<()> {
    let kbit = row.number("link_kbit").unwrap_or_default();
    let name = format!("{}-{}-{kbit}kbit.csv", row.text("scheme"), row.text("channel"));
    let mut file = BufWriter::new(File::create(directory.join(name))?);
    writeln!(file, "time_s,latency_ms,mer_1000,code")?;
    for point in points(log) {
        let latency = point.latency;
        let ms =
            latency.map_or(String::new(), |latency| format!("{:.2}", latency.as_secs_f64() * 1e3));
        let code = point.code_name().unwrap_or_default();
        writeln!(file, "{:.3},{ms},{:.4},\"{code}\"", point.sent.as_secs_f64(), point.mer)?;
    }
    file.flush()
}

/// All messages of a run.
fn points(log: &Log) -> impl Iterator<Item = Point<'_>> {
    let mut window: VecDeque<bool> = VecDeque::with_capacity(WINDOW);
    let mut missed = 0u32;
    let mut code = None;
    log.messages.iter().map(move |(sent, latency)| {
        if window.len() == WINDOW && window.pop_front() == Some(true) {
            missed -= 1;
        }
        let is_missed = log.missed(*latency);
        window.push_back(is_missed);
        missed += u32::from(is_missed);
        let next = code.map_or(0, |code| code + 1);
        let begun = log.codes[next..].iter().take_while(|(from, _)| from <= sent).count();
        code = (next + begun).checked_sub(1);
        let mer = f64::from(missed) / window.len() as f64;
        Point { sent: *sent, latency: *latency, mer, code, log }
    })
}

impl Point<'_> {
    fn code_name(&self) -> Option<String> {
        Some(super::code_name(&self.log.codes[self.code?].1))
    }
}

/// A number with as many digits as a figure can show: fewer digits are fewer bytes.
fn rounded(number: f64, scale: f64) -> f64 {
    (number * scale).round() / scale
}
