//! LZ4 blocks, by Groupwire's own codec.

use groupwire_codecs::{Codec as _, Lz4 as Block};

use super::framed::Codec;
use crate::messages::technique::Failure;
use crate::trace::limits::MAX_MESSAGE;

/// Compresses each packet on its own.
pub(super) struct Lz4;

impl Codec for Lz4 {
    fn pack(&mut self, plain: &[u8], body: &mut Vec<u8>) -> Result<(), Failure> {
        Block.compress(plain, body);
        Ok(())
    }

    fn unpack(&mut self, body: &[u8], plain: &mut Vec<u8>) -> Result<(), Failure> {
        // Ten of the largest messages fill the largest packet.
        Block.decompress(body, 11 * MAX_MESSAGE, plain)?;
        Ok(())
    }
}
