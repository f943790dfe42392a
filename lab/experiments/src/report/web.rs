//! The experiment `web`: latency, rates and overheads by transport and network.

use std::collections::{BTreeMap, BTreeSet};

use super::chart::{Axis, Chart, Look, Marks, Name, Series};
use super::page::{Block, Section};
use super::saved::Row;

const TRANSPORTS: [&str; 7] =
    ["webtransport", "websocket", "multipart", "iframe", "longpoll", "poll", "socket"];
const LEAD: &str = "Messages go from one browser to another through the server, over each transport, through an \
    emulated network.";

pub(super) fn section(rows: &[Row]) -> Section {
    let mut networks: Vec<(String, Vec<&Row>)> = Vec::new();
    for row in rows.iter().filter(|row| !row.is_wrong()) {
        let network = row.text("network");
        match networks.iter_mut().find(|(name, _)| name == network) {
            Some((_, rows)) => rows.push(row),
            None => networks.push((network.to_owned(), vec![row])),
        }
    }
    let panels = networks.into_iter().map(|(name, rows)| (name, panel(&rows))).collect();
    let blocks = vec![Block::Text(LEAD.to_owned()), Block::Choice { what: "Network", panels }];
    Section { name: "web", title: "How fast do messages get from browser to browser?", blocks }
}

fn panel(rows: &[&Row]) -> Vec<Block> {
    let times = ["latency", "jitter"].into_iter().flat_map(|measure| times(rows, measure));
    let mut charts: Vec<Chart> = times.collect();
    charts.extend(receive_rates(rows));
    let bars = ["overhead_connection", "overhead_message"];
    let mut blocks = vec![Block::Charts(charts)];
    let bars: Vec<Chart> = bars.into_iter().flat_map(|measure| overheads(rows, measure)).collect();
    if !bars.is_empty() {
        blocks.push(Block::Charts(bars));
    }
    blocks
}

/// By the number of participants, for each application and tick.
fn times(rows: &[&Row], measure: &str) -> Vec<Chart> {
    let here: Vec<&Row> =
        rows.iter().copied().filter(|row| row.text("measure") == measure).collect();
    let tick = |row: &Row| row.number("tick_ms").unwrap_or(0.0).max(0.0) as u64;
    let kinds: BTreeSet<(&str, u64)> =
        here.iter().map(|row| (row.text("app"), tick(row))).collect();
    let chart = |(app, ms): (&str, u64)| {
        let of = here.iter().copied().filter(|row| row.text("app") == app && tick(row) == ms);
        Chart {
            title: format!("{measure}: {app}, tick {ms} ms"),
            caption: String::new(),
            x: Axis::linear("participants", "").at_values(),
            y: Axis::linear(measure, "ms"),
            marks: Marks::Lines,
            series: series(of, "participants"),
            level: None,
        }
    };
    kinds.into_iter().map(chart).collect()
}

fn receive_rates(rows: &[&Row]) -> Option<Chart> {
    let rows = rows.iter().copied().filter(|row| row.text("measure") == "receive_rate");
    let series = series(rows, "size");
    (!series.is_empty()).then(|| Chart {
        title: "Rate at which a participant receives".to_owned(),
        caption: "Distinct arrivals of a value that changes all the time.".to_owned(),
        x: Axis::log("size of messages", "bytes"),
        y: Axis::log("arrivals", "per second"),
        marks: Marks::Lines,
        series,
        level: None,
    })
}

fn series<'a>(rows: impl Iterator<Item = &'a Row>, x: &str) -> Vec<Series> {
    let mut points: BTreeMap<(usize, &str), Vec<(f64, f64)>> = BTreeMap::new();
    for row in rows {
        let transport = row.text("transport");
        let known = TRANSPORTS.iter().position(|&known| known == transport);
        if let (Some(at), Some(value)) = (row.number(x), row.number("value")) {
            points
                .entry((known.unwrap_or(TRANSPORTS.len()), transport))
                .or_default()
                .push((at, value));
        }
    }
    let series = points.into_iter().map(|((number, name), mut points)| {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Series { name: name.to_owned(), look: Look::number(number), shown: true, points }
    });
    series.collect()
}

/// A bar per transport, for each direction.
fn overheads(rows: &[&Row], measure: &str) -> Vec<Chart> {
    let here: Vec<&Row> =
        rows.iter().copied().filter(|row| row.text("measure") == measure).collect();
    let directions: BTreeSet<&str> = here.iter().map(|row| row.text("direction")).collect();
    let chart = |direction: &str| {
        let of: Vec<&Row> =
            here.iter().copied().filter(|row| row.text("direction") == direction).collect();
        let names =
            of.iter().map(|row| Name { name: row.text("transport").to_owned(), strong: false });
        let what = if measure == "overhead_message" { "a message" } else { "joining" };
        let points = |field: &str| {
            let values = of.iter().enumerate();
            values.filter_map(|(at, row)| Some((at as f64, row.number(field)?))).collect::<Vec<_>>()
        };
        let mut series = vec![Series {
            name: "here".to_owned(),
            look: Look::ACCENT,
            shown: true,
            points: points("value"),
        }];
        if !points("paper").is_empty() {
            series.push(Series {
                name: "in the paper".to_owned(),
                look: Look::number(1),
                shown: true,
                points: points("paper"),
            });
        }
        let way = if direction.is_empty() { String::new() } else { format!(", {direction}") };
        Chart {
            title: format!("What {what} costs{way}"),
            caption: "Beyond the message itself, above TCP or UDP.".to_owned(),
            x: Axis::linear("transport", ""),
            y: Axis::linear("overhead", "bytes"),
            marks: Marks::Bars(names.collect()),
            series,
            level: None,
        }
    };
    directions.into_iter().map(chart).collect()
}
