//! Rows as tables, by setup, with targets beside the measured values.

use groupwire_lab::contract::Row;

use crate::commands::common::{Heading, quick};

/// The goals: wire bytes as a share of those of JSON with one message per datagram, and with one datagram per tick.
const GOALS: (f64, f64) = (0.35, 0.60);

/// Prints each row, with a heading at the start of a run.
#[derive(Default)]
pub(super) struct Table {
    heading: Heading,
}

impl Table {
    pub(super) fn print(&mut self, row: &Row) {
        self.heading.print(heading(row), || {
            format!(
                "{:22}{:>9}{:>10}{:>10}{:>9}{:>8}{:>9}{:>9}{:>8}{:>8}{:>10}",
                "channel",
                "deadline",
                "may miss",
                "missed",
                "never",
                "p50 ms",
                "p99 ms",
                "least/s",
                "sent/s",
                "came/s",
                "contract"
            )
        });
        let p99 = row.p99_ms.map_or("-".to_owned(), |ms| format!("{ms:.0}"));
        let met = match (row.met, row.feasible) {
            (true, _) => "met",
            (false, true) => "MISSED",
            (false, false) => "impossible",
        };
        println!(
            "{:22}{:>6.0} ms{:>8.1} %{:>8.2} %{:>7.2} %{:>8.0}{p99:>9}{:>9.0}{:>8.1}{:>8.1}{met:>10}{}",
            row.class.as_ref().filter(|_| row.raised.is_none()).map_or(row.channel, |class| class),
            row.deadline_ms,
            100.0 * row.target,
            100.0 * row.mer,
            100.0 * row.never,
            row.p50_ms,
            row.rate_min,
            row.rate_offered,
            row.rate,
            remark(row),
        );
    }
}

fn heading(row: &Row) -> String {
    let mut text = format!(
        "{}: {} participants, {}, {}, {:.0} ms there and back, tick {:.0} ms",
        row.setup, row.participants, row.transport, row.loss, row.rtt_ms, row.tick_ms
    );
    if row.ablation != groupwire_lab::contract::Ablation::None {
        text.push_str(&format!(", {}", row.ablation));
    }
    if row.browser_acks {
        text.push_str(", browsers' acknowledgements");
    }
    text.push_str(quick(row.quick));
    if row.class.is_none() {
        text.push_str(&format!(
            "\n{:.1} bytes on the wire per message",
            row.wire_bytes_per_message
        ));
    }
    let of = |text: &mut String, other: Option<f64>, what: &str, goal: f64| {
        if let Some(bytes) = other {
            let share = 100.0 * row.wire_bytes_per_message / bytes;
            text.push_str(&format!(
                ", {share:.0} % of {bytes:.1} for JSON {what} (goal: {:.0} %)",
                100.0 * goal
            ));
        }
    };
    of(&mut text, row.plain_wire_bytes_per_message, "each in a datagram", GOALS.0);
    of(&mut text, row.aggregated_wire_bytes_per_message, "in a datagram per tick", GOALS.1);
    if let Some(bytes) = row.repeat_bytes {
        text.push_str(&format!(", {bytes:.1} per repeat (goal: 4)"));
    }
    if let Some(raised) = row.raised {
        let percent = 100.0 * raised;
        text.push_str(&format!("\n{percent:+.1} % bytes for the other three (goal: at most 5 %)"));
    }
    text
}

fn remark(row: &Row) -> String {
    let bytes = row
        .class
        .as_ref()
        .filter(|_| row.raised.is_none())
        .map(|_| format!("{:.1} bytes a message", row.wire_bytes_per_message));
    let remarks: Vec<String> = bytes.into_iter().chain(row.failure.clone()).collect();
    if remarks.is_empty() { String::new() } else { format!("  {}", remarks.join("; ")) }
}
