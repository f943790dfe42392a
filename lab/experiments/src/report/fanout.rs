//! The experiment `fanout`: systems side by side, by the number of clients.

use super::chart::{Axis, Chart, Look, Marks, Series};
use super::page::{Block, Section};
use super::saved::Row;
use super::table::{Cell, Table, Tone};
use super::text;

const LEAD: &str = "One room in which few send and everybody receives, on one machine with the clients. Batched systems \
    and those with a tick collect messages before they send them.";

/// Charts by clients: field, title, unit, whether on a logarithmic scale.
const CHARTS: [(&str, &str, &str, bool); 4] = [
    ("server_us_per_delivery", "Server time of a delivery", "µs", true),
    ("p99_ms", "What 99 of 100 deliveries take at most", "ms", true),
    ("wire_bytes_per_delivery", "On the wire for a delivery, one way", "bytes", true),
    ("delivered", "Share delivered", "", false),
];

/// Columns of the table: field, heading.
const COLUMNS: [(&str, &str); 8] = [
    ("delivered", "delivered"),
    ("p50_ms", "p50 ms"),
    ("p99_ms", "p99 ms"),
    ("server_us_per_delivery", "µs per delivery"),
    ("socket_bytes_per_delivery", "socket bytes"),
    ("wire_bytes_per_delivery", "wire bytes"),
    ("kb_per_connection", "KB per idle connection"),
    ("generator_cpu", "generator's CPU"),
];

pub(super) fn section(rows: &[Row]) -> Section {
    let rows: Vec<&Row> = rows.iter().filter(|row| !row.is_wrong()).collect();
    let mut systems: Vec<String> = Vec::new();
    for name in rows.iter().map(|row| title(row)) {
        if !systems.contains(&name) {
            systems.push(name);
        }
    }
    let chart = |(field, title_, unit, is_log): (&str, &str, &str, bool)| Chart {
        title: title_.to_owned(),
        caption: String::new(),
        x: Axis::log("clients", "").at_values(),
        y: if is_log { Axis::log(title_, unit) } else { Axis::linear(title_, unit) },
        marks: Marks::Lines,
        series: systems.iter().enumerate().map(|at| series(at, &rows, field)).collect(),
        level: None,
    };
    let mut blocks =
        vec![Block::Text(LEAD.to_owned()), Block::Charts(CHARTS.into_iter().map(chart).collect())];
    let mut sizes: Vec<u64> = rows.iter().map(|row| clients(row)).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let panel = |size: u64| {
        let here: Vec<&Row> = rows.iter().copied().filter(|row| clients(row) == size).collect();
        (text::tick(size as f64), vec![Block::Table(table(&here))])
    };
    blocks.push(Block::Choice { what: "Clients", panels: sizes.into_iter().map(panel).collect() });
    Section { name: "fanout", title: "What does a delivery cost when everybody receives?", blocks }
}

fn title(row: &Row) -> String {
    let tick = row.number("tick_ms").unwrap_or_default();
    format!("{}, {} ms", row.text("system"), text::tick(tick))
}

fn clients(row: &Row) -> u64 {
    row.number("clients").unwrap_or_default().max(0.0) as u64
}

fn series((number, name): (usize, &String), rows: &[&Row], field: &str) -> Series {
    let of = rows.iter().filter(|row| title(row) == *name);
    let mut points: Vec<(f64, f64)> =
        of.filter_map(|row| Some((row.number("clients")?, row.number(field)?))).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    // What users of Groupwire get stands out.
    let look = match name.as_str() {
        "groupwire-websocket, 40 ms" => Look::ACCENT,
        _ => Look::number(number),
    };
    Series { name: name.clone(), look, shown: true, points }
}

fn table(rows: &[&Row]) -> Table {
    let mut table = Table::numbers("below: what is aimed at, and missed or met");
    table.head = vec!["system".to_owned()];
    table.head.extend(COLUMNS.iter().map(|(_, heading)| (*heading).to_owned()));
    table.rows = rows.iter().map(|row| line(row)).collect();
    table
}

fn line(row: &Row) -> Vec<Cell> {
    let name = Cell::new(&title(row)).with(row.text("version"), Tone::Plain);
    let goals = row.object("goals");
    let cell = |(field, _): &(&str, &str)| {
        let Some(value) = row.number(field) else { return Cell::new("–") };
        let cell = Cell::new(&text::number(value));
        match goals.as_ref().and_then(|goals| goals.number(field)) {
            Some(most) => {
                let tone = if value <= most { Tone::Good } else { Tone::Bad };
                cell.with(&format!("≤ {}", text::tick(most)), tone)
            }
            None => cell,
        }
    };
    std::iter::once(name).chain(COLUMNS.iter().map(cell)).collect()
}
