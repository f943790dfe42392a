//! Rows as tables, grouped by transport and network, and a comparison with Table 1 of the paper.

use groupwire_lab::web::{Direction, Measure, Row};

use super::super::common::{Heading, quick};

/// The round trips of the networks lan, man and wan in the paper (Methods), in ms.
const PINGS: [(&str, f64); 3] = [("lan", 0.0), ("man", 96.0), ("wan", 48.0)];

/// Prints each row, with a heading at the start of a group.
#[derive(Default)]
pub(super) struct Table {
    heading: Heading,
    /// The rows that the paper has, too.
    papers: Vec<Row>,
}

impl Table {
    pub(super) fn print(&mut self, row: &Row) {
        let heading =
            format!("{}, {}, {}{}", row.transport, row.network, row.browser, quick(row.quick));
        self.heading.print(heading, || format!("{:40}{:>12}  {:12}", "measure", "value", "unit"));
        println!("{:40}{:>12.1}  {:12}{}", what(row), row.value, row.unit, remark(row));
        if row.paper.is_some() && matches!(row.measure, Measure::Latency | Measure::Jitter) {
            self.papers.push(row.clone());
        }
    }

    /// Prints Table 1, if any of its values was measured.
    pub(super) fn finish(&mut self) {
        if self.papers.is_empty() {
            return;
        }
        println!(
            "\nTable 1 of the paper beside ours. Its networks were not ours: compare what is added to the path.\n"
        );
        println!(
            "{:12}{:9}{:14}{:>9}{:>9}{:>10}{:>12}{:>12}",
            "transport",
            "network",
            "participants",
            "measure",
            "ours",
            "paper",
            "ours adds",
            "paper adds"
        );
        for row in &self.papers {
            let network = row.network.to_string();
            let ping = PINGS.iter().find(|one| one.0 == network).map_or(0.0, |one| one.1);
            let paper = row.paper.unwrap_or(f64::NAN);
            let added = match row.adds_ms {
                Some(ours) => format!("{ours:>12.1}{:>12.1}", paper - ping),
                None => String::new(),
            };
            println!(
                "{:12}{:9}{:<14}{:>9}{:>9.1}{:>10.1}{added}",
                row.transport,
                network,
                row.participants,
                row.measure.to_string(),
                row.value,
                paper
            );
        }
    }
}

fn what(row: &Row) -> String {
    let mut words = vec![row.measure.to_string()];
    words.extend(row.direction.map(|direction| {
        let way = if direction == Direction::Up { "up" } else { "down" };
        way.to_owned()
    }));
    words.extend(row.size.map(|size| format!("{size} B")));
    words.extend(row.app.map(|app| format!("{app}, {} participants", row.participants)));
    if row.app.is_some() {
        words.push(format!("tick {}", row.tick_ms));
    }
    words.join(" ")
}

fn remark(row: &Row) -> String {
    let mut remarks = Vec::new();
    let mut add =
        |value: Option<f64>, form: &dyn Fn(f64) -> String| remarks.extend(value.map(form));
    add(row.deviation, &|value| format!("± {value:.1}"));
    add(row.p99_ms, &|value| format!("p99 {value:.1}"));
    add(row.adds_ms, &|value| format!("adds {value:.1}"));
    add(row.arrived, &|value| format!("{:.1} % arrived", 100.0 * value));
    add(row.transactions_ms, &|value| format!("transactions {value:.1}"));
    add(row.wire_bytes, &|value| format!("{value:.0} on the wire"));
    add(row.joined_ms, &|value| format!("joined in {value:.0} ms"));
    add(row.messages_per_second, &|value| format!("{value:.0} messages per second"));
    add(row.paper, &|value| format!("paper {value}"));
    remarks.extend(row.failure.clone());
    remarks.join(", ")
}
