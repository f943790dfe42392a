//! Codes whole numbers as yes-or-no decisions with adaptive probabilities: first the number of
//! bits, then the bits, the highest first. To "code" is to write in the encoder and to read in the
//! decoder.
//!
//! A context is a hash of what is known before a decision. It selects a row of fifteen
//! probabilities; longer sequences of decisions take several rows.

use crate::contexts::Pair;
use crate::hash::hash;
#[cfg(feature = "fast")]
use crate::pass::Unlearned;
use crate::pass::{Decisions, Pass};
use crate::range_coder::Coder;

/// The two contexts in which a number is coded: a general one, which learns fast, and a special
/// one, which predicts better once it has learned.
#[derive(Clone, Copy)]
pub(crate) struct Contexts {
    pub(crate) general: u32,
    pub(crate) special: u32,
}

impl Contexts {
    pub(crate) fn single(context: u32) -> Self {
        Self { general: context, special: context }
    }

    fn with(self, salt: u32) -> Self {
        Self { general: hash(self.general, salt), special: hash(self.special, salt) }
    }

    pub(crate) fn pair<C: Coder + ?Sized>(self, pass: &mut Pass<'_, C>) -> Pair {
        pass.pair(self.general, self.special)
    }
}

/// A probability of one half, in 1/65536, for bits that nothing predicts.
pub(crate) const EVEN: u32 = 1 << 15;

/// The decisions of the first row: whether the number is zero, whether it is negative, and one for
/// each size in bits.
const ZERO: usize = 0;
const NEGATIVE: usize = 1;
const SIZE: usize = 2;
/// The largest size in bits at which all bits of a number have adaptive probabilities: steps in
/// time, such as 33 ms, are often exactly equal.
const SIZE_EXACT: u32 = 8;
/// The depth of a binary tree of decisions that fills a row.
const TREE: u32 = 4;
/// The number of decisions about the size in the first row. Each further row has fifteen.
const SIZES: usize = 13;

/// Codes a signed number. `value` is the number in the encoder.
#[cfg_attr(feature = "fast", inline)]
pub(crate) fn code_signed<C: Coder + ?Sized>(
    pass: &mut Pass<'_, C>,
    contexts: Contexts,
    value: i64,
) -> i64 {
    if pass.is_replay() {
        return value;
    }
    let first = contexts.pair(pass);
    if pass.bit(first, ZERO, value == 0) {
        return 0;
    }
    let negative = pass.bit(first, NEGATIVE, value < 0);
    let size = code_size(pass, contexts, first, 64 - value.unsigned_abs().leading_zeros());
    let magnitude = code_bits(pass, contexts, size, value.unsigned_abs());
    if negative { (magnitude as i64).wrapping_neg() } else { magnitude as i64 }
}

/// Codes an unsigned number. `value` is the number in the encoder.
pub(crate) fn code_unsigned<C: Coder + ?Sized>(
    pass: &mut Pass<'_, C>,
    contexts: Contexts,
    value: u64,
) -> u64 {
    if pass.is_replay() {
        return value;
    }
    let first = contexts.pair(pass);
    if pass.bit(first, ZERO, value == 0) {
        return 0;
    }
    let size = code_size(pass, contexts, first, 64 - value.leading_zeros());
    code_bits(pass, contexts, size, value)
}

/// Codes the number of significant bits, 1 to 64, in unary: "is it larger than 1?", "than 2?", and
/// so on. `first` are the rows of the contexts, which are used once more.
fn code_size<C: Coder + ?Sized>(
    pass: &mut Pass<'_, C>,
    contexts: Contexts,
    first: Pair,
    given: u32,
) -> u32 {
    let row = pass.again(first);
    #[cfg(feature = "fast")]
    if pass.is_read_only() {
        return size_by::<Unlearned, C>(pass, contexts, row, given);
    }
    size_by::<Pair, C>(pass, contexts, row, given)
}

#[cfg_attr(feature = "fast", inline(always))]
fn size_by<D: Decisions, C: Coder + ?Sized>(
    pass: &mut Pass<'_, C>,
    contexts: Contexts,
    row: Pair,
    given: u32,
) -> u32 {
    let mut decisions = D::begin(pass, row);
    for size in 1..64 {
        let index = size as usize - 1;
        let node = if index < SIZES { SIZE + index } else { (index - SIZES) % 15 };
        if node == 0 {
            let row = contexts.with(1000 + size).pair(pass);
            decisions = D::begin(pass, row);
        }
        if !decisions.bit(pass, node, given > size) {
            return size;
        }
    }
    64
}

/// Codes the bits below the highest one. In larger numbers only the first of them have adaptive
/// probabilities; the others are noise.
fn code_bits<C: Coder + ?Sized>(
    pass: &mut Pass<'_, C>,
    contexts: Contexts,
    size: u32,
    given: u64,
) -> u64 {
    if size == 1 {
        return 1;
    }
    #[cfg(feature = "fast")]
    if pass.is_read_only() {
        return bits_by::<Unlearned, C>(pass, contexts, size, given);
    }
    bits_by::<Pair, C>(pass, contexts, size, given)
}

#[cfg_attr(feature = "fast", inline(always))]
fn bits_by<D: Decisions, C: Coder + ?Sized>(
    pass: &mut Pass<'_, C>,
    contexts: Contexts,
    size: u32,
    given: u64,
) -> u64 {
    // Numbers of 2, 3 and 4 bits need 1, 3 and 7 decisions and share a row.
    let (salt, offset) = match size {
        2 => (1, 0),
        3 => (1, 1),
        4 => (1, 4),
        _ => (size, 0),
    };
    let modelled = if size <= SIZE_EXACT { size - 1 } else { TREE };
    let row = contexts.with(salt).pair(pass);
    let mut decisions = D::begin(pass, row);
    let mut value = 1u64;
    let mut node = 1;
    for place in (0..size - 1).rev() {
        let done = size - 1 - place;
        let bit = given >> place & 1 == 1;
        let bit = if done > modelled {
            pass.coder.bit(EVEN, bit)
        } else {
            if done == TREE + 1 {
                let row = pass.single(hash(contexts.general, 100 * size + node as u32));
                decisions = D::begin(pass, row);
                node = 1;
            }
            decisions.bit(pass, offset + node - 1, bit)
        };
        node = node << 1 | usize::from(bit);
        value = value << 1 | u64::from(bit);
    }
    value
}

/// The number of significant bits of a difference.
pub(crate) fn size(difference: i64) -> u32 {
    64 - difference.unsigned_abs().leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contexts::ContextTable;
    use crate::range_coder::{RangeDecoder, RangeEncoder};
    use alloc::vec::Vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn round_trip(values in proptest::collection::vec((any::<i64>(), 0u32..64), 0..100)) {
            let contexts = Contexts { general: 1, special: 2 };
            let values: Vec<_> = values.iter().map(|(value, shift)| value >> shift).collect();
            let mut packet = Vec::new();
            let mut coder = RangeEncoder::new(&mut packet);
            let mut table = ContextTable::new(4096);
            let pass = &mut Pass::immediate(&mut coder, &mut table);
            for &value in &values {
                code_signed(pass, contexts, value);
                code_unsigned(pass, contexts, value as u64);
            }
            coder.finish();
            let mut coder = RangeDecoder::new(&packet);
            let mut table = ContextTable::new(4096);
            let pass = &mut Pass::immediate(&mut coder, &mut table);
            for &value in &values {
                prop_assert_eq!(code_signed(pass, contexts, 0), value);
                prop_assert_eq!(code_unsigned(pass, contexts, 0), value as u64);
            }
        }
    }
}
