//! The report of a replay, as tables and as JSON.

use groupwire_trace::Trace;
use serde_json::{Value, json};

use super::load::{KindOutcome, Outcome};
use super::options::Args;
use super::plan::Plan;
use super::status::Cost;
use super::verify::Found;

pub(super) struct Report<'a> {
    args: &'a Args,
    trace: &'a Trace,
    plan: &'a Plan,
    outcome: &'a Outcome,
    server: Option<Cost>,
}

impl<'a> Report<'a> {
    pub(super) fn new(
        args: &'a Args,
        trace: &'a Trace,
        plan: &'a Plan,
        outcome: &'a Outcome,
        server: Option<Cost>,
    ) -> Self {
        Report { args, trace, plan, outcome, server }
    }

    /// The failures of the replay as text, if there were any.
    pub(super) fn complaint(&self) -> Option<String> {
        let found = self.found();
        let Found { missing, duplicates, disordered, corrupt, .. } = found;
        let mut wrong = self.outcome.trouble.clone();
        if !found.is_perfect() {
            wrong.insert(
                0,
                format!(
                    "messages were not delivered as sent: {missing} missing, {duplicates} repeated, \
                     {disordered} out of order, {corrupt} altered"
                ),
            );
        }
        let more = wrong.len().saturating_sub(8);
        wrong.truncate(8);
        if more > 0 {
            wrong.push(format!("and {more} more"));
        }
        (!wrong.is_empty()).then(|| wrong.join("\n  "))
    }

    pub(super) fn print_table(&self) {
        let Outcome { transactions, awareness, stats, framing, .. } = self.outcome;
        println!("{}\n", self.headline());
        println!(
            "{:14}{:>10}{:>13}{:>10}{:>10}{:>10}{:>10}",
            "latency", "messages", "deliveries", "p50 ms", "p90 ms", "p99 ms", "max ms"
        );
        for (name, class) in [("transactions", transactions), ("awareness", awareness)] {
            if class.sent > 0 {
                println!(
                    "{name:14}{:>10}{:>13}{:>10.1}{:>10.1}{:>10.1}{:>10.1}",
                    grouped(class.sent),
                    grouped(class.found.arrived),
                    ms(class, 50.0),
                    ms(class, 90.0),
                    ms(class, 99.0),
                    ms(class, 100.0),
                );
            }
        }
        println!(
            "\n{:14}{:>10}{:>13}{:>13}{:>9}{:>17}",
            "bytes", "packets", "before", "after", "ratio", "transport adds"
        );
        for (name, packets, before, after, framing) in [
            (
                "sent",
                stats.packets_out,
                stats.bytes_out_before,
                stats.bytes_out_after,
                framing.bytes_out,
            ),
            (
                "received",
                stats.packets_in,
                stats.bytes_in_before,
                stats.bytes_in_after,
                framing.bytes_in,
            ),
        ] {
            println!(
                "{name:14}{:>10}{:>13}{:>13}{:>7.1} %{:>17}",
                grouped(packets),
                grouped(before),
                grouped(after),
                percent(after, before),
                grouped(framing),
            );
        }
        println!();
        if let Some(cost) = self.server {
            println!(
                "The server used {:.2} s of CPU, {:.1} µs per delivery, and holds {} MB.",
                cost.cpu_seconds,
                cost.us_per_delivery,
                cost.rss_bytes / 1_000_000
            );
        }
        if stats.reconnects > 0 {
            println!("Connections broke and sessions resumed {} times.", stats.reconnects);
        }
        if self.outcome.held > 0 {
            println!(
                "Senders had to wait {} times, because their client answered *not now*.",
                self.outcome.held
            );
        }
        let found = self.found();
        if found.conflated > 0 {
            println!("{} values were conflated: replaced by newer ones.", grouped(found.conflated));
        }
        if found.is_perfect() {
            let arrived = grouped(found.arrived);
            let checked = match self.args.sample {
                None => "compared byte for byte and in order".to_owned(),
                Some(sample) => {
                    format!("compared byte for byte and in order at {sample} receivers")
                }
            };
            println!("Every expected message arrived: {arrived} deliveries, {checked}.");
        }
    }

