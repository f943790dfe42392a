//! No compression.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::{Codec, CodecError, Coder, Options, OptionsError};

/// Copies its input.
#[derive(Debug, Clone, Copy)]
pub struct Plain;

impl Codec for Plain {
    fn name(&self) -> &'static str {
        "none"
    }

    fn number(&self) -> u8 {
        0
    }

    fn coder(&self, options: &Options<'_>) -> Result<Box<dyn Coder>, OptionsError> {
        options.expect_none(self.name())?;
        Ok(Box::new(Plain))
    }
}

impl Coder for Plain {
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(input);
    }

    fn decompress(
        &mut self,
        input: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), CodecError> {
        if input.len() > limit {
            return Err(CodecError::TooLarge);
        }
        out.extend_from_slice(input);
        Ok(())
    }
}
