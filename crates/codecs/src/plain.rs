//! No compression: what is left when nothing helps.

use alloc::vec::Vec;

use crate::{Codec, CodecError};

/// Leaves bytes as they are.
#[derive(Debug, Clone, Copy)]
pub struct Plain;

impl Codec for Plain {
    fn name(&self) -> &'static str {
        "none"
    }

    fn number(&self) -> u8 {
        0
    }

    fn compress(&self, input: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(input);
    }

    fn decompress(&self, input: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
        if input.len() > limit {
            return Err(CodecError::TooLarge);
        }
        out.extend_from_slice(input);
        Ok(())
    }
}