    /// Prints a row for each kind of channel and one for all. Fields that the rows of
    /// `groupwire-lab fanout` have too have the same names.
    pub(super) fn print_json(&self) {
        let Outcome { transactions, awareness, stats, framing, .. } = self.outcome;
        for (name, class) in [("transaction", transactions), ("awareness", awareness)] {
            if class.sent > 0 {
                println!("{}", self.row(name, class.sent, &class.found, Some(class)));
            }
        }
        let mut all = self.row("all", transactions.sent + awareness.sent, &self.found(), None);
        let more = json!({
            "seconds": self.outcome.took.as_secs_f64(),
            "packets_out": stats.packets_out,
            "bytes_out_before": stats.bytes_out_before,
            "bytes_out_after": stats.bytes_out_after,
            "packets_in": stats.packets_in,
            "bytes_in_before": stats.bytes_in_before,
            "bytes_in_after": stats.bytes_in_after,
            "framing_bytes_out": framing.bytes_out,
            "framing_bytes_in": framing.bytes_in,
            "datagrams_out": framing.datagrams_out,
            "datagrams_in": framing.datagrams_in,
            "reconnects": stats.reconnects,
            "held": self.outcome.held,
            "server_cpu_seconds": self.server.map(|cost| cost.cpu_seconds),
            "server_us_per_delivery": self.server.map(|cost| cost.us_per_delivery),
            "server_rss_bytes": self.server.map(|cost| cost.rss_bytes),
            "trouble": self.outcome.trouble,
        });
        if let (Value::Object(all), Value::Object(more)) = (&mut all, more) {
            all.extend(more);
        }
        println!("{all}");
    }

    fn row(&self, channel: &str, sent: u64, found: &Found, latency: Option<&KindOutcome>) -> Value {
        let clients = self.plan.senders + self.args.receivers as usize;
        json!({
            "system": format!("groupwire-{}", self.args.transport()),
            "trace": self.args.trace,
            "channel": channel,
            "clients": clients,
            "senders": self.plan.senders,
            "speed": self.args.rate.is_none().then_some(self.args.speed),
            "rate": self.args.rate,
            "messages": sent,
            "delivered": found.arrived,
            "missing": found.missing,
            "repeated": found.duplicates,
            "disordered": found.disordered,
            "altered": found.corrupt,
            "conflated": found.conflated,
            "verified": found.is_perfect(),
            "p50_ms": latency.map(|class| ms(class, 50.0)),
            "p90_ms": latency.map(|class| ms(class, 90.0)),
            "p99_ms": latency.map(|class| ms(class, 99.0)),
            "max_ms": latency.map(|class| ms(class, 100.0)),
        })
    }

    fn headline(&self) -> String {
        let name = self.args.trace.file_name().unwrap_or_default().to_string_lossy();
        let took = self.outcome.took.as_secs_f64();
        let planned = self.plan.duration().as_secs_f64();
        let pace = match self.args.rate {
            Some(hz) => format!("{hz} per second from each of {} senders", self.plan.senders),
            None => {
                format!("{:.0} s at speed {}", self.trace.duration().as_secs_f64(), self.args.speed)
            }
        };
        let clients = self.plan.senders + self.args.receivers as usize;
        let steps = grouped(self.plan.steps.len() as u64);
        format!(
            "{name}: {steps} messages ({pace}), {clients} participants, {took:.1} s of {planned:.1} s planned"
        )
    }

    fn found(&self) -> Found {
        let mut found = self.outcome.transactions.found;
        found.add(&self.outcome.awareness.found);
        found
    }
}

fn ms(class: &KindOutcome, percentile: f64) -> f64 {
    class.latency.value_at_percentile(percentile) as f64 / 1000.0
}

fn percent(after: u64, before: u64) -> f64 {
    if before == 0 { 0.0 } else { 100.0 * after as f64 / before as f64 }
}

/// Formats 12850 as 12,850.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
