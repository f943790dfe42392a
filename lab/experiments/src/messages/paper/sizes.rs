//! Tables 3, 4 and 5, and Figures 7 and 8: sizes and times by technique and message type, and what
//! announcements take.

use groupwire_papers::gmc2006::Overhead;

use super::super::drive::Outcome;
use super::super::row::Mode;
use super::row::percent;
use super::trial::{Settings, Trial, technique};
use super::{MESSAGE_TYPES, message_type};
use crate::statistics::median;
use crate::{Result, Row, hand};

/// The techniques of Table 4 for every trace, with ours and the paper's improvements; ASN.1 is for
/// XML only, as in the paper.
const TECHNIQUES: [&str; 10] = [
    HAND_CODED,
    "hand-primitives",
    "groupwire",
    "gmc-2006",
    "gmc-2006-tuned",
    "gmc-2006-plus",
    "deflate",
    "deflate-new",
    ASN1,
    ASN1_TEXT,
];

/// The paper's *hand-coded*, with which the others are compared.
const HAND_CODED: &str = "hand-bits";
const ASN1: &str = "asn1-per";
const ASN1_TEXT: &str = "asn1-per-text";

/// The rows of Table 3: messages by type.
pub(super) fn message_types(trial: &Trial<'_>) -> Vec<Row> {
    let count = |name| trial.messages.iter().filter(|one| message_type(one) == name).count();
    let row = |name: &&'static str| {
        trial
            .row("table-3")
            .with("trace", "all")
            .with("message_type", name)
            .with("messages", count(*name))
            .with("percent", percent(count(*name) as f64, trial.messages.len() as f64))
    };
    MESSAGE_TYPES.iter().map(row).collect()
}

/// The sizes and times of all techniques on a trace.
pub(super) struct Sizes(Vec<Size>);

struct Size {
    technique: &'static str,
    /// The bytes of each message, with the announcements in front of it.
    bytes: Vec<f64>,
    encode_us: f64,
    encode_p99_us: f64,
    decode_us: f64,
    outcome: Outcome,
}

/// Compresses the trace by each technique, round after round, so that all meet the same machine.
///
/// # Errors
/// A technique cannot encode a message.
pub(super) fn measure(trial: &Trial<'_>) -> Result<Sizes> {
    // ASN.1 is of the elements of XML.
    let is_xml = trial.session.name == "xml";
    let names = TECHNIQUES.into_iter().filter(|name| is_xml || ![ASN1, ASN1_TEXT].contains(name));
    let kinds: Vec<_> = names.map(technique).collect();
    let mut outcomes: Vec<Vec<Outcome>> = kinds.iter().map(|_| Vec::new()).collect();
    for _ in 0..trial.rounds {
        for (kind, outcomes) in kinds.iter().zip(&mut outcomes) {
            outcomes.push(trial.run(kind, Settings::usual(Mode::Stream))?);
        }
    }
    let plain = trial.messages.iter().map(|message| message.bytes.len() as f64);
    let mut sizes = vec![Size {
        technique: "original",
        bytes: plain.collect(),
        encode_us: 0.0,
        encode_p99_us: 0.0,
        decode_us: 0.0,
        outcome: Outcome::default(),
    }];
    for (kind, mut outcomes) in kinds.iter().zip(outcomes) {
        let median = |of: fn(&Outcome) -> f64| median(outcomes.iter().map(of).collect());
        let (encode_us, decode_us) = (median(|one| one.encode_us), median(|one| one.decode_us));
        let encode_p99_us = median(|one| one.encode_p99_us);
        let failure = outcomes.iter_mut().find_map(|one| one.failure.take());
        let outcome = outcomes.swap_remove(0);
        let bytes = match kind.name {
            // The paper counts no padding.
            HAND_CODED => {
                let events = trial.messages.iter().filter_map(|message| message.event);
                events.map(|event| hand::minimal_bits(event) as f64 / 8.0).collect()
            }
            _ => outcome.packet_bytes.iter().map(|bytes| *bytes as f64).collect(),
        };
        let outcome = Outcome { failure, ..outcome };
        sizes.push(Size {
            technique: kind.name,
            bytes,
            encode_us,
            encode_p99_us,
            decode_us,
            outcome,
        });
    }
    Ok(Sizes(sizes))
}

