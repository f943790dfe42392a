//! The control part of a packet: what the encoder asks all models, its own and those of decoders, to do besides
//! learning messages. Each model obeys right after it has learned the packet, so that all models do it at the same
//! point of the stream.

use crate::config::Config;
use crate::error::DecodeError;
use crate::hash::hash;
use crate::integer::{Contexts, code_unsigned};
use crate::pass::Pass;
use crate::range_coder::Coder;

/// The control part of a packet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Control {
    /// Whether to compact the model.
    pub(crate) compact: bool,
    /// The most templates to keep.
    pub(crate) templates_max: Option<u32>,
    /// Memory in bytes of a new, empty model that replaces the present one; on ordered links only. On other links this
    /// number follows the name of the empty model at the start of a packet.
    pub(crate) memory: Option<u32>,
}

const CONTEXT: u32 = 0xc047;
/// The number of bits of [`Config::MEMORY_MAX`].
const MEMORY_BITS: u32 = usize::BITS - Config::MEMORY_MAX.leading_zeros();

impl Control {
    pub(crate) fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// Mixes a control part that is not empty into a hash.
    pub(crate) fn chain(self, chain: u32) -> u32 {
        if self.is_empty() {
            return chain;
        }
        let some = |number: Option<u32>| number.map_or(0, |number| number.wrapping_add(1));
        let chain = hash(hash(chain, CONTEXT), u32::from(self.compact));
        hash(hash(chain, some(self.templates_max)), some(self.memory))
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
        let templates_max = if pass.bit(row, 1, self.templates_max.is_some()) {
            let contexts = Contexts::single(hash(CONTEXT, 2));
            let count = u64::from(self.templates_max.unwrap_or(0));
            let count = code_unsigned(pass, contexts, count);
            Some(u32::try_from(count).map_err(|_| DecodeError::Malformed)?)
        } else {
            None
        };
        let memory = if pass.bit(row, 2, self.memory.is_some()) {
            Some(code_memory(pass.coder, self.memory.unwrap_or(0))?)
        } else {
            None
        };
        Ok(Self { compact, templates_max, memory })
    }
}

/// Codes a number of bytes of memory with even probabilities, without any model.
pub(crate) fn code_memory<C: Coder + ?Sized>(
    coder: &mut C,
    given: u32,
) -> Result<u32, DecodeError> {
    let memory = (0..MEMORY_BITS).rev().fold(0, |value, shift| {
        value << 1 | u32::from(coder.bit(1 << 15, given >> shift & 1 == 1))
    });
    if (Config::MEMORY_MIN..=Config::MEMORY_MAX).contains(&(memory as usize)) {
        Ok(memory)
    } else {
        Err(DecodeError::Malformed)
    }
}
