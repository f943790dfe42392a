//! Predicts the next value of a series from earlier ones, by the predictor that has been best. A
//! hole is a place of a message where the value differs from message to message; a series is the
//! values of one sender, or of all senders together, in one hole.

use crate::cache::Cache;
use crate::decimal::Format;
use crate::hash::hash;
use crate::integer::{Contexts, code_signed, size};
use crate::pass::Pass;
use crate::range_coder::Coder;
use crate::series::Series;
use crate::trace::PREDICTORS;

mod snapshot;

/// The last value of a series, and how well each predictor has predicted the values of the series.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Reference {
    value: i64,
    /// The difference of the last two values. One that does not fit into 32 bits is kept as zero.
    delta: i32,
    /// The recent cost of each predictor, in 1/3 bit.
    costs: [u8; PREDICTORS],
    /// The stamp of the last value: the low bits of the number of its packet.
    stamp: u16,
    pub(crate) format: Format,
    seen: bool,
}

/// Where the last values of a series and of any sender in its hole are in the table, as far as they
/// are there.
#[derive(Clone, Copy)]
pub(crate) struct Places {
    own: Option<usize>,
    any_sender: Option<usize>,
}

/// The unit of a mean step is 1/16.
const RATE: i32 = 16;
/// The approximate number of values over which the mean step is taken.
const RATE_WINDOW: i64 = 16;

const _: () = assert!(Cache::<Reference>::ENTRY == 32);

impl Reference {
    /// The last value of a series; if the table has none, the newest value in the hole of this
    /// series, whoever sent it. Also the indices of both in the table, as far as they are there.
    #[cfg_attr(feature = "fast", inline(always))]
    pub(crate) fn recall(references: &Cache<Self>, series: Series) -> (Self, Places) {
        let own = references.index(series.key());
        let places = Places { own, any_sender: references.index(series.label) };
        let reference = own.map(|at| *references.at(at)).unwrap_or_else(|| {
            let any_sender = Self::any_sender(references, places);
            Self { delta: any_sender.delta / RATE, ..any_sender }
        });
        (reference, places)
    }

    /// The last value of any sender in a hole. Its `delta` is the mean step per packet, in
    /// 1/[`RATE`].
    pub(crate) fn any_sender(references: &Cache<Self>, places: Places) -> Self {
        places.any_sender.map(|at| *references.at(at)).unwrap_or_default()
    }

    /// Stores the last value of a series, and stores it as the hole's last value of any sender.
    /// `places` is what [`Reference::recall`] has returned.
    pub(crate) fn remember(
        references: &mut Cache<Self>,
        series: Series,
        places: Places,
        reference: Self,
    ) {
        let key = series.key();
        *references.entry_at(key, places.own) = reference;
        // The new entry may have taken the place of the other one, or its name.
        let at = match places.any_sender {
            None if key == series.label => references.index(key),
            at => references.still(series.label, at),
        };
        let any_sender = at.map(|at| *references.at(at)).unwrap_or_default();
        let packets = i64::from(reference.stamp.wrapping_sub(any_sender.stamp).max(1));
        let step = reference.value.wrapping_sub(any_sender.value);
        // On an ordered link the difference is always one packet, and a division takes long.
        let step = if packets == 1 { step } else { step / packets };
        let rate = i64::from(any_sender.delta);
        let rate = if any_sender.seen {
            rate + (step.saturating_mul(i64::from(RATE)).saturating_sub(rate)) / RATE_WINDOW
        } else {
            0
        };
        *references.entry_at(series.label, at) = Self { delta: narrow(rate), ..reference };
    }

    /// The last value, if there is one.
    pub(crate) fn last(&self) -> Option<i64> {
        self.seen.then_some(self.value)
    }

    /// Multiplies the values by ten to the power of `more`, since numbers now have as many more
    /// decimals (or fewer if negative).
    pub(crate) fn rescale(&mut self, more: i32) {
        let factor = 10i64.pow(more.unsigned_abs().min(18));
        let rescale =
            |number: i64| if more > 0 { number.wrapping_mul(factor) } else { number / factor };
        self.value = rescale(self.value);
        self.delta = narrow(rescale(i64::from(self.delta)));
    }

    /// Takes `value` as the last one. It is in another unit than the values before, so the last
    /// step is unknown.
    pub(crate) fn rebase(&mut self, value: i64) {
        self.value = value;
        self.delta = 0;
    }

    /// Codes a value: writes it in the encoder, and reads it in the decoder. `any_sender` has the
    /// last value of any sender. Returns the value.
    pub(crate) fn code<C: Coder + ?Sized>(
        &mut self,
        pass: &mut Pass<'_, C>,
        series: Series,
        any_sender: &Self,
        given: i64,
    ) -> i64 {
        // The predictions: the last value; that plus half the last step; that plus the last step;
        // any sender's last value; that plus the mean step.
        let predictions: [i64; PREDICTORS] = [
            self.value,
            self.value.wrapping_add(i64::from(self.delta / 2)),
            self.value.wrapping_add(i64::from(self.delta)),
            any_sender.value,
            any_sender.value.wrapping_add(
                i64::from(any_sender.delta) * i64::from(pass.age(any_sender.stamp).max(1))
                    / i64::from(RATE),
            ),
        ];
        let mut best = 0;
        for index in 1..PREDICTORS {
            if self.costs[index] < self.costs[best] {
                best = index;
            }
        }
        // The difference from a value of some packets ago is, as a rule, larger than that from a
        // value of the last packet.
        let age = pass.age(self.stamp);
        let kind = match (self.seen, age) {
            (false, _) => 0,
            (true, 0) => 1,
            (true, _) => 2,
        };
        let general = hash(series.label, 0x100 + best as u32 + 8 * kind);
        let special = if kind == 2 {
            hash(general, step(self.delta) * 32 + u16::BITS - age.leading_zeros())
        } else {
            hash(general, step(self.delta))
        };
        let error = given.wrapping_sub(predictions[best]);
        let error = code_signed(pass, Contexts { general, special }, error);
        let value = predictions[best].wrapping_add(error);

        let errors = pass.errors(series.label, || {
            predictions.map(|prediction| size(value.wrapping_sub(prediction)) as u8)
        });
        for (cost, error) in self.costs.iter_mut().zip(errors) {
            *cost = ((u32::from(*cost) * 7 + u32::from(error) * 3 + 4) / 8) as u8;
        }
        self.note(value, pass.stamp());
        value
    }

    /// Takes `value` as the last one. `stamp` tells its packet.
    pub(crate) fn note(&mut self, value: i64, stamp: u16) {
        self.stamp = stamp;
        self.delta = if self.seen { narrow(value.wrapping_sub(self.value)) } else { 0 };
        self.value = value;
        self.seen = true;
    }
}

/// A context for a step: its number of bits, and its sign.
fn step(delta: i32) -> u32 {
    let size = 32 - delta.unsigned_abs().leading_zeros();
    size * 2 + u32::from(delta < 0)
}

fn narrow(delta: i64) -> i32 {
    i32::try_from(delta).unwrap_or(0)
}
