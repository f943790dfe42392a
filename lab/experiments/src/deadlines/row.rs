//! The rows of the experiment `afec`.

use std::time::Duration;

use clap::ValueEnum;

use super::cell::Cell;
use super::run::{Figures, Log};
use crate::Row;
use crate::options::{Common, named};

/// lab/README.md says what each field means.
const FIELDS: &str = "part real congestion scheme channel rtt_ms deadline_ms link_kbit target repeat_bytes computed hops feasible \
    mer never windows windows_met overhead bytes_per_message redundant_messages latency_mean_ms latency_p99_ms \
    converge_s settled told_s told_share code tried cpu_us cpu_mean_us memory_bytes messages seeds";

/// A part of the experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// Every scheme on every channel with steady loss.
    Grid,
    /// Every scheme on channels whose loss begins or ends.
    Steps,
    /// Modem links.
    Narrow,
    /// The conditions of the AFEC paper's Figures 5 to 10.
    Paper,
}

named!(Part);

/// The row of one run. `plain_bytes`: bytes per message of plain UDP.
pub(super) fn row(
    (part, scheme): (Part, String),
    cell: &Cell,
    (log, figures): (&Log, Figures),
    plain_bytes: f64,
    common: &Common,
) -> Row {
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let told = log.told();
    Row::new("afec", FIELDS, common)
        .with("part", part)
        .with("real", false)
        .with("scheme", scheme)
        .with("channel", cell.loss.to_string())
        .with("rtt_ms", ms(cell.round_trip))
        .with("deadline_ms", ms(cell.deadline))
        .with("link_kbit", cell.link_kbit.unwrap_or(0.0))
        .with("target", cell.target)
        .with("computed", false)
        .with("hops", cell.hops())
        .with("mer", figures.mer)
        .with("never", figures.never)
        .with("windows", figures.windows)
        .with("windows_met", figures.windows_met)
        .with("overhead", figures.bytes_per_message / plain_bytes - 1.0)
        .with("bytes_per_message", figures.bytes_per_message)
        .with("redundant_messages", figures.repeats_per_message)
        .with("latency_mean_ms", figures.latency_mean)
        .with("latency_p99_ms", figures.latency_p99)
        .with("told_s", told.after)
        .with("told_share", told.share)
        .with("code", log.code.as_ref().map(super::code_name))
        .with("messages", log.messages.len())
        .with("seeds", 1)
        .failed(log.failure.as_ref())
}
