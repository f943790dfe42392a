//! What the bits of all packets of a run are spent on.

use std::collections::BTreeMap;

use groupwire_gmc::{Encoder, Expense, Part};

use crate::statistics::median;

/// Fields that take fewer bits per message than this are shown together.
const SHOWN_BITS: f64 = 0.05;

/// The header of a packet that is compressed without the model: its form and its number.
const PLAIN_HEADER_BITS: f64 = 16.0;

/// The expenses of a run.
#[derive(Default)]
pub(super) struct Ledger {
    packets: usize,
    /// Bits by what they were spent on and, for values, by the name of the field.
    bits: BTreeMap<(&'static str, String), f64>,
    content: f64,
    /// The bits that it would take to repeat the message before in each packet.
    repeats: Vec<f64>,
    /// The names of fields by the labels of the holes that they fill.
    names: BTreeMap<u32, String>,
}

impl Ledger {
    /// Enters the packet of `bytes` bytes that the encoder has made.
    pub(super) fn enter(&mut self, encoder: &Encoder, bytes: usize) {
        self.packets += 1;
        let mut rest = bytes as f64 * 8.0;
        for expense in encoder.expenses() {
            let bits = bits(expense);
            rest -= bits;
            let (spent_on, is_content) = match expense.part {
                Part::Form => ("form", false),
                Part::Epoch => ("state", false),
                Part::Number => ("number", false),
                Part::Control => ("control", false),
                Part::Count => ("count", false),
                Part::Fields => ("fields", false),
                Part::Template => ("template", true),
                Part::Value(_) => ("value", true),
                Part::Literal => ("message without template", true),
                Part::Plain => ("packet without model", true),
                _ => ("other", true),
            };
            let field = match expense.part {
                Part::Value(label) => self.name(encoder, label),
                _ => String::new(),
            };
            *self.bits.entry((spent_on, field)).or_default() += bits;
            self.content += if is_content { bits } else { 0.0 };
            if expense.part == Part::Plain {
                self.content -= PLAIN_HEADER_BITS;
            }
        }
        *self.bits.entry(("end", String::new())).or_default() += rest;
    }

    /// Enters the bits that a repeat of the message before would take in a packet.
    pub(super) fn enter_repeat(&mut self, bits: f64) {
        self.repeats.push(bits);
    }

    /// Bits per packet by what they were spent on and, for values, by the name of the field. The
    /// last one is the sum.
    pub(super) fn shares(&self) -> Vec<(&'static str, Option<String>, f64)> {
        let mut shares = Vec::new();
        let mut others = 0.0;
        for (&(spent_on, ref field), &bits) in &self.bits {
            let bits = self.each(bits);
            let is_value = spent_on == "value";
            if is_value && bits < SHOWN_BITS {
                others += bits;
            } else if bits != 0.0 {
                shares.push((spent_on, is_value.then(|| field.clone()), bits));
            }
        }
        shares.push(("value", Some("others".to_owned()), others));
        shares.push(("all", None, self.all()));
        shares
    }

    /// All bits per packet.
    pub(super) fn all(&self) -> f64 {
        self.each(self.bits.values().sum())
    }

    /// Bits per packet without its header and what fills its last byte.
    pub(super) fn content(&self) -> f64 {
        self.each(self.content)
    }

    pub(super) fn repeat_median(&self) -> f64 {
        median(self.repeats.clone())
    }

    fn each(&self, bits: f64) -> f64 {
        bits / self.packets.max(1) as f64
    }

    /// The name of the field with this label: the last word before its hole.
    fn name(&mut self, encoder: &Encoder, label: u32) -> String {
        let find = || match last_word(encoder.before_hole(label).unwrap_or_default()) {
            "" => "without name".to_owned(),
            word => word.to_owned(),
        };
        self.names.entry(label).or_insert_with(find).clone()
    }
}

fn last_word(bytes: &[u8]) -> &str {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let end = bytes.iter().rposition(is_word).map_or(0, |last| last + 1);
    let start = bytes[..end].iter().rposition(|byte| !is_word(byte)).map_or(0, |at| at + 1);
    str::from_utf8(&bytes[start..end]).unwrap_or_default()
}

/// The bits of a packet that the encoder has made or tried, without what fills its last byte.
pub(super) fn total(encoder: &Encoder) -> f64 {
    encoder.expenses().iter().map(bits).sum()
}

fn bits(expense: &Expense) -> f64 {
    f64::from(expense.bits) / f64::from(Expense::BIT)
}
