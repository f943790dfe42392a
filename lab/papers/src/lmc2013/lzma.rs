//! LZMA with the settings of Table 7 (section 8.2.4).

use groupwire_codecs::{Codec, CodecError, Coder, Memory, Options, OptionsError};
use lzma_rust2::{EncodeMode, LzmaOptions, LzmaReader, LzmaWriter, MfType, Read, Write};

/// A stream of LZMA1 behind its five bytes of properties, with an end mark.
///
/// Table 7: dictionary 65,536 bytes, lc 3, lp 0, pb 2, algo 0 (fast), fb 32, a binary tree (btMode
/// 2) with at most 32 steps (mc), an end mark, one thread. Its binary tree hashes two bytes
/// (numHashBytes 2), that of the crate here four, so it finds no matches of two or three bytes that
/// way; the crate looks for these in tables of their own.
#[derive(Debug, Clone, Copy)]
pub(super) struct LzmaTable7;

const DICTIONARY: u32 = 65_536;
const LC: u32 = 3;
const LP: u32 = 0;
const PB: u32 = 2;
/// Bytes of properties before the stream: lc, lp and pb in one, and the size of the dictionary.
const PROPERTIES: usize = 5;

impl Codec for LzmaTable7 {
    fn name(&self) -> &'static str {
        "lzma"
    }

    fn number(&self) -> u8 {
        10
    }

    fn coder(&self, _: &Options<'_>) -> Result<Box<dyn Coder>, OptionsError> {
        Ok(Box::new(LzmaCoder { memory: Memory::default() }))
    }
}

struct LzmaCoder {
    memory: Memory,
}

impl Coder for LzmaCoder {
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) {
        let options = LzmaOptions {
            dict_size: DICTIONARY,
            lc: LC,
            lp: LP,
            pb: PB,
            mode: EncodeMode::Fast,
            nice_len: 32,
            mf: MfType::Bt4,
            depth_limit: 32,
            preset_dict: None,
        };
        self.memory.compress = (options.get_memory_usage() as usize) << 10;
        out.push((PB * 5 + LP) as u8 * 9 + LC as u8);
        out.extend(DICTIONARY.to_le_bytes());
        LzmaWriter::new_no_header(out, &options, true)
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
        let start = out.len();
        let whole = read(input, limit, out);
        if whole.is_none() {
            out.truncate(start);
        }
        let memory = lzma_rust2::lzma_get_memory_usage(DICTIONARY, LC, LP).unwrap_or(0) as usize;
        self.memory.decompress = memory << 10;
        whole.ok_or(CodecError::Malformed)
    }

    fn memory(&self) -> Memory {
        self.memory
    }
}

/// Appends the original to `out`. `None` if the stream is malformed or its original too long.
fn read(input: &[u8], limit: usize, out: &mut Vec<u8>) -> Option<()> {
    let (properties, stream) = input.split_first_chunk::<PROPERTIES>()?;
    let dictionary =
        u32::from_le_bytes([properties[1], properties[2], properties[3], properties[4]]);
    if dictionary != DICTIONARY {
        return None;
    }
    let size = u64::MAX; // the end mark says where the original ends
    let reader = LzmaReader::new_with_props(stream, size, properties[0], dictionary, None);
    let mut reader = reader.ok()?;
    let end = out.len() + limit;
    loop {
        let mut part = [0; 4096];
        match reader.read(&mut part) {
            Ok(0) => return Some(()),
            Ok(count) if out.len() + count <= end => out.extend_from_slice(&part[..count]),
            _ => return None,
        }
    }
}
