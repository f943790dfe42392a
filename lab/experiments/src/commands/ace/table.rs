//! Rows as tables: a group for each scenario and file, with bars.

use groupwire_lab::ace::{Part, Row};

use super::super::common::{Heading, quick};

/// The length of the longest bar in characters.
const BAR: f64 = 24.0;
/// The characters for the heights of a bar, from zero to the maximum.
const HEIGHTS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The number of columns of a series.
const COLUMNS: usize = 50;

/// Prints a group when it is complete.
#[derive(Debug, Default)]
pub(super) struct Table {
    group: Vec<Row>,
    heading: Heading,
}

impl Table {
    pub(super) fn take(&mut self, row: &Row) {
        if self.group.first().is_some_and(|first| !is_same(first, row)) {
            self.finish();
        }
        self.group.push(row.clone());
    }

    /// Prints the last group.
    pub(super) fn finish(&mut self) {
        let group = std::mem::take(&mut self.group);
        match group.first().map(|row| row.part) {
            Some(Part::Files) => self.files(&group),
            Some(Part::Fits) => self.fits(&group),
            Some(Part::Steps) => self.steps(&group),
            Some(_) => self.transfers(&group),
            None => {}
        }
    }

    fn files(&mut self, group: &[Row]) {
        for row in group {
            let title = || format!("{:14}{:>12}  {}", "file", "KB", "what it is");
            self.heading.print(format!("{} files", row.scenario), title);
            let origin = row.origin.as_deref().unwrap_or_default();
            println!("{:14}{:>12.2}  {origin}", row.file, row.bytes_in as f64 / 1024.0);
        }
    }

    fn fits(&mut self, group: &[Row]) {
        for row in group {
            let Some(fit) = &row.fit else { continue };
            let title =
                || format!("{:12}{:20}{:>12}{:>12}{:>8}", "x", "y", "intercept", "slope", "R²");
            self.heading.print("lines through blocks of the training files".to_owned(), title);
            println!(
                "{:12}{:20}{:>12.4}{:>12.4}{:>8.3}",
                fit.x, fit.y, fit.intercept, fit.slope, fit.r2
            );
        }
    }

    fn steps(&mut self, group: &[Row]) {
        for row in group {
            let mbit = row.network_mbit.unwrap_or_default();
            let heading = format!("{} to {mbit} Mbit/s{}", row.scenario, quick(row.quick));
            let title =
                || format!("{:16}{:>12}{:>12}  {}", "policy", "MB/s after", "behind", "as it went");
            self.heading.print(heading, title);
            println!(
                "{:16}{:>12}{:>12}  {}{}",
                row.policy,
                row.rate_after.map_or("–".to_owned(), |rate| format!("{rate:.2}")),
                percent(row.behind_best),
                heights(row.series.as_deref().unwrap_or_default()),
                remark(row)
            );
        }
    }

    fn transfers(&mut self, group: &[Row]) {
        let mut files: Vec<&str> = Vec::new();
        for row in group {
            if !files.contains(&row.file.as_str()) {
                files.push(&row.file);
            }
        }
        for file in files {
            let rows = group.iter().filter(|row| row.file == file);
            self.transfer(&rows.collect::<Vec<_>>());
        }
    }

    /// Of one file.
    fn transfer(&mut self, group: &[&Row]) {
        let most = group.iter().filter(|row| !row.stopped).filter_map(|row| row.seconds);
        let most = most.fold(0.0, f64::max);
        for row in group {
            let title = || {
                format!(
                    "{:16}{:>11}{:>11}{:>11}{:>9}{:>9}",
                    "policy", "s", "over best", "over oracle", "ratio", "paper s"
                )
            };
            self.heading.print(heading(row), title);
            let seconds = row.seconds.unwrap_or_default();
            let bar = (BAR * (seconds / most).min(1.0)).round() as usize;
            let ratio = row.bytes_wire.map(|wire| wire as f64 / row.bytes_in.max(1) as f64);
            println!(
                "{:16}{:>11}{:>11}{:>11}{:>9}{:>9}  {}{}",
                row.policy,
                row.seconds.map_or("–".to_owned(), |seconds| format!("{seconds:.3}")),
                percent(row.over_best),
                percent(row.over_oracle),
                ratio.map_or(String::new(), |ratio| format!("{ratio:.3}")),
                row.paper_seconds.map_or(String::new(), |seconds| format!("{seconds:.1}")),
                "█".repeat(bar),
                remark(row)
            );
        }
    }
}

fn is_same(one: &Row, other: &Row) -> bool {
    let place = |row: &Row| (row.part, row.scenario.clone(), row.network_mbit.map(f64::to_bits));
    place(one) == place(other)
}

fn heading(row: &Row) -> String {
    let mut text = row.scenario.clone();
    if let Some(mbit) = row.network_mbit {
        text.push_str(&format!(": {} Mbit/s", figure(mbit)));
    }
    for (end, left) in [("server", row.server_cpu_left), ("client", row.client_cpu_left)] {
        if let Some(left) = left {
            text.push_str(&format!(", {end} {} % left", figure(100.0 * left)));
        }
    }
    text.push_str(&format!("; {}, {} KB{}", row.file, row.bytes_in / 1024, quick(row.quick)));
    text
}

/// Formats a number with three significant digits.
fn figure(value: f64) -> String {
    match value {
        _ if value >= 99.5 => format!("{value:.0}"),
        _ if value >= 9.95 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

fn percent(share: Option<f64>) -> String {
    share.map_or(String::new(), |share| format!("{:+.1} %", 100.0 * share))
}

/// Draws a series by the square roots of its values, so that small values are visible beside large ones.
fn heights(series: &[u64]) -> String {
    let most = series.iter().copied().max().unwrap_or(0).max(1) as f64;
    let columns = series.chunks(series.len().div_ceil(COLUMNS).max(1));
    let column = |values: &[u64]| {
        let mean = values.iter().sum::<u64>() as f64 / values.len() as f64;
        HEIGHTS[(8.0 * (mean / most).sqrt()).ceil().min(8.0) as usize]
    };
    columns.map(column).collect()
}

fn remark(row: &Row) -> String {
    let stopped = row.stopped.then(|| "stopped, and reckoned up".to_owned());
    let remarks: Vec<String> = stopped.into_iter().chain(row.failure.clone()).collect();
    if remarks.is_empty() { String::new() } else { format!("  {}", remarks.join(", ")) }
}
