//! Adaptive probabilities of yes-or-no decisions.

use crate::range_coder::{Coder, bit_and};

mod snapshot;

/// The probability that a decision is `true`, in the high twelve bits. The low four bits count the
/// adaptations, since a probability that was adapted rarely should move faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Probability(pub(crate) u16);

/// The step of the n-th adaptation: 65536 / (n + 1.6), falling to 1/30 of 65536. That is fast
/// enough to follow a stream that changes, and slow enough for a settled decision to cost about
/// 0.01 bit.
const RATE: [u32; 16] = [
    40960, 25206, 18204, 14247, 11703, 9930, 8623, 7620, 6500, 5650, 4900, 4300, 3700, 3100, 2600,
    2184,
];

/// The weight of a probability that was adapted n times, when it is mixed with another probability
/// of the same decision: about 6 for each adaptation.
const WEIGHT: [u32; 16] = [1, 6, 12, 18, 24, 30, 36, 42, 50, 58, 66, 74, 82, 92, 102, 120];

impl Probability {
    pub(crate) const EVEN: Self = Self(0x8000);
    /// The start for a decision that is nearly always `true`: 127/128, as if it had been adapted
    /// nine times.
    pub(crate) const LIKELY: Self = Self(((4096 - 4096 / 128) << 4) | 9);

    /// The probability in 1/4096.
    pub(crate) fn p(self) -> u32 {
        u32::from(self.0 >> 4)
    }

    /// The probability in 1/65536, as a coder needs it: neither 0 nor 1.
    pub(crate) fn for_coder(self) -> u32 {
        self.p() << 4 | 8
    }

    /// How many times the probability was adapted, at most 15.
    pub(crate) fn age(self) -> usize {
        usize::from(self.0 & 15)
    }

    /// Moves the probability towards the outcome `bit`.
    #[inline]
    pub(crate) fn adapt(&mut self, bit: bool) {
        *self = self.adapted(bit);
    }

    /// The probability after it has moved towards the outcome `bit`.
    #[inline]
    pub(crate) fn adapted(self, bit: bool) -> Self {
        // A step up is a step down of 4095 - p, whose bits are the inverted ones of p. A branch on
        // the outcome, which a processor cannot guess, would take longer.
        let flip = u32::from(bit).wrapping_neg() & 0xfff0;
        let age = self.age();
        let cell = u32::from(self.0) ^ flip;
        let cell = cell - ((((cell >> 4) * RATE[age]) >> 16) << 4);
        Self((cell ^ flip) as u16 + u16::from(age < 15))
    }

    /// Codes a decision with this probability, which then adapts to the outcome. To "code" is to
    /// write in the encoder and to read in the decoder.
    #[inline]
    pub(crate) fn code<C: Coder + ?Sized>(&mut self, coder: &mut C, bit: bool) -> bool {
        bit_and(coder, self.for_coder(), bit, |bit| self.adapt(bit))
    }
}

impl Default for Probability {
    fn default() -> Self {
        Self::EVEN
    }
}

/// The special context predicts better as soon as it has learned anything, and therefore weighs
/// three times as much.
const SPECIAL: u32 = 3;

/// How two probabilities of certain ages are mixed.
struct Mix {
    /// The weights of the general and of the special one.
    general: u32,
    special: u32,
    /// 2^[`RECIPROCAL_SHIFT`] divided by the sum of the weights and rounded up. The product with a
    /// sum of weighted probabilities, shifted back, is exactly their quotient: such a sum is below
    /// 2^25, and the error of the rounding, at most the sum of weights, below 2^9. Multiplication
    /// takes a third of the time of division.
    reciprocal: u64,
}

