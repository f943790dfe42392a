//! The LZ4 compressor.

use alloc::vec::Vec;

use crate::matches::{DICTIONARY, Finder, MIN_MATCH, same};

/// No match starts in the last twelve bytes of a block (LZ4 Block Format, end of block
/// restrictions).
const MATCH_MARGIN: usize = 12;
/// The last five bytes of a block are literals (same section).
const LAST_LITERALS: usize = 5;
/// The longest distance of a match: offsets have 16 bits.
const WINDOW: usize = 65_535;

/// Literals are copied in chunks of this size, bytes; the output buffer is that much longer than
/// needed.
const CHUNK: usize = 16;

pub(super) struct Compressor {
    finder: Finder,
    /// The dictionary followed by the message.
    buffer: Vec<u8>,
    /// Length of the dictionary.
    dictionary: usize,
}

impl Compressor {
    pub(super) fn new(dictionary: &[u8]) -> Self {
        let dictionary = &dictionary[dictionary.len().saturating_sub(DICTIONARY)..];
        let finder = Finder::new(dictionary);
        Compressor { finder, buffer: dictionary.to_vec(), dictionary: dictionary.len() }
    }

    /// Working memory, bytes.
    pub(super) fn memory(&self) -> usize {
        self.finder.memory() + self.buffer.capacity()
    }

    /// Appends the block of `input` to `out`.
    pub(super) fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        // Incompressible input grows by one byte per 255 literals, a token and a length; a copy may
        // write a chunk beyond.
        out.resize(start + input.len() + input.len() / 255 + 16 + CHUNK, 0);
        let written = match self.finder.has_dictionary() {
            false => self.block::<false>(input, 0, &mut out[start..]),
            true => {
                let mut buffer = core::mem::take(&mut self.buffer);
                buffer.truncate(self.dictionary);
                buffer.extend_from_slice(input);
                let written = self.block::<true>(&buffer, self.dictionary, &mut out[start..]);
                self.buffer = buffer;
                written
            }
        };
        out.truncate(start + written);
    }

    /// Compresses `buffer[start..]`, with matches in all of `buffer`. Returns the number of bytes
    /// written.
    fn block<const WITH_DICTIONARY: bool>(
        &mut self,
        buffer: &[u8],
        start: usize,
        out: &mut [u8],
    ) -> usize {
        let mut out = Writer { bytes: out, at: 0 };
        let mut anchor = start;
        if buffer.len() - start > MATCH_MARGIN {
            let base = self.finder.begin(buffer.len());
            let last = buffer.len() - MATCH_MARGIN;
            // No match can start at the first byte of the buffer.
            let mut at = start.max(1);
            while let Some((found, earlier)) =
                self.finder.find::<WITH_DICTIONARY>(base, buffer, at, last, WINDOW)
            {
                let (mut from, mut earlier) = (found, earlier);
                while from > anchor && earlier > 0 && buffer[from - 1] == buffer[earlier - 1] {
                    from -= 1;
                    earlier -= 1;
                }
                let end = buffer.len() - LAST_LITERALS;
                let length = MIN_MATCH + same(buffer, earlier + MIN_MATCH, from + MIN_MATCH, end);
                out.sequence(buffer, anchor, from, (from - earlier) as u16, length);
                anchor = from + length;
                at = anchor;
                if at <= last {
                    self.finder.insert(base, buffer, at - 2);
                }
            }
        }
        out.literals(&buffer[anchor..]);
        out.at
    }
}

/// Writes sequences into a buffer that is large enough for any block.
struct Writer<'a> {
    bytes: &'a mut [u8],
    at: usize,
}

impl Writer<'_> {
    /// Writes the literals `buffer[from..to]`, then a match of `length` bytes at distance `back`.
    #[inline(always)]
    fn sequence(&mut self, buffer: &[u8], from: usize, to: usize, back: u16, length: usize) {
        let literals = to - from;
        let more = length - MIN_MATCH;
        self.push((literals.min(15) << 4 | more.min(15)) as u8);
        let source = buffer[from..].first_chunk::<CHUNK>();
        let target = self.bytes[self.at..].first_chunk_mut::<CHUNK>();
        match (source, target) {
            (Some(source), Some(target)) if literals < 15 => {
                *target = *source;
                self.at += literals;
            }
            _ => {
                self.length(literals);
                self.copy(&buffer[from..to]);
            }
        }
        self.copy(&back.to_le_bytes());
        self.length(more);
    }

    /// Writes the last sequence, which has literals only.
    fn literals(&mut self, literals: &[u8]) {
        self.push((literals.len().min(15) << 4) as u8);
        self.length(literals.len());
        self.copy(literals);
    }

    /// Writes the part of a length that does not fit the token's four bits.
    #[inline(always)]
    fn length(&mut self, length: usize) {
        let Some(mut rest) = length.checked_sub(15) else { return };
        while rest >= 255 {
            self.push(255);
            rest -= 255;
        }
        self.push(rest as u8);
    }

    #[inline(always)]
    fn copy(&mut self, bytes: &[u8]) {
        self.bytes[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }

    #[inline(always)]
    fn push(&mut self, byte: u8) {
        self.bytes[self.at] = byte;
        self.at += 1;
    }
}
