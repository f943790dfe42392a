//! Snappy: as fast as LZ4, for peers that have no LZ4.

use alloc::boxed::Box;
use alloc::vec::Vec;

use snap::raw::{Decoder, Encoder, decompress_len, max_compress_len};

use crate::{Codec, CodecError, Coder, Memory, Options, OptionsError};

/// A raw snappy block; its format states the length of the original.
///
/// The coder keeps its tables: 2 KiB, and 34 KiB from the first message above 1 KiB on.
/// Decompression takes no memory.
#[derive(Debug, Clone, Copy)]
pub struct Snappy;

impl Codec for Snappy {
    fn name(&self) -> &'static str {
        "snappy"
    }

    fn number(&self) -> u8 {
        3
    }

    fn coder(&self, options: &Options<'_>) -> Result<Box<dyn Coder>, OptionsError> {
        options.expect_none(self.name())?;
        Ok(Box::new(SnappyCoder { encoder: None, longest: 0 }))
    }
}

struct SnappyCoder {
    encoder: Option<Encoder>,
    /// Length of the longest message so far, bytes.
    longest: usize,
}

/// The crate allocates its large table for messages above this length. Bytes.
const SMALL: usize = 1024;
/// The size of that table, bytes: 2^14 entries of two bytes.
const LARGE_TABLE: usize = 2 << 14;

impl Coder for SnappyCoder {
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) {
        self.longest = self.longest.max(input.len());
        let start = out.len();
        out.resize(start + max_compress_len(input.len()), 0);
        let encoder = self.encoder.get_or_insert_with(Encoder::new);
        let written = encoder
            .compress(input, &mut out[start..])
            .expect("the buffer has the codec's own maximum output size, and 4 GiB are no message");
        out.truncate(start + written);
    }

    fn decompress(
        &mut self,
        input: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), CodecError> {
        let length = decompress_len(input).map_err(|_| CodecError::Malformed)?;
        if length > limit {
            return Err(CodecError::TooLarge);
        }
        let start = out.len();
        out.resize(start + length, 0);
        match Decoder::new().decompress(input, &mut out[start..]) {
            Ok(written) if written == length => Ok(()),
            _ => {
                out.truncate(start);
                Err(CodecError::Malformed)
            }
        }
    }

    fn memory(&self) -> Memory {
        let large = if self.longest > SMALL { LARGE_TABLE } else { 0 };
        let compress = self.encoder.as_ref().map_or(0, |_| size_of::<Encoder>() + large);
        Memory { compress, decompress: 0 }
    }
}
