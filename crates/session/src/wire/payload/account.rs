//! Lists the messages of each payload with their cost in bits, for the inspector.
//!
//! With the feature `inspector`, [`Account`] collects these lists. Without it, the same functions
//! do nothing, so that a program which has no inspector, such as the one in the browser, does not
//! contain the code.

use alloc::vec::Vec;
#[cfg(not(feature = "inspector"))]
pub(crate) use off::{Account, cost_decoder, cost_encoder, decoder_costs, encoder_costs};
#[cfg(feature = "inspector")]
pub(crate) use on::{Account, cost_decoder, cost_encoder, decoder_costs, encoder_costs};

use crate::trace::{Part, Purpose};
use crate::wire::record::{Number, Record};

/// A payload that was written, for the inspector.
#[derive(Default)]
pub(crate) struct WrittenPayload {
    /// The size of the payload in bytes, with its tag.
    pub(crate) bytes: usize,
    /// The messages of the payload, in order.
    pub(crate) parts: Vec<Part>,
}

/// Sets the cost of each message in `parts` to the number at the same index of `costs`. Does
/// nothing if the two have different lengths.
pub(crate) fn price(parts: &mut [Part], costs: &[u32]) {
    if parts.len() == costs.len() {
        parts.iter_mut().zip(costs).for_each(|(part, &cost)| part.cost = Some(cost));
    }
}

/// Describes the message of a record for the inspector, without its cost, which is not known yet.
pub(crate) fn part(record: &Record<'_>) -> Part {
    let (index, is_fill) = match record.number {
        Number::Awareness { index, .. } => (index.get(), false),
        Number::Transaction { counter, .. }
        | Number::Copy { counter, .. }
        | Number::Direct { counter, .. } => (counter.get(), false),
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
    use crate::trace::BYTE_COST;
    use crate::wire::frame::{CODED_LAST, MESSAGES_LAST};
    use crate::wire::io::Write;
    use crate::wire::record::FIELDS;

    /// The messages of the payload that is being collected (`parts`), and the payloads that were
    /// written (`made`).
    #[derive(Default)]
    pub(crate) struct Account {
        is_on: bool,
        parts: Vec<Part>,
        made: Vec<WrittenPayload>,
    }

    impl Account {
        pub(crate) fn is_on(&self) -> bool {
            self.is_on
        }

        /// Switches the account on or off. Returns true if it was in the other state before.
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

        /// Notes that the records in the range `written` were encoded as `payload`, which begins
        /// with its tag. `fields` has the six numbers, and `ends` the end of the content, of every
        /// collected record, not only of those in the range.
        pub(crate) fn wrote(
            &mut self,
            written: Range<usize>,
            fields: &[[u32; FIELDS]],
            ends: &[usize],
            payload: &[u8],
            coder: Option<&gmc::Encoder>,
        ) {
            if !self.is_on {
                return;
            }
            let mut parts: Vec<Part> = self.parts.get(written.clone()).unwrap_or_default().to_vec();
            let coder = coder.filter(|_| payload.first() == Some(&CODED_LAST));
            match coder {
                Some(coder) => price(&mut parts, coder.costs()),
                None if payload.first() == Some(&MESSAGES_LAST) => {
                    let starts = [0].into_iter().chain(ends.iter().copied());
                    let sizes = ends.iter().zip(starts).map(|(end, start)| end - start);
                    let all = fields.iter().zip(sizes).skip(written.start);
                    for (part, (fields, size)) in parts.iter_mut().zip(all) {
                        part.cost =
                            Some((plain_size(fields, size) as u32).saturating_mul(BYTE_COST));
                    }
                }
                None => {}
            }
            self.made.push(WrittenPayload { bytes: payload.len(), parts });
        }

        pub(crate) fn clear(&mut self) {
            self.parts.clear();
        }

        /// Returns the payloads that were written since the last call.
        pub(crate) fn take(&mut self) -> Vec<WrittenPayload> {
            take(&mut self.made)
        }
    }

    /// Tells gmc whether to measure the cost of each message that it encodes.
    pub(crate) fn cost_encoder(coder: &mut gmc::Encoder, on: bool) {
        coder.set_costing(on);
    }

    /// Tells gmc whether to measure the cost of each message that it decodes.
    pub(crate) fn cost_decoder(coder: &mut gmc::Decoder, on: bool) {
        coder.set_costing(on);
    }

    /// The cost of each message in the packet that `coder` encoded last. [`BYTE_COST`] is the cost
    /// of one byte.
    pub(crate) fn encoder_costs(coder: &gmc::Encoder) -> &[u32] {
        coder.costs()
    }

    /// The cost of each message in the packet that `coder` decoded last, in the same unit.
    pub(crate) fn decoder_costs(coder: &gmc::Decoder) -> &[u32] {
        coder.costs()
    }

    /// The size in bytes of an uncompressed record with these fields and a content of `content`
    /// bytes.
    fn plain_size(fields: &[u32; FIELDS], content: usize) -> usize {
        let mut header = Vec::with_capacity(FIELDS * 5 + 5);
        fields.iter().for_each(|&field| header.varint(u64::from(field)));
        header.varint(content as u64);
        header.len() + content
    }
}

#[cfg(not(feature = "inspector"))]
mod off {
    use core::ops::Range;

    use groupwire_gmc as gmc;

    use super::*;
    use crate::wire::record::FIELDS;

    /// The account without the feature `inspector`: it records nothing.
    #[derive(Default)]
    pub(crate) struct Account {}

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

        pub(crate) fn take(&mut self) -> Vec<WrittenPayload> {
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
