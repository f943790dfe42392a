//! LZMA: the smallest for text, the slowest.

use alloc::boxed::Box;
use alloc::vec::Vec;

use lzma_rust2::{LzmaOptions, LzmaReader, LzmaWriter, Read, Write};

use crate::{Codec, CodecError, Coder, Levels, Memory, Options, OptionsError, length};

/// A raw LZMA1 stream (as of LZMA Utils' `.lzma`, without its header and without an end marker) after the length of the
/// original as a LEB128 number; `lc=3,lp=0,pb=2`. Its dictionary is as large as the original (and the dictionary given
/// before it), 4 KiB at least.
///
/// The crate can keep no memory between messages, so that every message pays for setting it up. For messages of up to
/// 64 KiB compression takes at most 2.5 MiB, mostly tables of fixed size of which a short message touches little.
/// Decompression takes the length of the original and 128 KiB.
#[derive(Debug, Clone, Copy)]
pub struct Lzma;

/// Beyond 4 a message gains nothing.
const LEVELS: Levels = Levels { min: 0, max: 9, default: 1 };

/// How many bytes of the last literal, how many bits of the place and of the place of a match are context: as always.
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
    /// The most that was taken.
    memory: Memory,
}

/// LZMA knows no smaller dictionary.
const LEAST_DICTIONARY: usize = 4096;

impl LzmaCoder {
    /// The size of LZMA's dictionary for an original of this length.
    fn history(&self, length: usize) -> u32 {
        let wanted = length.saturating_add(self.dictionary.len()).max(LEAST_DICTIONARY);
        u32::try_from(wanted).unwrap_or(u32::MAX)
    }

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
        // A vector takes whatever is written to it.
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
        // One byte more, as a reader is not asked for none.
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

/// Reads an original of one byte less than `out` has. `None`: there is something wrong with the stream.
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
