//! The control part of a packet: requests to all models, the encoder's and those of decoders,
//! besides learning the messages. (A model is all that one end has learned; all ends have equal
//! models.) Each model does what is requested right after it has learned the packet, so that all do
//! it at the same point of the stream.

use crate::error::DecodeError;
use crate::hash::hash;
use crate::pass::Pass;
use crate::range_coder::Coder;

/// The control part of a packet. It is empty in most packets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Control {
    /// Whether to compact the model: to make it small by rounding and forgetting.
    pub(crate) compact: bool,
}

/// Bytes that every packet which waits to be learned counts for its control part, including
/// requests of later versions. When memory is short, what is learned depends on this count, and so
/// do the packets; both ends must use the same.
pub(crate) const RESERVED: usize = 16;

const CONTEXT: u32 = 0xc047;

impl Control {
    pub(crate) fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// Mixes the control part into `chain`, a hash of all that was learned. An empty one leaves the
    /// hash as it is.
    pub(crate) fn chain(self, chain: u32) -> u32 {
        if self.is_empty() {
            return chain;
        }
        // The last two numbers are reserved.
        let numbers = [CONTEXT, u32::from(self.compact), 0, 0];
        numbers.into_iter().fold(chain, hash)
    }

    /// Codes the control part: writes it in the encoder, reads it in the decoder.
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
        // Two more bits are reserved and must be zero.
        if pass.bit(row, 1, false) || pass.bit(row, 2, false) {
            return Err(DecodeError::Malformed);
        }
        Ok(Self { compact })
    }
}
