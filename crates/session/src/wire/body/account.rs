//! What bodies are made of, message by message, for who looks on.

use alloc::vec::Vec;
use core::mem::take;
use core::ops::Range;

use groupwire_gmc as gmc;

use super::super::io::Write;
use crate::trace::{OCTET, Part, Purpose};
use crate::wire::frame::{CODED_LAST, MESSAGES_LAST};
use crate::wire::record::{FIELDS, Number, Record};

/// The messages of the body that is being filled, and bodies that were made.
#[derive(Default)]
pub(crate) struct Account {
    parts: Vec<Part>,
    made: Vec<Made>,
}

/// A body.
#[derive(Default)]
pub(crate) struct Made {
    pub(crate) octets: usize,
    pub(crate) parts: Vec<Part>,
}

impl Account {
    pub(super) fn push(&mut self, record: &Record<'_>) {
        self.parts.push(part(record));
    }

    pub(super) fn repeats(&mut self) {
        if let Some(part) = self.parts.last_mut() {
            part.purpose = Purpose::Repeated;
        }
    }

    /// These of the records were written as this body, with its type.
    pub(super) fn wrote(
        &mut self,
        written: Range<usize>,
        fields: &[[u32; FIELDS]],
        ends: &[usize],
        body: &[u8],
        coder: Option<&gmc::Encoder>,
    ) {
        let mut parts: Vec<Part> = self.parts.get(written.clone()).unwrap_or_default().to_vec();
        let coder = coder.filter(|_| body.first() == Some(&CODED_LAST));
        match coder {
            Some(coder) => price(&mut parts, coder.costs()),
            None if body.first() == Some(&MESSAGES_LAST) => {
                let starts = [0].into_iter().chain(ends.iter().copied());
                let payloads = ends.iter().zip(starts).map(|(end, start)| end - start);
                let all = fields.iter().zip(payloads).skip(written.start);
                for (part, (fields, payload)) in parts.iter_mut().zip(all) {
                    part.cost = Some((plain_size(fields, payload) as u32).saturating_mul(OCTET));
                }
            }
            None => {}
        }
        self.made.push(Made { octets: body.len(), parts });
    }

    pub(super) fn clear(&mut self) {
        self.parts.clear();
    }

    /// The bodies since the last call.
    pub(crate) fn take(&mut self) -> Vec<Made> {
        take(&mut self.made)
    }
}

/// Gives each message the cost that stands at its place, if there is one for each.
pub(crate) fn price(parts: &mut [Part], costs: &[u32]) {
    if parts.len() == costs.len() {
        parts.iter_mut().zip(costs).for_each(|(part, &cost)| part.cost = Some(cost));
    }
}

/// A message whose cost is not known.
pub(crate) fn part(record: &Record<'_>) -> Part {
    let (index, is_fill) = match record.number {
        Number::Awareness { index, .. } => (index.get(), false),
        Number::Transaction { counter, .. } | Number::Copy { counter, .. } => {
            (counter.get(), false)
        }
        Number::Fill { counter, .. } => (counter.get(), true),
    };
    let purpose = match record {
        Record { own: true, .. } => Purpose::Own,
        Record { state: true, .. } => Purpose::State,
        Record { .. } if is_fill => Purpose::State,
        Record { .. } => Purpose::New,
    };
    let Record { channel, sender, age, .. } = *record;
    Part { channel, sender, index, purpose, before: record.bytes.len(), age, cost: None }
}

fn plain_size(fields: &[u32; FIELDS], payload: usize) -> usize {
    let mut header = Vec::with_capacity(FIELDS * 5 + 5);
    fields.iter().for_each(|&field| header.varint(u64::from(field)));
    header.varint(payload as u64);
    header.len() + payload
}
