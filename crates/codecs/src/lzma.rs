//! LZMA: the smallest results for text, and the slowest codec.

use alloc::boxed::Box;
use alloc::vec::Vec;

use lzma_rust2::{LzmaOptions, LzmaReader, LzmaWriter, Read, Write};

use crate::{Codec, CodecError, Coder, Levels, Memory, Options, OptionsError, length};

/// The length of the original as a LEB128 number, then a raw LZMA1 stream with `lc=3,lp=0,pb=2` (as
/// in `.lzma` files, without their header and without an end marker). LZMA's dictionary size is the
/// length of the original and of the given dictionary, at least 4 KiB.
///
/// The crate cannot keep its memory between messages, so every message pays for the set-up. For
/// messages of up to 64 KiB compression takes at most 2.5 MiB, mostly tables of fixed size of which
/// a short message touches little. Decompression takes the length of the original and 128 KiB.
#[derive(Debug, Clone, Copy)]
pub struct Lzma;

/// Beyond level 4 messages get no smaller (measured by `benches/levels.rs`).
const LEVELS: Levels = Levels { min: 0, max: 9, default: 1 };

/// Context bits for literals: the high bits of the previous byte (`LC`), the low bits of the
/// position (`LP`); and for matches the low bits of the position (`PB`). These are LZMA's defaults.
const LC: u32 = 3;
const LP: u32 = 0;
const PB: u32 = 2;

impl Codec for Lzma {
    fn name(&self) -> &'static str {
        "lzma"
    }

    fn number(&self) -> u8 {
        10
    }

    fn levels(&self) -> Option<Levels> {
        Some(LEVELS)
    }

    fn takes_dictionary(&self) -> bool {
        true
    }

    fn coder(&self, options: &Options<'_>) -> Result<Box<dyn Coder>, OptionsError> {
        let level = LEVELS.pick(self.name(), options.level)?;
        let dictionary = options.dictionary.into();
        Ok(Box::new(LzmaCoder { level, dictionary, memory: Memory::default() }))
    }
}

struct LzmaCoder {
    level: i8,
    dictionary: Box<[u8]>,
    /// The most memory taken so far, by the crate's estimate.
    memory: Memory,
}

/// The smallest dictionary size of LZMA.
const LEAST_DICTIONARY: usize = 4096;

impl LzmaCoder {
    /// LZMA's dictionary size for an original of this length.
    fn history(&self, length: usize) -> u32 {
        let wanted = length.saturating_add(self.dictionary.len()).max(LEAST_DICTIONARY);
        u32::try_from(wanted).unwrap_or(u32::MAX)
    }

    /// The given dictionary, if there is one.
    fn preset(&self) -> Option<&[u8]> {
        (!self.dictionary.is_empty()).then_some(&self.dictionary)
    }
}

impl Coder for LzmaCoder {
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) {
        length::write(input.len(), out);
        let mut options = LzmaOptions::with_preset(u32::from(self.level.unsigned_abs()));
        (options.lc, options.lp, options.pb) = (LC, LP, PB);
        options.dict_size = self.history(input.len()).min(options.dict_size);
        options.preset_dict = self.preset().map(<[u8]>::to_vec);
        let memory = (options.get_memory_usage() as usize) << 10;
        self.memory.compress = self.memory.compress.max(memory);
        LzmaWriter::new_no_header(out, &options, false)
            .and_then(|mut writer| {
                writer.write_all(input)?;
                writer.finish().map(|_| ())
            })
            .expect("the options are the crate's own, and a vector takes what is written to it");
    }

    fn decompress(
        &mut self,
        input: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), CodecError> {
        let (length, stream) = length::read(input, limit)?;
        let history = self.history(length);
        let memory = lzma_rust2::lzma_get_memory_usage(history, LC, LP).unwrap_or(0) as usize;
        self.memory.decompress = self.memory.decompress.max(memory << 10);
        let start = out.len();
        // One byte more than the original: a read into an empty slice would not find the end.
        out.resize(start + length + 1, 0);
        let whole = read(stream, &mut out[start..], history, self.preset());
        out.truncate(start + if whole.is_some() { length } else { 0 });
        whole.ok_or(CodecError::Malformed)
    }

    fn memory(&self) -> Memory {
        let preset = self.dictionary.len();
        Memory { compress: self.memory.compress, decompress: self.memory.decompress + preset }
    }
}

/// Decodes an original into `out`, which is one byte longer than the original. `None` if the stream
/// is malformed.
fn read(stream: &[u8], out: &mut [u8], history: u32, preset: Option<&[u8]>) -> Option<()> {
    let length = out.len() - 1;
    let mut reader = LzmaReader::new(stream, length as u64, LC, LP, PB, history, preset).ok()?;
    reader.set_relaxed_end_condition(false);
    let mut done = 0;
    loop {
        match reader.read(&mut out[done..]) {
            Ok(0) => break,
            Ok(read) => done += read,
            Err(_) => return None,
        }
        if done > length {
            return None;
        }
    }
    let (rest, unread) = reader.into_parts();
    (done == length && rest.is_empty() && unread.is_empty()).then_some(())
}
