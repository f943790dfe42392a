//! The name of the epoch in front of a packet. It is coded without any model, since it says which.

use crate::control;
use crate::datagram::number;
use crate::error::DecodeError;
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

/// A decoder goes no further than this with its acknowledgements before it sees one of them named.
/// The other names are for packets that come late.
pub(crate) const INDEX_AHEAD: u32 = 1 << (INDEX_BITS - 1);

/// The empty model is rare: it is named in front of the first packets only.
const EMPTY: u32 = 65536 / 64;
const EVEN: u32 = 1 << 15;
/// Few sessions change their memory.
const LESS: u32 = 65536 / 64;

impl Name {
    pub(crate) fn index(index: u32) -> Self {
        Self::Index(index & ((1 << INDEX_BITS) - 1))
    }

    pub(crate) fn number(epoch: u32) -> Self {
        Self::Number(epoch & ((1 << NUMBER_BITS) - 1))
    }

    pub(crate) fn empty(base: u32) -> Self {
        Self::Empty(base & ((1 << NUMBER_BITS) - 1))
    }

    /// The index or number that is meant if `current` is the newest one named so far.
    pub(crate) fn resolve(self, current: u32) -> u32 {
        match self {
            Self::Index(low) => {
                number::first_from(current.wrapping_sub(INDEX_AHEAD - 1), low, INDEX_BITS)
            }
            Self::Number(low) | Self::Empty(low) => number::nearest(current, low, NUMBER_BITS),
        }
    }

    /// Codes a name. To a single decoder epochs have indices.
    pub(crate) fn code<C: Coder + ?Sized>(self, coder: &mut C, is_single: bool) -> Self {
        if coder.bit(EMPTY, matches!(self, Self::Empty(_))) {
            Self::Empty(code_bits(coder, NUMBER_BITS, self.low()))
        } else if is_single {
            Self::Index(code_bits(coder, INDEX_BITS, self.low()))
        } else {
            Self::Number(code_bits(coder, NUMBER_BITS, self.low()))
        }
    }

    /// Codes the memory of the empty model, which is mostly all that both ends allow; of other models
    /// it is known.
    pub(crate) fn code_memory<C: Coder + ?Sized>(
        self,
        coder: &mut C,
        memory_max: usize,
        given: usize,
    ) -> Result<usize, DecodeError> {
        if !matches!(self, Self::Empty(_)) || !coder.bit(LESS, given != memory_max) {
            return Ok(memory_max);
        }
        let memory = control::code_memory(coder, given as u32)? as usize;
        if memory < memory_max { Ok(memory) } else { Err(DecodeError::Malformed) }
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
            let near = current.wrapping_add_signed(away);
            prop_assert_eq!(Name::index(near).resolve(current), near);
            let far = current.wrapping_add_signed(far);
            prop_assert_eq!(Name::number(far).resolve(current), far);
            prop_assert_eq!(Name::empty(far).resolve(current), far);
        }
    }
}
