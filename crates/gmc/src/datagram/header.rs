//! The name of the epoch at the start of a packet. It is coded without a model, since it says which model is used.

use crate::datagram::acknowledgement::AckIndex;
use crate::error::DecodeError;
use crate::packet_number::PacketNumber;
use crate::range_coder::Coder;

/// How an epoch is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name {
    /// To a single decoder: the low [`INDEX_BITS`] of the acknowledgement's index.
    Index(u32),
    /// To many decoders: the low [`NUMBER_BITS`] of the epoch's packet number.
    Number(u32),
    /// The empty model, and the low [`NUMBER_BITS`] of the number before its first packet.
    Empty(u32),
}

const INDEX_BITS: u32 = 5;
pub(crate) const NUMBER_BITS: u32 = 16;

/// The most acknowledgements that a decoder makes before a packet names one of their epochs: half of the indices that
/// [`INDEX_BITS`] bits can distinguish. The other half is for epochs that late packets name.
pub(crate) const INDEX_AHEAD: u32 = 1 << (INDEX_BITS - 1);

/// The probability, in 1/65536, that the empty model is named: only the first packets of a model do.
const EMPTY: u32 = 65536 / 64;
/// The probability of a bit that nothing predicts.
const EVEN: u32 = 1 << 15;
/// The probability of the reserved bit behind the name of the empty model, which is never set.
const RESERVED: u32 = 65536 / 64;

impl Name {
    pub(crate) fn index(index: AckIndex) -> Self {
        Self::Index(index.low(INDEX_BITS))
    }

    pub(crate) fn number(epoch: PacketNumber) -> Self {
        Self::Number(epoch.low(NUMBER_BITS))
    }

    pub(crate) fn empty(base: PacketNumber) -> Self {
        Self::Empty(base.low(NUMBER_BITS))
    }

    /// The index with the low bits of this name, if `current` is the newest index that was named so far. In a room,
    /// where names have packet numbers, the number serves as an index: there an index only has to differ from earlier
    /// ones.
    pub(crate) fn index_near(self, current: AckIndex) -> AckIndex {
        match self {
            Self::Index(low) => current.first_from(INDEX_AHEAD - 1, low, INDEX_BITS),
            Self::Number(low) | Self::Empty(low) => current.nearest(low, NUMBER_BITS),
        }
    }

    /// The packet number with the low bits of this name, if `current` is the newest number that was named so far.
    pub(crate) fn number_near(self, current: PacketNumber) -> PacketNumber {
        debug_assert!(!matches!(self, Self::Index(_)), "an index is no number");
        current.nearest(self.low(), NUMBER_BITS)
    }

    /// Codes a name. `is_single` says that there is a single decoder, to which epochs are named by their indices.
    pub(crate) fn code<C: Coder + ?Sized>(self, coder: &mut C, is_single: bool) -> Self {
        if coder.bit(EMPTY, matches!(self, Self::Empty(_))) {
            Self::Empty(code_bits(coder, NUMBER_BITS, self.low()))
        } else if is_single {
            Self::Index(code_bits(coder, INDEX_BITS, self.low()))
        } else {
            Self::Number(code_bits(coder, NUMBER_BITS, self.low()))
        }
    }

    /// Codes a reserved bit, which is not set. For names other than the empty model's nothing is coded.
    pub(crate) fn code_reserved<C: Coder + ?Sized>(self, coder: &mut C) -> Result<(), DecodeError> {
        match matches!(self, Self::Empty(_)) && coder.bit(RESERVED, false) {
            true => Err(DecodeError::Malformed),
            false => Ok(()),
        }
    }

    fn low(self) -> u32 {
        match self {
            Self::Index(low) | Self::Number(low) | Self::Empty(low) => low,
        }
    }
}

fn code_bits<C: Coder + ?Sized>(coder: &mut C, bits: u32, given: u32) -> u32 {
    (0..bits)
        .rev()
        .fold(0, |value, shift| value << 1 | u32::from(coder.bit(EVEN, given >> shift & 1 == 1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn names_are_understood(current: u32, away in -15i32..17, far in -30000i32..30000) {
            let near = AckIndex::new(current.wrapping_add_signed(away));
            prop_assert_eq!(Name::index(near).index_near(AckIndex::new(current)), near);
            let far = PacketNumber::new(current.wrapping_add_signed(far));
            let current = PacketNumber::new(current);
            prop_assert_eq!(Name::number(far).number_near(current), far);
            prop_assert_eq!(Name::empty(far).number_near(current), far);
        }
    }
}
