//! The coder by the crate `ruzstd`.

use alloc::boxed::Box;
use alloc::vec::Vec;
use std::io::{Cursor, Read, Write};

use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use ruzstd::encoding::{CompressionLevel, FrameCompressor, Matcher, Sequence};

use super::frame::{Frame, LARGEST_BLOCK, raw_block, write_header};
use crate::matches::{self, Base, Finder, MIN_MATCH, same};
use crate::{CodecError, Coder, Memory};

pub(super) struct RustCoder {
    dictionary: Box<[u8]>,
    compressor: Option<FrameCompressor<Cursor<Vec<u8>>, Vec<u8>, Window>>,
    decompressor: Option<FrameDecoder>,
    memory: Memory,
}

impl RustCoder {
    pub(super) fn new(dictionary: &[u8]) -> Self {
        let memory = Memory::default();
        RustCoder { dictionary: dictionary.into(), compressor: None, decompressor: None, memory }
    }
}

/// See [`compress_after`](crate::compress_after). The history is plain content, even if it begins
/// like a trained dictionary.
pub(crate) fn compress_after(_: i8, history: &[u8], input: &[u8], out: &mut Vec<u8>) {
    RustCoder::new(history).compress(input, out);
}

/// See [`decompress_after`](crate::decompress_after).
pub(crate) fn decompress_after(
    history: &[u8],
    input: &[u8],
    limit: usize,
    out: &mut Vec<u8>,
) -> Result<(), CodecError> {
    RustCoder::new(history).decompress(input, limit, out)
}

/// The length of the header that ruzstd writes: magic number, descriptor, window. It is replaced by
/// ours.
const RUZSTD_HEADER: usize = 6;

/// Memory of ruzstd for compression that does not depend on the message, rounded up: a block buffer
/// and tables.
const COMPRESS_FIXED: usize = 192 << 10;
/// Memory of ruzstd for decompression that does not depend on the message, rounded up.
const DECOMPRESS_FIXED: usize = 64 << 10;

impl Coder for RustCoder {
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) {
        let compressor = self.compressor.get_or_insert_with(|| {
            let window = Window::new(&self.dictionary);
            FrameCompressor::new_with_matcher(window, CompressionLevel::Fastest)
        });
        // ruzstd owns its input and output buffers; they are taken back for reuse.
        let mut source = compressor.take_source().unwrap_or_default().into_inner();
        source.clear();
        source.extend_from_slice(input);
        let mut drain = compressor.take_drain().unwrap_or_default();
        drain.clear();
        compressor.set_source(Cursor::new(source));
        compressor.set_drain(drain);
        let mut window = compressor.replace_matcher(Window::default());
        window.coming = input.len();
        compressor.replace_matcher(window);
        compressor.compress();
        // Our header states the length; ruzstd's does not.
        write_header(input.len(), out);
        let packed = compressor.drain().map_or(&[][..], |drain| &drain[RUZSTD_HEADER..]);
        out.extend_from_slice(packed);
        // The message, its copy in the window, a copy of a block, and the compressed form.
        let memory = COMPRESS_FIXED + 4 * input.len() + self.dictionary.len();
        self.memory.compress = self.memory.compress.max(memory);
    }

    fn decompress(
        &mut self,
        input: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), CodecError> {
        let frame = Frame::read(input, limit)?;
        let start = out.len();
        let decoder = self.decompressor.get_or_insert_with(FrameDecoder::new);
        let outcome = read(decoder, &frame, &input[frame.blocks..], &self.dictionary, limit, out);
        let length = out.len() - start;
        let memory = DECOMPRESS_FIXED + 3 * length + 2 * self.dictionary.len();
        self.memory.decompress = self.memory.decompress.max(memory);
        let outcome = match outcome {
            Ok(()) if frame.content.is_some_and(|content| content != length as u64) => {
                Err(CodecError::Malformed)
            }
            outcome => outcome,
        };
        if outcome.is_err() {
            out.truncate(start);
        }
        outcome
    }

    fn memory(&self) -> Memory {
        self.memory
    }
}

