//! Brotli: smaller than zlib for text on the web, by its built-in dictionary of frequent words.

mod pool;

use alloc::boxed::Box;
use alloc::vec::Vec;

use brotli::enc::encode::BrotliEncoderOperation::BROTLI_OPERATION_FINISH;
use brotli::enc::encode::BrotliEncoderParameter::{
    BROTLI_PARAM_LGWIN, BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT,
};
use brotli::enc::encode::{BrotliEncoderDestroyInstance, BrotliEncoderStateStruct};
use brotli::{BrotliDecompressStream, BrotliResult, BrotliState};

use self::pool::{Pool, PoolAllocator};
use crate::output::Output;
use crate::{Codec, CodecError, Coder, Levels, Memory, Options, OptionsError};

/// One brotli stream (RFC 7932), with a window sized to the message. Streams with a large window
/// are refused.
///
/// The coder keeps up to 2 MiB of memory. For messages of up to 64 KiB compression takes at most 8
/// MiB, mostly tables of fixed size: for 1400 bytes 0.6 MiB at level 4, 1.1 MiB at 5, 2.1 MiB from
/// 6 to 9, which are the same for messages, and 1.5 MiB from 10. Decompression takes twice the
/// length of the original, 64 KiB and what its Huffman trees claim, at most 4 MiB.
///
/// It takes no dictionary: with one the crate's encoder fails on short messages.
#[derive(Debug, Clone, Copy)]
pub struct Brotli;

/// At level 5 messages are much smaller than at 4; the next gain is at level 10, which takes 30
/// times as long (measured by `benches/levels.rs`).
const LEVELS: Levels = Levels { min: 0, max: 11, default: 5 };

impl Codec for Brotli {
    fn name(&self) -> &'static str {
        "brotli"
    }

    fn number(&self) -> u8 {
        8
    }

    fn levels(&self) -> Option<Levels> {
        Some(LEVELS)
    }

    fn coder(&self, options: &Options<'_>) -> Result<Box<dyn Coder>, OptionsError> {
        let level = LEVELS.pick(self.name(), options.level)?;
        options.expect_no_dictionary(self.name())?;
        Ok(Box::new(BrotliCoder {
            level,
            compress: Pool::default(),
            bytes: Pool::default(),
            maps: Pool::default(),
            trees: Pool::default(),
        }))
    }
}

struct BrotliCoder {
    level: i8,
    /// Memory for compression.
    compress: Pool,
    /// Memory for decompression: bytes, above all the window.
    bytes: Pool,
    /// Memory for decompression: the offsets of Huffman trees.
    maps: Pool,
    /// Memory for decompression: Huffman trees.
    trees: Pool,
}

/// A window of logarithm n holds 2^n less this many bytes (RFC 7932, section 9.1).
const WINDOW_GAP: usize = 16;

/// For messages up to this size the levels 7 to 9 equal level 6. Bytes.
const LARGE: usize = 64 << 10;

/// The encoder's quality and the logarithm of its window, for a message of `bytes` bytes.
fn parameters(level: i8, bytes: usize) -> (u32, u32) {
    let quality = match level {
        // The tables of levels 7 to 9 take 8 to 33 MB, and the results are not smaller.
        7..=9 if bytes <= LARGE => 6,
        level => u32::from(level.unsigned_abs()),
    };
    // The header codes a window of 2^16 in one bit, others in four or seven. But at these levels
    // the crate would take 33 MB for a window of 2^16.
    let least = if (5..=9).contains(&quality) { 18 } else { 16 };
    (quality, (bytes + WINDOW_GAP).next_power_of_two().ilog2().clamp(least, 22))
}

impl Coder for BrotliCoder {
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) {
        let (quality, window) = parameters(self.level, input.len());
        let mut encoder = BrotliEncoderStateStruct::new(PoolAllocator(&mut self.compress));
        encoder.set_parameter(BROTLI_PARAM_QUALITY, quality);
        encoder.set_parameter(BROTLI_PARAM_LGWIN, window);
        encoder.set_parameter(BROTLI_PARAM_SIZE_HINT, input.len() as u32);
        let (mut rest, mut from) = (input.len(), 0);
        loop {
            let mut none = 0;
            let taken = encoder.compress_stream(
                BROTLI_OPERATION_FINISH,
                &mut rest,
                input,
                &mut from,
                &mut none,
                &mut [],
                &mut 0,
                &mut None,
                &mut |_, _, _, _| (),
            );
            assert!(taken, "an encoder that is finished once is always in sequence");
            // Asked for 0 bytes, `take_output` returns all there are and their number.
            let output = encoder.take_output(&mut none);
            out.extend_from_slice(&output[..none]);
            if encoder.is_finished() {
                break;
            }
        }
        BrotliEncoderDestroyInstance(&mut encoder);
        drop(encoder);
        self.compress.shrink();
    }

    fn decompress(
        &mut self,
        input: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), CodecError> {
        let mut output = Output::new(out, input.len(), limit);
        self.bytes.allow(limit);
        let mut decoder = BrotliState::new_strict(
            PoolAllocator(&mut self.bytes),
            PoolAllocator(&mut self.maps),
            PoolAllocator(&mut self.trees),
        );
        let whole = read(&mut decoder, input, &mut output);
        drop(decoder);
        let refused = self.bytes.refused();
        for pool in [&mut self.bytes, &mut self.maps, &mut self.trees] {
            pool.shrink();
        }
        // The decoder sizes its window by the original, so a refused window means an original that
        // is too large.
        output.finish(if refused { Err(CodecError::TooLarge) } else { whole })
    }

    fn memory(&self) -> Memory {
        let pools = [&self.bytes, &self.maps, &self.trees];
        Memory {
            compress: self.compress.memory(),
            decompress: pools.map(Pool::memory).iter().sum(),
        }
    }
}

fn read(
    decoder: &mut BrotliState<PoolAllocator<'_>, PoolAllocator<'_>, PoolAllocator<'_>>,
    input: &[u8],
    output: &mut Output<'_>,
) -> Result<(), CodecError> {
    let (mut rest, mut from) = (input.len(), 0);
    loop {
        let free = output.free();
        if free.is_empty() {
            return Err(CodecError::TooLarge);
        }
        let (mut left, mut written) = (free.len(), 0);
        let result = BrotliDecompressStream(
            &mut rest,
            &mut from,
            input,
            &mut left,
            &mut written,
            free,
            &mut 0,
            decoder,
        );
        output.advance(written);
        match result {
            BrotliResult::ResultSuccess if rest == 0 => return Ok(()),
            BrotliResult::NeedsMoreOutput => {}
            _ => return Err(CodecError::Malformed),
        }
    }
}
