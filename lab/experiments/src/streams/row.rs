//! The rows of the experiment `ace`.

use std::collections::BTreeMap;

use clap::ValueEnum;

use super::paper::{self, LastColumns};
use crate::Row;
use crate::options::{Common, named};

/// lab/README.md says what each field means.
const FIELDS: &str = "part scenario file network_mbit server_cpu_left client_cpu_left policy seconds over_best over_oracle \
    over_best_of_papers gain_over_worst gain_over_worst_without_bzip2 phases ace_2005_gain groupwire_gain \
    bytes_in bytes_wire share stopped picked trained paper_kb paper_seconds paper_over_best paper_gain_over_worst \
    paper_gain_over_worst_without_bzip2 paper_gain origin rate_after behind_best series fit connections \
    kib_per_connection kib_per_idle_connection";

/// A part of the experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// The files (Table 1).
    Files,
    /// Ratio against ratio and time against ratio of blocks of the training files (Figure 1,
    /// section 4.2).
    Fits,
    /// Links from slow to fast and loads, scenarios and steps, in simulated time with measured
    /// costs.
    Simulated,
    /// Real bytes over emulated links beside real load (Tables 2 and 3, Figures 2 and 3).
    Real,
    /// Real links and loads that change while a stream flows (Figure 4).
    Scenarios,
    /// A real link that opens or closes a hundredfold.
    Steps,
    /// Programs that know nothing of Groupwire, with `groupwire tunnel` between them.
    Tunnel,
    /// The paper's conditions and policies alone, and Groupwire: files, fits, real and scenarios.
    Paper,
}

named!(Part);

/// A row that has only names yet.
pub(super) fn row(
    (part, common): (Part, &Common),
    scenario: impl ToString,
    file: &str,
    policy: &str,
) -> Row {
    Row::new("ace", FIELDS, common)
        .with("part", part)
        .with("scenario", scenario.to_string())
        .with("file", file)
        .with("policy", policy)
        .with("bytes_in", 0)
        .with("stopped", false)
}

/// Whether the policy of this name always makes the same choice.
pub(super) fn is_static(policy: &str) -> bool {
    !["groupwire", "ace-2005", "zstd-adapt", "oracle", "bound"].contains(&policy)
}

/// The figures of static policies in these rows.
fn of_static<'a>(rows: &'a [Row], field: &'a str) -> impl Iterator<Item = f64> + 'a {
    let rows = rows.iter().filter(|row| row.is("verified") && is_static(row.text("policy")));
    rows.filter_map(move |row| row.number(field))
}

/// Adds to each row by how much its time exceeds that of the best static policy. The rows are of
/// the same file and scenario.
pub(super) fn compare_times(rows: &mut [Row]) {
    let best = of_static(rows, "seconds").min_by(f64::total_cmp);
    for row in &mut *rows {
        let over = row.number("seconds").zip(best).map(|(seconds, best)| seconds / best - 1.0);
        row.set("over_best", over);
    }
    let times = seconds_by_policy(rows);
    for row in rows {
        let Some(seconds) = row.number("seconds") else { continue };
        let columns = LastColumns::of(seconds, |name| times.get(name).copied());
        row.set("over_best_of_papers", columns.over_best);
        row.set("gain_over_worst", columns.gain_over_worst);
        row.set("gain_over_worst_without_bzip2", columns.gain_without_bzip2);
    }
}

/// Adds to each row of a scenario what the two policies that choose gain over it, and what the
/// paper's gained.
pub(super) fn compare_gains(rows: &mut [Row]) {
    let times = seconds_by_policy(rows);
    for row in rows {
        let policy = row.text("policy").to_owned();
        row.set("paper_gain", paper::gain(&policy));
        for (field, chooser) in [("ace_2005_gain", "ace-2005"), ("groupwire_gain", "groupwire")] {
            let both = times.get(chooser).zip(row.number("seconds"));
            let gain = both.filter(|_| policy != chooser).map(|(ours, its)| 1.0 - ours / its);
            row.set(field, gain);
        }
    }
}

/// The time of each policy whose row was not stopped by a failure.
fn seconds_by_policy(rows: &[Row]) -> BTreeMap<String, f64> {
    let rows = rows.iter().filter(|row| row.is("verified"));
    rows.filter_map(|row| Some((row.text("policy").to_owned(), row.number("seconds")?))).collect()
}

/// Adds to each row by how much its rate after a step is below that of the best static policy.
pub(super) fn compare_rates(rows: &mut [Row]) {
    let best = of_static(rows, "rate_after").max_by(f64::total_cmp);
    for row in rows {
        let behind = row.number("rate_after").zip(best).map(|(rate, best)| 1.0 - rate / best);
        row.set("behind_best", behind);
    }
}