fn read(
    decoder: &mut FrameDecoder,
    frame: &Frame,
    blocks: &[u8],
    dictionary: &[u8],
    limit: usize,
    out: &mut Vec<u8>,
) -> Result<(), CodecError> {
    // ruzstd gets the dictionary as uncompressed blocks before the message's blocks. A window above
    // the limit is of no use.
    let most = frame.window.min((limit as u64).saturating_add(1)).max(LARGEST_BLOCK);
    let mut before = Vec::from(MAGIC);
    write_header(most as usize + dictionary.len(), &mut before);
    for chunk in dictionary.chunks(LARGEST_BLOCK as usize) {
        raw_block(chunk, &mut before);
    }
    decoder.set_max_window_size(most + dictionary.len() as u64);
    let mut source = before.chain(blocks);
    decoder.reset(&mut source).map_err(|_| CodecError::Malformed)?;
    let mut after = SkipDictionary { out, skip: dictionary.len(), length: 0 };
    loop {
        let step = BlockDecodingStrategy::UptoBlocks(1);
        let done = decoder.decode_blocks(&mut source, step).map_err(|_| CodecError::Malformed)?;
        decoder.collect_to_writer(&mut after).map_err(|_| CodecError::Malformed)?;
        if after.length > limit {
            return Err(CodecError::TooLarge);
        }
        if done {
            return Ok(());
        }
    }
}

/// The magic number at the start of a frame.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Appends the decoded bytes after the dictionary to `out`.
struct SkipDictionary<'a> {
    out: &'a mut Vec<u8>,
    /// Bytes of the dictionary that are still to come.
    skip: usize,
    /// Bytes of the message so far.
    length: usize,
}

impl Write for SkipDictionary<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let skip = self.skip.min(bytes.len());
        self.skip -= skip;
        self.length += bytes.len() - skip;
        self.out.extend_from_slice(&bytes[skip..]);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Finds matches in the dictionary and in the part of the message that was compressed.
#[derive(Default)]
struct Window {
    finder: Option<Finder>,
    base: Base,
    /// The dictionary followed by the message so far.
    buffer: Vec<u8>,
    /// Length of the dictionary.
    dictionary: usize,
    /// Start of the last block in `buffer`.
    block: usize,
    /// Bytes of the message that ruzstd has not read yet.
    coming: usize,
    /// A buffer for the next block, reused.
    space: Vec<u8>,
}

impl Window {
    fn new(dictionary: &[u8]) -> Self {
        let dictionary = &dictionary[dictionary.len().saturating_sub(matches::DICTIONARY)..];
        Window {
            finder: Some(Finder::new(dictionary)),
            buffer: dictionary.to_vec(),
            dictionary: dictionary.len(),
            ..Window::default()
        }
    }

    /// The next position from `at` to `last` with a match, and the match's position.
    fn find(&mut self, at: usize, last: usize) -> Option<(usize, usize)> {
        let Window { base, buffer, .. } = self;
        let finder = self.finder.as_mut()?;
        match finder.has_dictionary() {
            true => finder.find::<true>(*base, buffer, at, last, usize::MAX),
            false => finder.find::<false>(*base, buffer, at, last, usize::MAX),
        }
    }
}

impl Matcher for Window {
    fn get_next_space(&mut self) -> Vec<u8> {
        let mut space = core::mem::take(&mut self.space);
        space.clear();
        // One byte more than remains of the message: ruzstd treats a block that does not fill its
        // space as the last one.
        space.resize((self.coming + 1).min(LARGEST_BLOCK as usize), 0);
        space
    }

    fn get_last_space(&mut self) -> &[u8] {
        &self.buffer[self.block..]
    }

    fn commit_space(&mut self, space: Vec<u8>) {
        self.block = self.buffer.len();
        self.buffer.extend_from_slice(&space);
        self.coming -= space.len();
        self.space = space;
    }

    fn skip_matching(&mut self) {}

    fn start_matching(&mut self, mut handle: impl for<'a> FnMut(Sequence<'a>)) {
        let end = self.buffer.len();
        let mut anchor = self.block;
        // Every block begins with a literal, because ruzstd fails on blocks without literals.
        let mut at = anchor + 1;
        if let Some(last) = end.checked_sub(MIN_MATCH) {
            while let Some((found, earlier)) = self.find(at, last) {
                let buffer = &self.buffer;
                let length = MIN_MATCH + same(buffer, earlier + MIN_MATCH, found + MIN_MATCH, end);
                let literals = &buffer[anchor..found];
                handle(Sequence::Triple { literals, offset: found - earlier, match_len: length });
                at = found + length;
                anchor = at;
                if let Some(finder) = &mut self.finder
                    && at - 2 <= last
                {
                    finder.insert(self.base, buffer, at - 2);
                }
            }
        }
        if anchor < end {
            handle(Sequence::Literals { literals: &self.buffer[anchor..] });
        }
    }

    fn reset(&mut self, _: CompressionLevel) {
        self.buffer.truncate(self.dictionary);
        self.block = self.dictionary;
        if let Some(finder) = &mut self.finder {
            self.base = finder.begin(self.dictionary + self.coming);
        }
    }

    fn window_size(&self) -> u64 {
        // The value is not used, because the header is replaced.
        LARGEST_BLOCK
    }
}
