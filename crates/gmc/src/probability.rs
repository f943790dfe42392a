//! Adaptive probabilities of yes-or-no decisions.

use crate::range_coder::Coder;

mod snapshot;

/// The probability that a decision is `true`, in the high twelve bits. The low four bits count the adaptations, since a
/// probability that was adapted rarely should move faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Probability(pub(crate) u16);

/// The step of the n-th adaptation: 65536 / (n + 1.6), falling to 1/30 of 65536. That is fast enough to follow a stream
/// that changes, and slow enough for a settled decision to cost about 0.01 bit.
const RATE: [i32; 16] = [
    40960, 25206, 18204, 14247, 11703, 9930, 8623, 7620, 6500, 5650, 4900, 4300, 3700, 3100, 2600,
    2184,
];

/// The weight of a probability that was adapted n times, when it is mixed with another probability of the same
/// decision: about 6 for each adaptation.
const WEIGHT: [u32; 16] = [1, 6, 12, 18, 24, 30, 36, 42, 50, 58, 66, 74, 82, 92, 102, 120];

impl Probability {
    pub(crate) const EVEN: Self = Self(0x8000);
    /// The start for a decision that is nearly always `true`: 127/128, as if it had been adapted nine times.
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
        let p = i32::from(self.0 >> 4);
        let age = self.age();
        let target = if bit { 4095 } else { 0 };
        let p = p + (target - p) * RATE[age] / 65536;
        self.0 = (p as u16) << 4 | (age as u16 + 1).min(15);
    }

    /// Codes a decision with this probability, which then adapts to the outcome. To "code" is to write in the encoder
    /// and to read in the decoder.
    #[inline]
    pub(crate) fn code<C: Coder + ?Sized>(&mut self, coder: &mut C, bit: bool) -> bool {
        let bit = coder.bit(self.for_coder(), bit);
        self.adapt(bit);
        bit
    }
}

impl Default for Probability {
    fn default() -> Self {
        Self::EVEN
    }
}

/// The probability of a decision, in 1/65536, from two probabilities: one for a general context (which learns fast) and
/// one for a special context. A context is a hash of what is known before the decision.
#[inline]
pub(crate) fn mix(general: Probability, special: Probability) -> u32 {
    let weight_general = WEIGHT[general.age()];
    // The special context predicts better as soon as it has learned anything, and therefore weighs three times as much.
    let weight_special = WEIGHT[special.age()] * 3;
    let p = ((general.p() * weight_general + special.p() * weight_special) << 4)
        / (weight_general + weight_special);
    p | 8
}

/// Codes a decision with its probabilities in a general and in a special context. Returns the decision, and both
/// probabilities after adaptation.
#[inline]
pub(crate) fn code_pair<C: Coder + ?Sized>(
    coder: &mut C,
    general: Probability,
    special: Probability,
    bit: bool,
) -> (bool, Probability, Probability) {
    let (mut general, mut special) = (general, special);
    let bit = coder.bit(mix(general, special), bit);
    general.adapt(bit);
    special.adapt(bit);
    (bit, general, special)
}

#[cfg(test)]
mod tests {
    use super::*;

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
