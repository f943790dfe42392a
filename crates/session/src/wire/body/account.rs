//! What payloads are made of, message by message, for the inspector.
//!
//! This file is the only place that depends on the feature `inspector`: without it gmc does not say what messages cost, and
//! payloads are not accounted for, so that the browser's core does without that code.

use alloc::vec::Vec;
#[cfg(not(feature = "inspector"))]
pub(crate) use off::{Account, cost_decoder, cost_encoder, decoder_costs, encoder_costs};
#[cfg(feature = "inspector")]
pub(crate) use on::{Account, cost_decoder, cost_encoder, decoder_costs, encoder_costs};

use crate::trace::{Part, Purpose};
use crate::wire::record::{Number, Record};

/// A payload.
#[derive(Default)]
pub(crate) struct Made {
    pub(crate) octets: usize,
    pub(crate) parts: Vec<Part>,
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

#[cfg(feature = "inspector")]
mod on {
    use core::mem::take;
    use core::ops::Range;

    use groupwire_gmc as gmc;

    use super::*;
    use crate::trace::OCTET;
    use crate::wire::frame::{CODED_LAST, MESSAGES_LAST};
    use crate::wire::io::Write;
    use crate::wire::record::FIELDS;

    /// The messages of the body that is being filled, and bodies that were made.
    #[derive(Default)]
    pub(crate) struct Account {
        is_on: bool,
        parts: Vec<Part>,
        made: Vec<Made>,
    }

    impl Account {
        pub(crate) fn is_on(&self) -> bool {
            self.is_on
        }

        /// Begins or ends keeping account; returns whether that is a change.
        pub(crate) fn turn(&mut self, on: bool) -> bool {
            let changes = self.is_on != on;
            if changes {
                *self = Account { is_on: on, ..Account::default() };
            }
            changes
        }

        pub(crate) fn push(&mut self, record: &Record<'_>) {
            if self.is_on {
                self.parts.push(part(record));
            }
        }

        pub(crate) fn note_repeated(&mut self) {
            if let Some(part) = self.parts.last_mut() {
                part.purpose = Purpose::Repeated;
            }
        }

        /// These of the records were written as this body, with its type.
        pub(crate) fn wrote(
            &mut self,
            written: Range<usize>,
            fields: &[[u32; FIELDS]],
            ends: &[usize],
            body: &[u8],
            coder: Option<&gmc::Encoder>,
        ) {
            if !self.is_on {
                return;
            }
            let mut parts: Vec<Part> = self.parts.get(written.clone()).unwrap_or_default().to_vec();
            let coder = coder.filter(|_| body.first() == Some(&CODED_LAST));
            match coder {
                Some(coder) => price(&mut parts, coder.costs()),
                None if body.first() == Some(&MESSAGES_LAST) => {
                    let starts = [0].into_iter().chain(ends.iter().copied());
                    let payloads = ends.iter().zip(starts).map(|(end, start)| end - start);
                    let all = fields.iter().zip(payloads).skip(written.start);
                    for (part, (fields, payload)) in parts.iter_mut().zip(all) {
                        part.cost =
                            Some((plain_size(fields, payload) as u32).saturating_mul(OCTET));
                    }
                }
                None => {}
            }
            self.made.push(Made { octets: body.len(), parts });
        }

        pub(crate) fn clear(&mut self) {
            self.parts.clear();
        }

        /// What the payloads since the last call were made of.
        pub(crate) fn take(&mut self) -> Vec<Made> {
            take(&mut self.made)
        }
    }

    /// Lets gmc say what messages cost, or not.
    pub(crate) fn cost_encoder(coder: &mut gmc::Encoder, on: bool) {
        coder.set_costing(on);
    }

    /// The same for a decoder.
    pub(crate) fn cost_decoder(coder: &mut gmc::Decoder, on: bool) {
        coder.set_costing(on);
    }

    /// What each message of the last packet cost, in units of [`OCTET`].
    pub(crate) fn encoder_costs(coder: &gmc::Encoder) -> &[u32] {
        coder.costs()
    }

    /// The same for a decoder.
    pub(crate) fn decoder_costs(coder: &gmc::Decoder) -> &[u32] {
        coder.costs()
    }

    fn plain_size(fields: &[u32; FIELDS], payload: usize) -> usize {
        let mut header = Vec::with_capacity(FIELDS * 5 + 5);
        fields.iter().for_each(|&field| header.varint(u64::from(field)));
        header.varint(payload as u64);
        header.len() + payload
    }
}

#[cfg(not(feature = "inspector"))]
mod off {
    use core::ops::Range;

    use groupwire_gmc as gmc;

    use super::*;
    use crate::wire::record::FIELDS;

    /// Keeps nothing.
    #[derive(Default)]
    pub(crate) struct Account;

    impl Account {
        pub(crate) fn is_on(&self) -> bool {
            false
        }

        pub(crate) fn turn(&mut self, _: bool) -> bool {
            false
        }

        pub(crate) fn push(&mut self, _: &Record<'_>) {}

        pub(crate) fn note_repeated(&mut self) {}

        pub(crate) fn wrote(
            &mut self,
            _: Range<usize>,
            _: &[[u32; FIELDS]],
            _: &[usize],
            _: &[u8],
            _: Option<&gmc::Encoder>,
        ) {
        }

        pub(crate) fn clear(&mut self) {}

        pub(crate) fn take(&mut self) -> Vec<Made> {
            Vec::new()
        }
    }

    pub(crate) fn cost_encoder(_: &mut gmc::Encoder, _: bool) {}

    pub(crate) fn cost_decoder(_: &mut gmc::Decoder, _: bool) {}

    pub(crate) fn encoder_costs(_: &gmc::Encoder) -> &[u32] {
        &[]
    }

    pub(crate) fn decoder_costs(_: &gmc::Decoder) -> &[u32] {
        &[]
    }
}
