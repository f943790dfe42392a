//! What a number hole is expected to hold: references to earlier values, and which of them has been
//! best.

use crate::cache::Cache;
use crate::hash::hash;
use crate::hole::Whose;
use crate::integer::{Contexts, code_signed};
use crate::model::Rows;
use crate::number::Format;
use crate::range_coder::Coder;

/// The last values in a hole.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Reference {
    value: i64,
    /// The last step; a larger one than fits is no guide.
    delta: i32,
    /// Running cost of each predictor, in 1/64 bit.
    costs: [u16; PREDICTORS],
    pub(crate) format: Format,
    seen: bool,
}

/// The last value; the last value and half the last step; the last value and the last step.
const PREDICTORS: usize = 3;

const _: () = assert!(Cache::<Reference>::ENTRY == 32);

impl Reference {
    /// The sender's last value in this hole, or else anybody's.
    pub(crate) fn recall(references: &Cache<Self>, whose: Whose) -> Self {
        let found = references
            .find(hash(whose.label, whose.sender))
            .or_else(|| references.find(whose.label));
        found.copied().unwrap_or_default()
    }

    pub(crate) fn remember(references: &mut Cache<Self>, whose: Whose, reference: Self) {
        *references.entry(hash(whose.label, whose.sender)) = reference;
        *references.entry(whose.label) = reference;
    }

    /// Adapts to `more` decimals than before.
    pub(crate) fn rescale(&mut self, more: i32) {
        let factor = 10i64.pow(more.unsigned_abs().min(18));
        let rescale =
            |number: i64| if more > 0 { number.wrapping_mul(factor) } else { number / factor };
        self.value = rescale(self.value);
        self.delta = narrow(rescale(i64::from(self.delta)));
    }

    /// Takes `value` as the last one, in other units than before, in which steps are unknown.
    pub(crate) fn rebase(&mut self, value: i64) {
        self.value = value;
        self.delta = 0;
    }

    /// Codes a value. Returns it.
    pub(crate) fn code<C: Coder>(
        &mut self,
        coder: &mut C,
        rows: &mut Rows,
        whose: Whose,
        given: i64,
    ) -> i64 {
        let predictions = [
            self.value,
            self.value.wrapping_add(i64::from(self.delta / 2)),
            self.value.wrapping_add(i64::from(self.delta)),
        ];
        let mut best = 0;
        for index in 1..PREDICTORS {
            if self.costs[index] < self.costs[best] {
                best = index;
            }
        }
        let general = hash(whose.label, 0x100 + best as u32 + 8 * u32::from(self.seen));
        let special = hash(general, step(self.delta));
        let error = given.wrapping_sub(predictions[best]);
        let error = code_signed(coder, rows, Contexts { general, special }, error);
        let value = predictions[best].wrapping_add(error);

        for (cost, prediction) in self.costs.iter_mut().zip(predictions) {
            let bits = 64 - value.wrapping_sub(prediction).unsigned_abs().leading_zeros();
            let now = bits * 64;
            *cost = ((u32::from(*cost) * 15 + now) / 16) as u16;
        }
        self.delta = if self.seen { narrow(value.wrapping_sub(self.value)) } else { 0 };
        self.value = value;
        self.seen = true;
        value
    }
}

/// The size of a step, roughly, with its sign.
fn step(delta: i32) -> u32 {
    let size = 32 - delta.unsigned_abs().leading_zeros();
    size * 2 + u32::from(delta < 0)
}

fn narrow(delta: i64) -> i32 {
    i32::try_from(delta).unwrap_or(0)
}
