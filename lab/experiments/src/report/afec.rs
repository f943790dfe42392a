//! The experiment `afec`: messages missed against what that costs, by scheme, on each channel.

use std::collections::BTreeMap;

use super::chart::{Axis, Chart, Level, Look, Marks, Series};
use super::page::{Block, Section};
use super::saved::Row;
use super::table::{Cell, Table};
use super::text;

const SCHEMES: [&str; 7] =
    ["udp", "fec", "afec-2012", "tcp", "best-static", "best-static, 4 B", "groupwire, 4 B"];
const LEAD: &str = "Each scheme on each channel: how many messages miss their deadline, and how many bytes more than \
    plain UDP it sends. Left and below the line of the target is best. The part grid only.";

/// Rows of one path and target.
type Grid<'a> = BTreeMap<(u64, u64, u64), Vec<&'a Row>>;

pub(super) fn section(rows: &[Row]) -> Section {
    let mut grids = Grid::new();
    for row in
        rows.iter().filter(|row| !row.is_wrong() && row.text("part") == "grid" && !row.is("real"))
    {
        let of =
            |name: &str, scale: f64| (row.number(name).unwrap_or(0.0).abs() * scale).round() as u64;
        let key = (of("rtt_ms", 1.0), of("deadline_ms", 1.0), of("target", 1000.0));
        grids.entry(key).or_default().push(row);
    }
    let panels = grids.into_iter().map(|((round_trip, deadline, target), rows)| {
        let target = target as f64 / 10.0;
        let name = format!(
            "{round_trip} ms round trip, {deadline} ms deadline, target {} %",
            text::tick(target)
        );
        (name, vec![Block::Table(overview(&rows)), Block::Charts(charts(&rows, target))])
    });
    let panels: Vec<_> = panels.collect();
    let mut blocks = vec![Block::Text(LEAD.to_owned())];
    match panels.is_empty() {
        true => blocks.push(Block::Text("There are no rows of that part.".to_owned())),
        false => blocks.push(Block::Choice { what: "Path", panels }),
    }
    Section { name: "afec", title: "Which messages miss their deadline?", blocks }
}

/// The scheme, and what a repeat is counted as if that is not its length.
fn scheme(row: &Row) -> String {
    match row.number("repeat_bytes") {
        Some(bytes) => format!("{}, {bytes} B", row.text("scheme")),
        None => row.text("scheme").to_owned(),
    }
}

/// Means over the channels on which the target can be met.
fn overview(rows: &[&Row]) -> Table {
    let mut schemes: BTreeMap<String, Vec<&Row>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.is("feasible")) {
        schemes.entry(scheme(row)).or_default().push(row);
    }
    let mut table =
        Table::numbers("means over the channels on which a static code meets the target");
    table.head = ["scheme", "channels", "missed", "windows within target", "overhead"]
        .map(str::to_owned)
        .to_vec();
    for (name, rows) in schemes {
        let mean = |field: &str| {
            let values: Vec<f64> = rows.iter().filter_map(|row| row.number(field)).collect();
            match values.is_empty() {
                true => Cell::new("–"),
                false => {
                    let mean = values.iter().sum::<f64>() / values.len() as f64;
                    Cell::new(&format!("{} %", text::number(100.0 * mean)))
                }
            }
        };
        let cells = [mean("mer"), mean("windows_met"), mean("overhead")];
        let mut row = vec![Cell::new(&name), Cell::new(&rows.len().to_string())];
        row.extend(cells);
        table.rows.push(row);
    }
    table
}

fn charts(rows: &[&Row], target: f64) -> Vec<Chart> {
    let mut channels: Vec<&str> = Vec::new();
    for row in rows {
        if !channels.contains(&row.text("channel")) {
            channels.push(row.text("channel"));
        }
    }
    let chart = |channel: &str| {
        let here: Vec<&Row> =
            rows.iter().copied().filter(|row| row.text("channel") == channel).collect();
        let never = here.iter().all(|row| !row.is("feasible"));
        Chart {
            title: channel.to_owned(),
            caption: if never {
                "No static code meets the target.".to_owned()
            } else {
                String::new()
            },
            x: Axis::linear("overhead over UDP", "%"),
            y: Axis::linear("missed", "%"),
            marks: Marks::Lines,
            series: series(&here),
            level: Some(Level { name: format!("target: {} %", text::tick(target)), value: target }),
        }
    };
    channels.into_iter().map(chart).collect()
}

/// Codes fec-2 to fec-7 are one line. TCP, which misses most of all where packets get lost, is not shown at first.
fn series(rows: &[&Row]) -> Vec<Series> {
    let mut points: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    for row in rows {
        if let (Some(overhead), Some(missed)) = (row.number("overhead"), row.number("mer")) {
            let name = scheme(row);
            let name = if name.starts_with("fec-") { "fec-2 to fec-7".to_owned() } else { name };
            points.entry(name).or_default().push((100.0 * overhead, 100.0 * missed));
        }
    }
    let mut series: Vec<Series> = points
        .into_iter()
        .map(|(name, mut points)| {
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            let known = SCHEMES
                .iter()
                .position(|&known| known == name.split("-2 to").next().unwrap_or(&name));
            let look = match name.as_str() {
                "groupwire" => Look::ACCENT,
                _ => Look::number(known.unwrap_or(SCHEMES.len())),
            };
            Series { shown: name != "tcp", name, look, points }
        })
        .collect();
    series.sort_by_key(|series| series.name != "groupwire");
    series
}
