//! The name of an epoch at the start of a packet. An epoch is a version of the model (all that was
//! learned) that both ends are known to have; the packet is coded under it. The name is coded
//! without the model, since it tells which version is used.
//!
//! Each epoch belongs to a packet, the newest one that this version has learned, and is made by an
//! acknowledgement of that packet. The empty model is an epoch too. To "code" is to write in the
//! encoder and to read in the decoder.

use crate::datagram::acknowledgement::AckIndex;
use crate::error::DecodeError;
use crate::packet_number::PacketNumber;
use crate::range_coder::Coder;

/// The name of an epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name {
    /// With a single decoder: the low [`INDEX_BITS`] of the index of the acknowledgement that made
    /// the epoch.
    Index(u32),
    /// With many decoders: the low [`NUMBER_BITS`] of the number of the epoch's packet.
    Number(u32),
    /// The empty model: the low [`NUMBER_BITS`] of the number before the first packet that it
    /// learns.
    Empty(u32),
}

const INDEX_BITS: u32 = 5;
pub(crate) const NUMBER_BITS: u32 = 16;

/// The most acknowledgements that a decoder makes before a packet names an epoch of one of them:
/// half of the indices that [`INDEX_BITS`] bits can distinguish. The other half is for older
/// epochs, which late packets name.
pub(crate) const INDEX_AHEAD: u32 = 1 << (INDEX_BITS - 1);

/// The probability that a packet names the empty model, in 1/65536. Only the first packets of a
/// model do.
const EMPTY: u32 = 65536 / 64;
/// The probability of one half, in 1/65536, for bits that nothing predicts.
const EVEN: u32 = 1 << 15;
/// The probability that the reserved bit after the name of the empty model is set, in 1/65536. It
/// never is.
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

    /// The full index for this name, if `current` is the newest index that was named so far. With
    /// many decoders the name has a packet number, which serves as an index: there an index only
    /// has to differ from earlier ones.
    pub(crate) fn index_near(self, current: AckIndex) -> AckIndex {
        match self {
            Self::Index(low) => current.first_from(INDEX_AHEAD - 1, low, INDEX_BITS),
            Self::Number(low) | Self::Empty(low) => current.nearest(low, NUMBER_BITS),
        }
    }

    /// The full packet number for this name, if `current` is the newest number that was named so
    /// far.
    pub(crate) fn number_near(self, current: PacketNumber) -> PacketNumber {
        debug_assert!(!matches!(self, Self::Index(_)), "an index is no number");
        current.nearest(self.low(), NUMBER_BITS)
    }

    /// Codes a name. `is_single` says that there is a single decoder, for which names have indices.
    pub(crate) fn code<C: Coder + ?Sized>(self, coder: &mut C, is_single: bool) -> Self {
        if coder.bit(EMPTY, matches!(self, Self::Empty(_))) {
            Self::Empty(code_bits(coder, NUMBER_BITS, self.low()))
        } else if is_single {
            Self::Index(code_bits(coder, INDEX_BITS, self.low()))
        } else {
            Self::Number(code_bits(coder, NUMBER_BITS, self.low()))
        }
    }

    /// Codes the reserved bit, which is not set, after the name of the empty model. After other
    /// names it codes nothing.
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
