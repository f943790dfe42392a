//! Rows as tables, grouped by trace and conditions.

use groupwire_lab::gmc::Row;

use super::common::{Heading, quick};

/// Prints each row, with a heading at the start of a group.
#[derive(Default)]
pub(super) struct Table {
    heading: Heading,
}

impl Table {
    pub(super) fn print(&mut self, row: &Row) {
        self.heading.print(heading(row), || {
            format!(
                "{:20}{:>9}{:>9}{:>11}{:>11}{:>11}{:>10}{:>10}",
                "technique",
                "bytes",
                "of orig.",
                "encode µs",
                "99 % in",
                "decode µs",
                "state KB",
                "verified"
            )
        });
        println!(
            "{:20}{:>9.2}{:>7.1} %{:>11.2}{:>11.2}{:>11.2}{:>10}{:>10}{}",
            row.technique,
            row.bytes_per_message,
            100.0 * row.bytes_out as f64 / row.bytes_in.max(1) as f64,
            row.encode_us,
            row.encode_p99_us,
            row.decode_us,
            row.state_bytes.map_or("?".to_owned(), |bytes| format!("{:.1}", bytes as f64 / 1024.0)),
            if row.verified { "yes" } else { "NO" },
            remark(row),
        );
    }
}

fn heading(row: &Row) -> String {
    let mut text = format!(
        "{}, {}: {} messages of {:.1} bytes",
        row.trace,
        row.mode,
        row.messages,
        row.bytes_in as f64 / row.messages.max(1) as f64
    );
    if let Some(messages) = row.ack_delay {
        text.push_str(&format!(", acknowledged {messages} messages later"));
    }
    if let Some(ms) = row.ack_ms {
        text.push_str(&format!(", acknowledged {ms} ms later"));
    }
    if let Some(loss) = row.loss {
        text.push_str(&format!(", {:.0} % lost", 100.0 * loss));
    }
    text.push_str(quick(row.quick));
    text
}

fn remark(row: &Row) -> String {
    let mut remarks = Vec::new();
    if let Some(templates) = row.templates {
        remarks.push(format!("{templates} templates"));
    }
    if row.announcement_bytes > 0 {
        remarks.push(format!("{} bytes announced", row.announcement_bytes));
    }
    if row.ack_bytes > 0 {
        let per_message = row.ack_bytes as f64 / row.messages.max(1) as f64;
        remarks.push(format!("{per_message:.2} bytes back"));
    }
    if let Some(source) = row.dictionary {
        remarks.push(format!("trained on {source}"));
    }
    if row.senders {
        remarks.push("with senders".to_owned());
    }
    remarks.extend(row.failure.clone());
    if remarks.is_empty() { String::new() } else { format!("  {}", remarks.join(", ")) }
}