/// For the ages of a general and a special probability.
static MIX: [[Mix; 16]; 16] = {
    let mut table = [const { [const { Mix { general: 0, special: 0, reciprocal: 0 } }; 16] }; 16];
    let mut index = 0;
    while index < 256 {
        let (general, special) = (WEIGHT[index / 16], WEIGHT[index % 16] * SPECIAL);
        let reciprocal = (1u64 << RECIPROCAL_SHIFT).div_ceil((general + special) as u64);
        table[index / 16][index % 16] = Mix { general, special, reciprocal };
        index += 1;
    }
    table
};

const RECIPROCAL_SHIFT: u32 = 34;

/// The probability of a decision, in 1/65536, from two probabilities: one for a general context
/// (which learns fast) and one for a special context. A context is a hash of what is known before
/// the decision.
#[inline]
pub(crate) fn mix(general: Probability, special: Probability) -> u32 {
    let p = if cfg!(feature = "fast") {
        let mix = &MIX[general.age()][special.age()];
        let sum = (general.p() * mix.general + special.p() * mix.special) << 4;
        ((u64::from(sum) * mix.reciprocal) >> RECIPROCAL_SHIFT) as u32
    } else {
        let weight_general = WEIGHT[general.age()];
        let weight_special = WEIGHT[special.age()] * SPECIAL;
        let sum = (general.p() * weight_general + special.p() * weight_special) << 4;
        sum / (weight_general + weight_special)
    };
    p | 8
}

/// Codes a decision with its probabilities in a general and in a special context, which are at two
/// places of `cells`, and adapts both to the outcome. Returns the decision.
#[cfg_attr(feature = "fast", inline(always))]
pub(crate) fn code_pair<C: Coder + ?Sized>(
    coder: &mut C,
    cells: &mut [Probability],
    [general, special]: [usize; 2],
    bit: bool,
) -> bool {
    let (a, b) = (cells[general], cells[special]);
    bit_and(coder, mix(a, b), bit, |bit| {
        cells[general] = a.adapted(bit);
        cells[special] = b.adapted(bit);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All machines must agree, also those whose code has no table of reciprocals.
    #[test]
    fn a_reciprocal_is_as_exact_as_a_division() {
        for (general, special) in (0..256).map(|ages| (ages / 16, ages % 16)) {
            let (weight, special_weight) = (WEIGHT[general], WEIGHT[special] * SPECIAL);
            let weights = weight + special_weight;
            for quotient in 0..65536 {
                // The product is least exact just below a multiple of the divisor.
                for sum in [quotient * weights, quotient * weights + weights - 1] {
                    let product = u64::from(sum) * MIX[general][special].reciprocal;
                    assert_eq!(product >> RECIPROCAL_SHIFT, u64::from(quotient));
                }
            }
            let probability = |p: u32, age: usize| Probability((p << 4) as u16 | age as u16);
            for (p, q) in [(0, 0), (4095, 4095), (0, 4095), (4095, 0), (1234, 3210)] {
                let mixed = mix(probability(p, general), probability(q, special));
                assert_eq!(mixed, (((p * weight + q * special_weight) << 4) / weights) | 8);
            }
        }
    }

    #[test]
    fn probabilities_move_by_their_distance_from_the_outcome() {
        for bits in 0..=u16::MAX {
            let (p, age) = (i32::from(bits >> 4), bits & 15);
            for (bit, target) in [(false, 0), (true, 4095)] {
                // Division rounds towards zero.
                let moved = p + (target - p) * RATE[usize::from(age)] as i32 / 65536;
                let expected = Probability((moved as u16) << 4 | (age + 1).min(15));
                assert_eq!(Probability(bits).adapted(bit), expected);
            }
        }
    }

    #[test]
    fn probabilities_stay_inside() {
        for bit in [false, true] {
            let mut model = Probability::EVEN;
            for _ in 0..1000 {
                model.adapt(bit);
                let p = model.for_coder();
                assert!(p > 0 && p < 65536);
            }
            assert_eq!(model.age(), 15);
            let sure = if bit { 4095 - model.p() } else { model.p() };
            assert!(sure < 40, "a settled decision must be nearly free: {sure}");
        }
    }
}
