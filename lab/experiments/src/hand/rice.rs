//! Rice codes whose parameter adapts to the numbers.

use super::Error;
use super::bits::Bits;

/// The statistics of numbers of one kind: their mean size, from which the parameter follows as in
/// LOCO-I (Weinberger, Seroussi and Sapiro, 2000).
#[derive(Clone, Copy)]
pub(super) struct Rice {
    sum: u64,
    count: u64,
}

/// After this number of values, the sum and the count are halved, so that older values weigh less.
const MEMORY: u64 = 32;
/// The most that one number adds to the sum: a pause of minutes must not spoil the codes of
/// milliseconds.
const MOST: u64 = 4000;
/// The number of ones in the unary part from which on the value itself follows, with its length.
const ESCAPE: u64 = 20;

impl Rice {
    /// Begins with a mean for numbers of this size.
    pub(super) const fn new(mean: u64) -> Self {
        Self { sum: 4 * mean, count: 4 }
    }

    /// Codes a number of 64 bits that is near the prediction.
    pub(super) fn code(
        &mut self,
        bits: &mut impl Bits,
        predicted: u64,
        value: &mut u64,
    ) -> Result<(), Error> {
        let mut folded = fold(value.wrapping_sub(predicted) as i64);
        self.code_size(bits, &mut folded)?;
        *value = predicted.wrapping_add(unfold(folded) as u64);
        Ok(())
    }

    /// Codes a small number that is not negative.
    pub(super) fn code_size(&mut self, bits: &mut impl Bits, value: &mut u64) -> Result<(), Error> {
        let parameter = (self.sum / self.count).checked_ilog2().unwrap_or(0);
        let mut high = (*value >> parameter).min(ESCAPE);
        bits.ones(&mut high)?;
        let mut width = parameter;
        if high >= ESCAPE {
            let mut length = u64::from(63 - value.leading_zeros().min(63));
            bits.bits(6, &mut length)?;
            width = length as u32 + 1;
            high = 0;
        }
        let mut low = if width < 64 { *value & ((1 << width) - 1) } else { *value };
        bits.bits(width, &mut low)?;
        *value = if width < 64 { high << width | low } else { low };
        self.learn(*value);
        Ok(())
    }

    fn learn(&mut self, value: u64) {
        self.sum += value.min(MOST);
        self.count += 1;
        if self.count > MEMORY {
            self.sum /= 2;
            self.count /= 2;
        }
    }
}

/// Maps 0, -1, 1, -2, 2 ... to 0, 1, 2, 3, 4 ...
fn fold(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

fn unfold(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::bits::{Reader, Writer};
    use super::*;

    #[test]
    fn small_numbers_get_short_codes() {
        let mut out = Vec::new();
        let mut bits = Writer::new(&mut out);
        let mut rice = Rice::new(100);
        for number in 0..800_u64 {
            rice.code(&mut bits, 1000, &mut (1000 + number % 2)).unwrap();
        }
        // The codes have one and three bits in turn, after some longer ones at the start.
        assert!((200..230).contains(&out.len()), "{}", out.len());
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(values in prop::collection::vec((any::<u64>(), 0_u32..64), 0..100)) {
            let values: Vec<_> = values.into_iter().map(|(value, shift)| value >> shift).collect();
            let mut out = Vec::new();
            let (mut bits, mut rice) = (Writer::new(&mut out), Rice::new(8));
            for value in &values {
                rice.code(&mut bits, 77, &mut value.clone()).unwrap();
                rice.code_size(&mut bits, &mut value.clone()).unwrap();
            }
            let (mut bits, mut rice) = (Reader::new(&out), Rice::new(8));
            for value in values {
                let (mut one, mut two) = (0, 0);
                rice.code(&mut bits, 77, &mut one).unwrap();
                rice.code_size(&mut bits, &mut two).unwrap();
                prop_assert_eq!((one, two), (value, value));
            }
        }
    }
}
