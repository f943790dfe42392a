//! The experiment `gmc`: bytes per message by technique and trace.

use std::collections::BTreeMap;

use super::chart::{Axis, Chart, Look, Marks, Name, Series};
use super::page::{Block, Section};
use super::saved::Row;
use super::table::{Cell, Table};
use super::text;

const OURS: &str = "groupwire";
const LEAD: &str = "Messages of each trace go one way, packed by each technique. Less is better; headers are not \
    counted. The formats whose names begin with hand- are written for these messages.";

/// Bytes per message by technique.
type Sizes = BTreeMap<String, f64>;

pub(super) fn section(rows: &[Row]) -> Section {
    let mut conditions: Vec<(String, BTreeMap<String, Sizes>)> = Vec::new();
    for row in rows.iter().filter(|row| !row.is_wrong()) {
        let Some(bytes) = row.number("bytes_per_message") else { continue };
        let name = condition(row);
        let at = conditions.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
            conditions.push((name, BTreeMap::new()));
            conditions.len() - 1
        });
        let traces = conditions[at].1.entry(row.text("trace").to_owned()).or_default();
        traces.insert(row.text("technique").to_owned(), bytes);
    }
    let panels = conditions.into_iter().map(|(name, traces)| {
        let charts = traces.iter().map(|(trace, sizes)| chart(trace, sizes)).collect();
        (name, vec![Block::Table(overview(&traces)), Block::Charts(charts)])
    });
    let blocks = vec![
        Block::Text(LEAD.to_owned()),
        Block::Choice { what: "Mode", panels: panels.collect() },
    ];
    Section { name: "gmc", title: "How small do messages get?", blocks }
}

fn condition(row: &Row) -> String {
    let mut name = row.text("mode").to_owned();
    if let Some(messages) = row.number("ack_delay") {
        name.push_str(&format!(", acknowledged {messages} messages later"));
    }
    if let Some(ms) = row.number("ack_ms") {
        name.push_str(&format!(", acknowledged {ms} ms later"));
    }
    if let Some(loss) = row.number("loss") {
        name.push_str(&format!(", {} % lost", text::tick(100.0 * loss)));
    }
    name
}

/// Ours beside the best of the others.
fn overview(traces: &BTreeMap<String, Sizes>) -> Table {
    let mut table = Table::numbers("bytes per message");
    table.head = ["trace", OURS, "best that knows no more", "best of all others"]
        .map(str::to_owned)
        .to_vec();
    for (trace, sizes) in traces {
        let best = |takes: &dyn Fn(&str) -> bool| {
            let others = sizes.iter().filter(|(name, _)| *name != OURS && takes(name));
            let best = others.min_by(|a, b| a.1.total_cmp(b.1));
            Cell::new(&best.map_or("–".to_owned(), |(name, &bytes)| {
                format!("{name} {}", text::number(bytes))
            }))
        };
        let knows_no_more = |name: &str| {
            !name.starts_with("hand-") && !name.ends_with("-dict") && name != "asn1-per"
        };
        table.rows.push(vec![
            Cell::new(trace),
            Cell::new(&sizes.get(OURS).map_or("–".to_owned(), |&bytes| text::number(bytes))),
            best(&knows_no_more),
            best(&|_| true),
        ]);
    }
    table
}

fn chart(trace: &str, sizes: &Sizes) -> Chart {
    let mut sorted: Vec<(&String, f64)> =
        sizes.iter().map(|(name, &bytes)| (name, bytes)).collect();
    sorted.sort_by(|a, b| a.1.total_cmp(&b.1));
    let name = |(name, _): &(&String, f64)| Name { name: (*name).clone(), strong: *name == OURS };
    let points = sorted.iter().enumerate().map(|(row, (_, bytes))| (row as f64, *bytes));
    Chart {
        title: trace.to_owned(),
        caption: String::new(),
        x: Axis::linear("technique", ""),
        y: Axis::linear("per message", "bytes"),
        marks: Marks::Bars(sorted.iter().map(name).collect()),
        series: vec![Series {
            name: "bytes per message".to_owned(),
            look: Look::ACCENT,
            shown: true,
            points: points.collect(),
        }],
        level: None,
    }
}
