//! Writes metrics in the text format of Prometheus, version 0.0.4.

use std::fmt::{Display, Write};

use crate::figures::Times;
use crate::figures::figure::{Figure, Kind};

/// The prefix of all names.
const PREFIX: &str = "groupwire_";

/// The media type of the format.
pub(super) const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Labels of a sample: names, and values of any characters.
pub(super) type Labels<'a> = &'a [(&'a str, &'a str)];

/// Metrics as text.
#[derive(Default)]
pub(super) struct Text {
    text: String,
    /// The family whose samples are being written.
    family: String,
}

impl Text {
    /// Writes figures whose names get the prefix `scope`. Those of one family have to follow each
    /// other.
    pub(super) fn figures(&mut self, scope: &str, figures: impl IntoIterator<Item = Figure>) {
        for Figure { kind, name, part, help, value } in figures {
            let Some(value) = value else { continue };
            let family = part.map_or(name, |part| part.family);
            self.family(kind, &format!("{scope}{family}"), help);
            self.sample(part.map(|part| part.label).as_slice(), value);
        }
    }

    /// Begins a family, unless it has begun already. Counters get the suffix `_total`.
    pub(super) fn family(&mut self, kind: Kind, name: &str, help: &str) {
        let (suffix, kind) = match kind {
            Kind::Counter => ("_total", "counter"),
            Kind::Gauge => ("", "gauge"),
        };
        self.begin(&format!("{PREFIX}{name}{suffix}"), kind, help);
    }

    /// Writes a sample of the family that has begun.
    pub(super) fn sample(&mut self, labels: Labels<'_>, value: f64) {
        self.line("", labels, None, value);
    }

    /// Writes a histogram in seconds.
    pub(super) fn histogram(&mut self, name: &str, help: &str, times: &Times) {
        self.begin(&format!("{PREFIX}{name}_seconds"), "histogram", help);
        let mut count = 0;
        for (limit, up_to) in times.cumulative() {
            let limit = limit.map_or("+Inf".to_owned(), |limit| limit.as_secs_f64().to_string());
            self.line("_bucket", &[], Some(("le", &limit)), up_to as f64);
            count = up_to;
        }
        self.line("_sum", &[], None, times.sum().as_secs_f64());
        self.line("_count", &[], None, count as f64);
    }

    /// The text with all figures that were written.
    pub(super) fn finish(self) -> String {
        self.text
    }

    fn begin(&mut self, family: &str, kind: &str, help: &str) {
        if self.family == family {
            return;
        }
        family.clone_into(&mut self.family);
        let help = help.trim().replace('\\', r"\\").replace('\n', r"\n");
        self.put(format_args!("# HELP {family} {help}\n# TYPE {family} {kind}\n"));
    }

    fn line(&mut self, suffix: &str, labels: Labels<'_>, last: Option<(&str, &str)>, value: f64) {
        let pairs: Vec<_> = labels
            .iter()
            .copied()
            .chain(last)
            .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)))
            .collect();
        let pairs = match pairs.is_empty() {
            true => String::new(),
            false => format!("{{{}}}", pairs.join(",")),
        };
        let name = std::mem::take(&mut self.family);
        self.put(format_args!("{name}{suffix}{pairs} {value}\n"));
        self.family = name;
    }

    fn put(&mut self, text: impl Display) {
        // Writing into a string cannot fail.
        let _ = write!(self.text, "{text}");
    }
}

fn escaped(value: &str) -> String {
    value.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::figure::Part;

    #[test]
    fn a_family_is_described_once_and_its_parts_have_labels() {
        let part = |value| Some(Part { family: "gap", label: ("reason", value) });
        let figure = |part, value| Figure {
            kind: Kind::Counter,
            name: "gaps",
            part,
            help: " Gaps, \\ by reason.",
            value,
        };
        let mut text = Text::default();
        text.figures("", [figure(part("a"), Some(2.0)), figure(part("b"), Some(0.5))]);
        text.figures("", [figure(None, None)]);
        text.family(Kind::Gauge, "info", "Version.");
        text.sample(&[("version", "1\"\\\n")], 1.0);
        assert_eq!(
            text.finish(),
            "# HELP groupwire_gap_total Gaps, \\\\ by reason.\n\
             # TYPE groupwire_gap_total counter\n\
             groupwire_gap_total{reason=\"a\"} 2\n\
             groupwire_gap_total{reason=\"b\"} 0.5\n\
             # HELP groupwire_info Version.\n\
             # TYPE groupwire_info gauge\n\
             groupwire_info{version=\"1\\\"\\\\\\n\"} 1\n"
        );
    }

    #[test]
    fn a_histogram_has_cumulative_buckets_a_sum_and_a_count() {
        let times = Times::default();
        times.add(std::time::Duration::from_micros(200));
        times.add(std::time::Duration::from_secs(60));
        let mut text = Text::default();
        text.histogram("join", "Joins.", &times);
        let text = text.finish();
        assert!(text.contains("# TYPE groupwire_join_seconds histogram\n"), "{text}");
        for line in [
            "groupwire_join_seconds_bucket{le=\"0.0001\"} 0\n",
            "groupwire_join_seconds_bucket{le=\"0.00025\"} 1\n",
            "groupwire_join_seconds_bucket{le=\"10\"} 1\n",
            "groupwire_join_seconds_bucket{le=\"+Inf\"} 2\n",
            "groupwire_join_seconds_sum 60.0002\n",
            "groupwire_join_seconds_count 2\n",
        ] {
            assert!(text.contains(line), "{line}{text}");
        }
    }
}
