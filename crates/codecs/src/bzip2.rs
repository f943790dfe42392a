//! Bzip2: made for large blocks; included because the LMC paper measured it.

use alloc::boxed::Box;
use alloc::vec::Vec;

use bzip2::{Action, Compress, Compression, Decompress, Status};

use crate::output::Output;
use crate::{Codec, CodecError, Coder, Levels, Memory, Options, OptionsError};

/// A bzip2 stream, in the format of `.bz2` files.
///
/// The crate cannot keep its memory between messages, so every message pays for the set-up.
/// Compression takes 400 KiB and eight bytes for each byte of a block (100,000 times the level):
/// 1.2 MB at level 1, 7.6 MB at level 9. Decompression takes 100 KiB and four bytes for each byte
/// of a block of the sender's level: 0.5 MB to 3.7 MB. A short message touches little of it.
#[derive(Debug, Clone, Copy)]
pub struct Bzip2;

/// The level is the size of a block, and most messages are smaller than the smallest block.
const LEVELS: Levels = Levels { min: 1, max: 9, default: 1 };

impl Codec for Bzip2 {
    fn name(&self) -> &'static str {
        "bzip2"
    }

    fn number(&self) -> u8 {
        9
    }

    fn levels(&self) -> Option<Levels> {
        Some(LEVELS)
    }

    fn coder(&self, options: &Options<'_>) -> Result<Box<dyn Coder>, OptionsError> {
        let level = LEVELS.pick(self.name(), options.level)?;
        options.expect_no_dictionary(self.name())?;
        let level = u32::from(level.unsigned_abs());
        Ok(Box::new(Bzip2Coder { level, memory: Memory::default() }))
    }
}

struct Bzip2Coder {
    level: u32,
    /// The most memory taken so far, by bzip2's documentation.
    memory: Memory,
}

/// Bytes of a block at level 1.
const BLOCK: usize = 100_000;

impl Coder for Bzip2Coder {
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) {
        self.memory.compress = (400 << 10) + 8 * BLOCK * self.level as usize;
        // The work factor is the crate's default.
        let mut compress = Compress::new(Compression::new(self.level), 0);
        // Incompressible input grows by at most 1 % and 600 bytes (bzip2's manual).
        out.reserve(input.len() + input.len() / 100 + 600);
        loop {
            let rest = &input[compress.total_in() as usize..];
            match compress.compress_vec(rest, out, Action::Finish) {
                Ok(Status::StreamEnd) => break,
                Ok(_) => out.reserve(1024),
                Err(_) => unreachable!("a stream that is finished once is always in sequence"),
            }
        }
    }

    fn decompress(
        &mut self,
        input: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), CodecError> {
        if let Some(level @ b'1'..=b'9') = input.get(3) {
            let memory = (100 << 10) + 4 * BLOCK * usize::from(level - b'0');
            self.memory.decompress = self.memory.decompress.max(memory);
        }
        let mut output = Output::new(out, input.len(), limit);
        let whole = read(input, &mut output);
        output.finish(whole)
    }

    fn memory(&self) -> Memory {
        self.memory
    }
}

fn read(input: &[u8], output: &mut Output<'_>) -> Result<(), CodecError> {
    let mut decompress = Decompress::new(false);
    loop {
        let before = (decompress.total_in(), decompress.total_out());
        let free = output.free();
        if free.is_empty() {
            return Err(CodecError::TooLarge);
        }
        let status = decompress.decompress(&input[before.0 as usize..], free);
        let after = (decompress.total_in(), decompress.total_out());
        output.advance((after.1 - before.1) as usize);
        match status {
            Ok(Status::StreamEnd) if after.0 as usize == input.len() => return Ok(()),
            Ok(Status::Ok) if after != before => {}
            _ => return Err(CodecError::Malformed),
        }
    }
}
