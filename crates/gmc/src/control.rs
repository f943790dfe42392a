//! The control part of a packet: what the encoder asks all models, its own and those of decoders, to do besides
//! learning messages. Each model obeys right after it has learned the packet, so that all models do it at the same
//! point of the stream.

use crate::error::DecodeError;
use crate::hash::hash;
use crate::pass::Pass;
use crate::range_coder::Coder;

/// The control part of a packet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Control {
    /// Whether to compact the model.
    pub(crate) compact: bool,
}

/// Bytes that a packet which waits to be learned counts for the reserved fields of its control part. When memory is short,
/// what is learned depends on this count, and so do the packets.
pub(crate) const RESERVED: usize = 16;

const CONTEXT: u32 = 0xc047;

impl Control {
    pub(crate) fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// Mixes a control part that is not empty into a hash.
    pub(crate) fn chain(self, chain: u32) -> u32 {
        if self.is_empty() {
            return chain;
        }
        // The last two are reserved.
        let numbers = [CONTEXT, u32::from(self.compact), 0, 0];
        numbers.into_iter().fold(chain, hash)
    }

    /// Codes the control part.
    pub(crate) fn code<C: Coder + ?Sized>(
        self,
        pass: &mut Pass<'_, C>,
    ) -> Result<Self, DecodeError> {
        let row = pass.single(CONTEXT);
        if !pass.bit(row, 0, !self.is_empty()) {
            return Ok(Self::default());
        }
        let row = pass.single(hash(CONTEXT, 1));
        let compact = pass.bit(row, 0, self.compact);
        if compact && !cfg!(feature = "snapshots") {
            return Err(DecodeError::Malformed);
        }
        // Two more bits are reserved.
        if pass.bit(row, 1, false) || pass.bit(row, 2, false) {
            return Err(DecodeError::Malformed);
        }
        Ok(Self { compact })
    }
}
