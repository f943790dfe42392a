//! Rows as tables, grouped by system, with missed goals.

use groupwire_lab::fanout::Row;

use super::super::common::{Heading, quick};

/// Prints each row, with a heading at the start of a group.
#[derive(Default)]
pub(super) struct Table {
    heading: Heading,
}

impl Table {
    pub(super) fn print(&mut self, row: &Row) {
        let Row { system, tick_ms, senders, rate, .. } = row;
        let heading = format!(
            "{system}, tick {tick_ms} ms: {senders} senders at {rate} per second{}{}",
            row.version.as_ref().map(|version| format!(", {version}")).unwrap_or_default(),
            quick(row.quick)
        );
        self.heading.print(heading, || {
            format!(
                "{:>8}{:>11}{:>9}{:>9}{:>13}{:>10}{:>10}{:>9}{:>9}{:>10}",
                "clients",
                "delivered",
                "p50 ms",
                "p99 ms",
                "µs/delivery",
                "socket B",
                "wire B",
                "KB idle",
                "server",
                "generator"
            )
        });
        println!(
            "{:>8}{:>9.2} %{}{}{}{}{}{}{}{}{}",
            row.clients,
            100.0 * row.delivered,
            number(row.p50_ms, 9, 2),
            number(row.p99_ms, 9, 2),
            number(row.server_us_per_delivery, 13, 2),
            number(row.socket_bytes_per_delivery, 10, 2),
            number(row.wire_bytes_per_delivery, 10, 2),
            number(row.kb_per_connection, 9, 1),
            number(row.server_cpu, 9, 2),
            number(row.generator_cpu, 10, 2),
            remark(row),
        );
    }
}

fn number(value: Option<f64>, width: usize, digits: usize) -> String {
    match value {
        Some(value) => format!("{value:>width$.digits$}"),
        None => format!("{:>width$}", "?"),
    }
}

/// The goals that were missed, and the failure if there was one.
fn remark(row: &Row) -> String {
    let is_missed =
        |(field, most): &(&&str, &f64)| row.value(field).is_some_and(|value| value > **most);
    let missed = row.goals.iter().filter(is_missed);
    let missed = missed.map(|(field, most)| format!("{field} over {most}"));
    let mut remarks: Vec<String> = missed.collect();
    if remarks.is_empty() && !row.goals.is_empty() {
        remarks.push("goals met".to_owned());
    }
    remarks.extend(row.failure.clone());
    if remarks.is_empty() { String::new() } else { format!("  {}", remarks.join(", ")) }
}
