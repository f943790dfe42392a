//! Links that open or close a hundredfold.

use super::super::chart::{Axis, Chart, Marks, Series};
use super::super::page::Block;
use super::super::saved::Row;
use super::super::table::{Cell, Table, Tone};
use super::super::text;
use super::{OURS, different, look};

/// Of a series, in seconds, and how many of them make a point.
const STEP: f64 = 0.1;
const TOGETHER: usize = 5;
/// What is to be reached after two seconds.
const NEAR: f64 = 0.10;
/// Policies that are shown at first.
const SHOWN: [&str; 5] = [OURS, "never", "zstd-3", "zstd-adapt", "ace-2005"];

pub(super) fn blocks(rows: &[&Row]) -> Vec<Block> {
    let rows: Vec<&Row> =
        rows.iter().copied().filter(|row| row.text("scenario").starts_with("step-")).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::Heading("A link that opens or closes a hundredfold".to_owned())];
    let kinds = different(rows.iter().map(|row| row.text("part")));
    let mut panels = Vec::new();
    for kind in kinds {
        for scenario in different(rows.iter().map(|row| row.text("scenario"))) {
            let here: Vec<&Row> = rows
                .iter()
                .copied()
                .filter(|row| row.text("part") == kind && row.text("scenario") == scenario)
                .collect();
            let how = if kind == "steps" { "real" } else { "simulated" };
            let content = vec![Block::Table(after(&here)), Block::Charts(vec![chart(&here)])];
            panels.push((format!("{scenario}, {how}"), content));
        }
    }
    blocks.push(Block::Choice { what: "Step", panels });
    blocks
}

fn after(rows: &[&Row]) -> Table {
    let mut table = Table::numbers("from two seconds after the step on");
    table.head = ["policy", "MB/s", "behind the best static"].map(str::to_owned).to_vec();
    for row in rows {
        let Some(rate) = row.number("rate_after") else { continue };
        let policy = row.text("policy");
        let behind = row.number("behind_best").unwrap_or_default();
        let cell = Cell::new(&text::signed_percent(behind));
        let cell = match policy {
            OURS if behind <= NEAR => cell.with("at most 10 % are asked for", Tone::Good),
            OURS => cell.with("at most 10 % are asked for", Tone::Bad),
            _ => cell,
        };
        table.rows.push(vec![Cell::new(policy), Cell::new(&text::number(rate)), cell]);
    }
    table
}

fn chart(rows: &[&Row]) -> Chart {
    let series = rows.iter().enumerate().map(|(number, row)| {
        let octets = row.numbers("series");
        let point = |(at, octets): (usize, &[f64])| {
            let mean = octets.iter().sum::<f64>() / octets.len() as f64;
            ((at * TOGETHER) as f64 * STEP, mean / STEP / 1e6)
        };
        let points = octets.chunks(TOGETHER).enumerate().map(point).collect();
        let policy = row.text("policy");
        let shown = SHOWN.contains(&policy);
        Series { name: policy.to_owned(), look: look(policy, number), shown, points }
    });
    Chart {
        title: "What arrives, unpacked".to_owned(),
        caption: "Half seconds. The link changes after five seconds.".to_owned(),
        x: Axis::linear("time", "s"),
        y: Axis::log("rate", "MB/s"),
        marks: Marks::Lines,
        series: series.collect(),
        level: None,
    }
}