impl Sizes {
    /// The mean size of a message.
    pub(super) fn bytes_per_message(&self, technique: &str) -> Option<f64> {
        let size = self.0.iter().find(|size| size.technique == technique)?;
        Some(size.bytes.iter().sum::<f64>() / size.bytes.len().max(1) as f64)
    }

    /// The rows of Table 4, the same by message type, and of Table 5.
    pub(super) fn rows(&self, trial: &Trial<'_>) -> Vec<Row> {
        let mut rows: Vec<_> = self.0.iter().map(|size| self.of_all(trial, size)).collect();
        for size in &self.0 {
            rows.extend(MESSAGE_TYPES.iter().map(|name| self.of_type(trial, size, name)));
        }
        for size in &self.0 {
            if let Some(overhead) = &size.outcome.overhead {
                rows.extend(announcements(trial, size.technique, overhead));
            }
        }
        rows
    }

    /// A row of Table 4, which Figures 7 and 8 draw.
    fn of_all(&self, trial: &Trial<'_>, size: &Size) -> Row {
        let all = |_: &str| true;
        self.sized(trial, "table-4", size, all)
            .with("encode_us", size.encode_us)
            .with("encode_p99_us", size.encode_p99_us)
            .with("decode_us", size.decode_us)
            .with("templates", size.outcome.templates)
            .with("target_percent", size.outcome.target_percent)
            .with("rounds", trial.rounds)
            .failed(size.outcome.failure.as_ref())
    }

    fn of_type(&self, trial: &Trial<'_>, size: &Size, name: &str) -> Row {
        let is_of_type = |other: &str| other == name;
        self.sized(trial, "table-4-types", size, is_of_type)
            .with("message_type", name)
            .failed(size.outcome.failure.as_ref())
    }

    /// A row about the messages of some types.
    fn sized(
        &self,
        trial: &Trial<'_>,
        figure: &str,
        size: &Size,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Row {
        let sum = |bytes: &[f64]| -> f64 {
            let both = trial.messages.iter().zip(bytes);
            both.filter(|(one, _)| is_wanted(message_type(one))).map(|(_, bytes)| bytes).sum()
        };
        let of = |name: &str| {
            let found = self.0.iter().find(|size| size.technique == name);
            found.map_or(f64::NAN, |size| sum(&size.bytes))
        };
        let messages = trial.messages.iter().filter(|one| is_wanted(message_type(one))).count();
        let out = sum(&size.bytes);
        trial
            .row(figure)
            .with("technique", size.technique)
            .with("budget_us", budget_us(size.technique))
            .with("messages", messages)
            .with("bytes_in", of("original"))
            .with("bytes_out", out)
            .with("bytes_per_message", out / messages as f64)
            .with("percent_of_original", percent(out, of("original")))
            .with("percent_of_hand_coded", percent(out, of(HAND_CODED)))
    }
}

/// The time budget of a technique that tunes itself.
fn budget_us(name: &str) -> Option<u64> {
    let kind = super::super::techniques::ALL.iter().find(|kind| kind.name == name)?;
    kind.budget().map(|budget| budget.as_micros() as u64)
}

/// The rows of Table 5 for one technique: announcements by kind.
fn announcements(trial: &Trial<'_>, technique: &str, overhead: &Overhead) -> Vec<Row> {
    let kinds = [
        ("template", overhead.templates),
        ("dictionary addition", overhead.dictionary_additions),
        ("frequency list", overhead.frequency_lists),
        ("composite template", overhead.composite_templates),
    ];
    let row = |(kind, announced): (&str, groupwire_papers::gmc2006::Announced)| {
        trial
            .row("table-5")
            .with("technique", technique)
            .with("budget_us", budget_us(technique))
            .with("announcement", kind)
            .with("count", announced.count)
            .with("bytes", announced.bytes)
            .with("bytes_each", announced.bytes as f64 / announced.count as f64)
    };
    kinds.into_iter().map(row).collect()
}
