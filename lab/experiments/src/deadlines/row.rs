//! The rows of the experiment `afec`.

use std::time::Duration;

use clap::ValueEnum;

use super::cell::Cell;
use super::run::{Figures, Log};
use crate::Row;
use crate::options::{Common, named};

/// lab/README.md says what each field means.
const FIELDS: &str = "part real congestion scheme judged channel rtt_ms deadline_ms link_kbit target message_bytes repeat_bytes \
    computed hops feasible mer mer_min mer_max never never_min never_max windows windows_met overhead bytes_per_message \
    redundant_messages latency_mean_ms latency_mean_min_ms latency_mean_max_ms latency_p99_ms code_changes code_set_min \
    code_set_max converge_s settled told_s told_share code tried cpu_us cpu_mean_us memory_bytes messages seeds";

/// A part of the experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// Every scheme on every channel with steady loss.
    Grid,
    /// Every scheme on channels whose loss begins or ends.
    Steps,
    /// Modem links.
    Narrow,
    /// The conditions of the AFEC paper's Figures 2, 3 and 5 to 10.
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
        .with("judged", cell.judged)
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
        .with("code_changes", figures.code_sets.map(|sets| sets.changes))
        .with("code_set_min", figures.code_sets.map(|sets| sets.fewest))
        .with("code_set_max", figures.code_sets.map(|sets| sets.most))
        .with("told_s", told.after)
        .with("told_share", told.share)
        .with("code", log.code.as_ref().map(super::code_name))
        .with("messages", log.messages.len())
        .with("seeds", 1)
        .failed(log.failure.as_ref())
}

/// The row of one scheme on one path with several seeds, and their spread. `plain_bytes`: bytes per
/// message of plain UDP. The first `skip` messages of each seed do not count.
pub(super) fn row_of_seeds(
    scheme: (Part, String),
    cell: &Cell,
    (logs, skip): (Vec<Log>, usize),
    plain_bytes: f64,
    common: &Common,
) -> Row {
    let seeds = logs.len();
    let messages = logs.first().map_or(0, |log| log.messages.len());
    let each: Vec<Figures> = logs.iter().map(|log| log.figures(skip, None)).collect();
    let told: Vec<_> = logs.iter().map(Log::told).collect();
    let log = Log::together(logs, skip);
    let figures = log.figures(skip * seeds, None);
    let mut row = row(scheme, cell, (&log, figures), plain_bytes, common);
    let spread = |of: fn(&Figures) -> f64| {
        let least = each.iter().map(of).reduce(f64::min);
        (least, each.iter().map(of).reduce(f64::max))
    };
    let [mer, never, latency] = [
        spread(|figures| figures.mer),
        spread(|figures| figures.never),
        spread(|figures| figures.latency_mean),
    ];
    for (field, value) in [
        ("mer_min", mer.0),
        ("mer_max", mer.1),
        ("never_min", never.0),
        ("never_max", never.1),
        ("latency_mean_min_ms", latency.0),
        ("latency_mean_max_ms", latency.1),
    ] {
        row.set(field, value);
    }
    let sets = || each.iter().filter_map(|figures| figures.code_sets);
    let changes = sets().map(|sets| sets.changes).reduce(|a, b| a + b);
    row.set("code_changes", changes.map(|sum| sum / seeds as f64));
    row.set("code_set_min", sets().map(|sets| sets.fewest).min());
    row.set("code_set_max", sets().map(|sets| sets.most).max());
    let longest = told.iter().map(|told| told.after).reduce(|a, b| Some(a?.max(b?)));
    row.set("told_s", longest.flatten());
    row.set("told_share", told.iter().map(|told| told.share).sum::<f64>() / seeds.max(1) as f64);
    row.with("messages", messages).with("seeds", seeds)
}
