//! Reversible transformations of a message before it is compressed (LMC paper, section 5.3).

use alloc::vec::Vec;

use crate::CodecError;

/// A reversible transformation that makes some messages easier to compress.
///
/// The four deltas are the paper's relative encoding (section 5.3.9): if the numbers in a message
/// change little, their differences are mostly zeros. Each byte is replaced by its difference,
/// modulo 256, from the byte one stride before it; the first bytes stay as they are. The stride is
/// the size of the numbers, or of a record of numbers: `delta4` suits 32-bit samples, or 16-bit
/// samples of two channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Filter {
    /// The message unchanged.
    #[default]
    None,
    /// Differences from the previous byte.
    Delta1,
    /// Differences from the byte two places before.
    Delta2,
    /// Differences from the byte four places before.
    Delta4,
    /// Differences from the byte eight places before.
    Delta8,
}

impl Filter {
    /// Every filter, in the order of their numbers.
    pub const ALL: &'static [Filter] =
        &[Filter::None, Filter::Delta1, Filter::Delta2, Filter::Delta4, Filter::Delta8];

    /// The filter's name.
    pub fn name(self) -> &'static str {
        match self {
            Filter::None => "none",
            Filter::Delta1 => "delta1",
            Filter::Delta2 => "delta2",
            Filter::Delta4 => "delta4",
            Filter::Delta8 => "delta8",
        }
    }

    /// The filter's number on the wire, below 8.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// The filter with this number on the wire.
    pub fn by_number(number: u8) -> Option<Self> {
        Filter::ALL.get(usize::from(number)).copied()
    }

    /// The distance of the bytes that are subtracted; `None` for no transformation.
    fn stride(self) -> Option<usize> {
        match self {
            Filter::None => None,
            Filter::Delta1 => Some(1),
            Filter::Delta2 => Some(2),
            Filter::Delta4 => Some(4),
            Filter::Delta8 => Some(8),
        }
    }

    /// Appends the transformed `message`, which has the same length, to `out`.
    pub(crate) fn apply(self, message: &[u8], out: &mut Vec<u8>) {
        let unchanged = self.stride().unwrap_or(message.len()).min(message.len());
        out.extend_from_slice(&message[..unchanged]);
        let pairs = message[unchanged..].iter().zip(message);
        out.extend(pairs.map(|(byte, before)| byte.wrapping_sub(*before)));
    }

    /// Appends the original of `changed` to `out`, if it has at most `limit` bytes. On an error
    /// `out` is unchanged.
    pub(crate) fn undo(
        self,
        changed: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), CodecError> {
        if changed.len() > limit {
            return Err(CodecError::TooLarge);
        }
        let start = out.len();
        out.extend_from_slice(changed);
        let message = &mut out[start..];
        match self {
            Filter::None => {}
            Filter::Delta1 => add_up::<1>(message),
            Filter::Delta2 => add_up::<2>(message),
            Filter::Delta4 => add_up::<4>(message),
            Filter::Delta8 => add_up::<8>(message),
        }
        Ok(())
    }
}

/// Replaces each byte by its sum with the byte `STRIDE` places before it, from the front to the
/// back.
fn add_up<const STRIDE: usize>(bytes: &mut [u8]) {
    let mut before = [0u8; STRIDE];
    for record in bytes.chunks_mut(STRIDE) {
        for (byte, before) in record.iter_mut().zip(&mut before) {
            *byte = byte.wrapping_add(*before);
            *before = *byte;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn undo_reverses_apply(message: Vec<u8>) {
            for filter in Filter::ALL {
                let mut changed = vec![1];
                filter.apply(&message, &mut changed);
                prop_assert_eq!(changed.len() - 1, message.len());
                let mut out = vec![2];
                filter.undo(&changed[1..], message.len(), &mut out).unwrap();
                prop_assert_eq!((out[0], &out[1..]), (2, &message[..]));
            }
        }
    }

    #[test]
    fn steadily_growing_numbers_become_equal_differences() {
        let numbers: Vec<u8> =
            (1000u32..1010).flat_map(|number| (50 * number).to_le_bytes()).collect();
        let mut changed = Vec::new();
        Filter::Delta4.apply(&numbers, &mut changed);
        assert_eq!(changed[..12], [0x50, 0xc3, 0, 0, 50, 0, 0, 0, 50, 0, 0, 0]);
    }

    #[test]
    fn undo_keeps_the_limit() {
        for filter in Filter::ALL {
            let mut out = vec![3];
            assert_eq!(filter.undo(&[0; 10], 9, &mut out), Err(CodecError::TooLarge));
            assert_eq!(out, [3]);
            assert_eq!(filter.undo(&[0; 10], 10, &mut out), Ok(()));
        }
    }

    #[test]
    fn every_filter_is_found_by_its_number() {
        for filter in Filter::ALL {
            assert_eq!(Filter::by_number(filter.number()), Some(*filter));
        }
        assert_eq!(Filter::by_number(5), None);
    }
}
