//! Tables 2 and 3 and Figures 2 and 3: real links, beside the paper's figures.

use super::super::chart::{Axis, Chart, Marks, Name, Series};
use super::super::page::Block;
use super::super::saved::Row;
use super::super::table::{Cell, Table, Tone};
use super::super::text;
use super::{NEVER, different, is_static, look};

/// Of a table: what is within that of the best static policy is good.
const NEAR: f64 = 0.05;

pub(super) fn blocks(rows: &[&Row]) -> Vec<Block> {
    if rows.is_empty() {
        return Vec::new();
    }
    let scenarios = different(rows.iter().map(|row| row.text("scenario")));
    let mut blocks =
        vec![Block::Heading("Real links beside real load (the paper's Tables 2 and 3)".to_owned())];
    for (title, is_ours) in [("fast network", true), ("slow network", false)] {
        let here: Vec<&str> =
            scenarios.iter().copied().filter(|one| one.starts_with("fast") == is_ours).collect();
        if !here.is_empty() {
            blocks.push(Block::Table(table(title, rows, &here)));
        }
    }
    let panels = scenarios.into_iter().map(|scenario| {
        let here =
            rows.iter().copied().filter(|row| row.text("scenario") == scenario).collect::<Vec<_>>();
        (scenario.to_owned(), vec![Block::Charts(vec![files(&here)])])
    });
    blocks.push(Block::Choice {
        what: "Files (the paper's Figures 2 and 3)",
        panels: panels.collect(),
    });
    blocks
}

/// A line per scenario, a column per policy. The paper sent 37 MB, so what counts is the time over that of never.
fn table(title: &str, rows: &[&Row], scenarios: &[&str]) -> Table {
    let policies = different(rows.iter().map(|row| row.text("policy")));
    let mut table =
        Table::numbers(&format!("{title}: seconds; below, times never, and the same in the paper"));
    table.head = vec!["network/server/client".to_owned()];
    table.head.extend(policies.iter().map(|policy| (*policy).to_owned()));
    for scenario in scenarios {
        let row = |policy: &str| {
            let is_it = |row: &&&Row| {
                row.text("scenario") == *scenario
                    && row.text("file") == "all"
                    && row.text("policy") == policy
            };
            rows.iter().find(is_it)
        };
        let never = row(NEVER);
        let mut cells = vec![first(scenario, never)];
        cells.extend(
            policies
                .iter()
                .map(|policy| row(policy).map_or(Cell::new("–"), |row| cell(row, never))),
        );
        table.rows.push(cells);
    }
    table
}

fn first(scenario: &str, row: Option<&&Row>) -> Cell {
    let Some(row) = row else { return Cell::new(scenario) };
    let left = |name: &str| text::tick((1000.0 * row.number(name).unwrap_or(1.0)).round() / 10.0);
    let note = format!(
        "{} Mbit/s, {} % and {} % left, {} KB",
        text::number(row.number("network_mbit").unwrap_or_default()),
        left("server_cpu_left"),
        left("client_cpu_left"),
        text::number((row.number("bytes_in").unwrap_or_default() / 1024.0).round())
    );
    Cell::new(scenario).with(&note, Tone::Plain)
}

fn cell(row: &Row, never: Option<&&Row>) -> Cell {
    let Some(seconds) = row.number("seconds") else { return Cell::new("–") };
    let star = if row.is("stopped") { "*" } else { "" };
    let cell = Cell::new(&format!("{}{star}", text::number(seconds)));
    let over = |name: &str| Some(row.number(name)? / never?.number(name)?);
    let mut note =
        over("seconds").map_or(String::new(), |times| format!("×{}", text::number(times)));
    if let Some(times) = over("paper_seconds") {
        note.push_str(&format!(" (paper ×{})", text::number(times)));
    }
    let tone = match row.number("over_best") {
        Some(over) if !is_static(row.text("policy")) => match over <= NEAR {
            true => Tone::Good,
            false => Tone::Bad,
        },
        _ => Tone::Plain,
    };
    cell.with(&note, tone)
}

fn files(rows: &[&Row]) -> Chart {
    let names = different(rows.iter().map(|row| row.text("file")).filter(|file| *file != "all"));
    let policies = different(rows.iter().map(|row| row.text("policy")));
    let series = policies.iter().enumerate().map(|(number, &policy)| {
        let value = |(at, name): (usize, &&str)| {
            let is_it = |row: &&&Row| row.text("file") == *name && row.text("policy") == policy;
            Some((at as f64, rows.iter().find(is_it)?.number("seconds")?))
        };
        let points = names.iter().enumerate().filter_map(value).collect();
        let shown = policy != "bzip2" && policy != "zstd-19";
        Series { name: policy.to_owned(), look: look(policy, number), shown, points }
    });
    Chart {
        title: "Time of each file".to_owned(),
        caption: "A file begins when the one before is complete.".to_owned(),
        x: Axis::linear("file", ""),
        y: Axis::linear("time", "s"),
        marks: Marks::Bars(
            names.iter().map(|name| Name { name: (*name).to_owned(), strong: false }).collect(),
        ),
        series: series.collect(),
        level: None,
    }
}
