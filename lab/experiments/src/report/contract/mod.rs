//! The experiment `contract`: what channels were promised and got, and what that cost.

#[cfg(test)]
mod tests;

use super::chart::{Axis, Chart, Level, Look, Marks, Name, Series};
use super::page::{Block, Section};
use super::saved::Row;
use super::table::{Cell, Table, Tone};
use super::text;

const LEAD: &str = "People draw, drag, type and point in a room, in simulated time: the whole system from application to \
    application, on paths that lose. A message is missed if it never comes or comes after its deadline, and no newer \
    one of its key does. Bytes are those on the wire, with the headers of IP, UDP or TCP and QUIC, and acknowledgements.";

/// The share of JSON's bytes that Groupwire is to stay within, by field.
const GOALS: [(&str, &str, f64); 2] = [
    ("plain_wire_bytes_per_message", "JSON, a message per datagram", 0.35),
    ("aggregated_wire_bytes_per_message", "JSON, a tick per datagram", 0.60),
];

pub(super) fn section(rows: &[Row]) -> Section {
    let mut groups: Vec<(String, Vec<&Row>)> = Vec::new();
    for row in rows.iter().filter(|row| !row.is_wrong()) {
        let name = format!("{}, {}", row.text("setup"), row.text("loss"));
        // Rooms and transports of a setup stand side by side.
        let name = match row.text("setup") {
            "rooms" | "lossy" => row.text("setup").to_owned(),
            _ => name,
        };
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((name, vec![row])),
        }
    }
    let panels = groups.into_iter().map(|(name, rows)| (name, panel(&rows))).collect();
    let blocks = vec![Block::Text(LEAD.to_owned()), Block::Choice { what: "Setup", panels }];
    Section { name: "contract", title: "Do channels get what they were promised?", blocks }
}

fn panel(rows: &[&Row]) -> Vec<Block> {
    let whole: Vec<&Row> =
        rows.iter().copied().filter(|row| row.text("ablation") == "none").collect();
    let mut blocks = vec![Block::Table(promises(&whole))];
    let ablations = ablations(rows);
    if !ablations.rows.is_empty() {
        blocks.push(Block::Table(ablations));
    }
    blocks.push(Block::Charts(vec![misses(rows)]));
    blocks
}

/// A line per channel, or per class of receivers.
fn promises(rows: &[&Row]) -> Table {
    let mut table = Table::numbers("what was promised and what came of it");
    let head = ["channel", "deadline", "may miss", "missed", "99 % within", "bytes a message"];
    table.head = head.map(str::to_owned).to_vec();
    for row in rows {
        let number = |name| row.number(name).unwrap_or_default();
        let verdict = match (row.is("met"), row.is("feasible")) {
            (true, _) => ("met", Tone::Good),
            (false, true) => ("missed", Tone::Bad),
            (false, false) => ("cannot be met", Tone::Plain),
        };
        let p99 = row.number("p99_ms").map_or("-".to_owned(), |ms| format!("{ms:.0} ms"));
        table.rows.push(vec![
            Cell::new(&name(row)),
            Cell::new(&format!("{:.0} ms", number("deadline_ms"))),
            Cell::new(&percent(number("target"))),
            Cell::new(&percent(number("mer"))).with(verdict.0, verdict.1),
            Cell::new(&p99),
            Cell::new(&text::number(number("wire_bytes_per_message"))),
        ]);
    }
    table
}

/// A line per ablation, beside JSON.
fn ablations(rows: &[&Row]) -> Table {
    let mut table = Table::numbers("bytes on the wire, and what they are of JSON's");
    let head = [
        "left out",
        "bytes a message",
        "a message per datagram",
        "a tick per datagram",
        "a repeat",
    ];
    table.head = head.map(str::to_owned).to_vec();
    let mut seen = Vec::new();
    for row in rows.iter().filter(|row| row.number(GOALS[0].0).is_some()) {
        let ablation = row.text("ablation");
        if seen.contains(&ablation) {
            continue;
        }
        seen.push(ablation);
        let bytes = row.number("wire_bytes_per_message").unwrap_or_default();
        let mut cells = vec![Cell::new(ablation), Cell::new(&text::number(bytes))];
        for (field, _, goal) in GOALS {
            let share = bytes / row.number(field).unwrap_or(f64::INFINITY);
            let cell = Cell::new(&percent(share));
            let tone = if share <= goal { Tone::Good } else { Tone::Bad };
            cells.push(match ablation {
                "none" => cell.with(&format!("at most {} are asked for", percent(goal)), tone),
                _ => cell,
            });
        }
        let repeat = row.number("repeat_bytes");
        cells.push(Cell::new(&repeat.map_or("-".to_owned(), |bytes| format!("{bytes:.1} bytes"))));
        table.rows.push(cells);
    }
    table
}

/// A bar per channel, for each ablation.
fn misses(rows: &[&Row]) -> Chart {
    let mut names: Vec<String> = Vec::new();
    let mut series: Vec<Series> = Vec::new();
    for row in rows {
        let name = name(row);
        let place = names.iter().position(|known| *known == name).unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        });
        let ablation = row.text("ablation");
        let point = (place as f64, 100.0 * row.number("mer").unwrap_or_default());
        match series.iter_mut().find(|one| one.name == ablation) {
            Some(one) => one.points.push(point),
            None => {
                let look = match ablation {
                    "none" => Look::ACCENT,
                    _ => Look::number(series.len()),
                };
                let points = vec![point];
                series.push(Series { name: ablation.to_owned(), look, shown: true, points });
            }
        }
    }
    Chart {
        title: "Messages missed".to_owned(),
        caption: "By what was left out of Groupwire.".to_owned(),
        x: Axis::linear("channel", ""),
        y: Axis::linear("missed", "%"),
        marks: Marks::Bars(names.into_iter().map(|name| Name { name, strong: false }).collect()),
        series,
        level: single_target(rows),
    }
}

/// What may be missed, if that is the same for all.
fn single_target(rows: &[&Row]) -> Option<Level> {
    let target = rows.first()?.number("target")?;
    let is_same = rows.iter().all(|row| row.number("target") == Some(target));
    is_same.then(|| Level { name: "may be missed".to_owned(), value: 100.0 * target })
}

fn name(row: &Row) -> String {
    match row.text("setup") {
        "rooms" => {
            let people = row.number("participants").unwrap_or_default();
            format!("{people} people: {}", row.text("class"))
        }
        "lossy" => row.text("transport").to_owned(),
        _ => row.text("channel").to_owned(),
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
