//! Deflate (RFC 1951) by zlib, which most WebSocket libraries use. Here it is 3 % smaller than
//! zlib-rs.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use super::framed::Codec;
use crate::messages::dictionary::Dictionary;
use crate::messages::technique::{Failure, State};

/// zlib's default, which Java calls balanced.
const BALANCED: u32 = 6;

/// The level with a dictionary: the smallest output.
const BEST: u32 = 9;

/// The memory that zlib.h states for 32 KB windows and the default memory level, 8: a compressor
/// takes 2^(15+2) + 2^(8+9) bytes, a decompressor 2^15 and some 7 KB.
const STREAM: State = State { encoder: Some(256 << 10), decoder: Some((32 << 10) + (7 << 10)) };

/// The room for a packet beyond its input: deflate falls back to stored blocks of 5 bytes per 16
/// KB; a flush adds 5.
const SLACK: usize = 64;

/// Compresses each packet on its own, with or without a dictionary that both ends have.
pub(super) struct Deflate {
    compress: Compress,
    decompress: Decompress,
    dictionary: Vec<u8>,
}

impl Deflate {
    pub(super) fn new() -> Self {
        Self::with(BALANCED, Vec::new())
    }

    pub(super) fn with_dictionary(dictionary: &Dictionary) -> Self {
        Self::with(BEST, dictionary.bytes.clone())
    }

    fn with(level: u32, dictionary: Vec<u8>) -> Self {
        Deflate {
            compress: Compress::new(Compression::new(level), false),
            decompress: Decompress::new(false),
            dictionary,
        }
    }
}

impl Codec for Deflate {
    fn pack(&mut self, plain: &[u8], body: &mut Vec<u8>) -> Result<(), Failure> {
        self.compress.reset();
        if !self.dictionary.is_empty() {
            self.compress.set_dictionary(&self.dictionary)?;
        }
        compress(&mut self.compress, plain, FlushCompress::Finish, body)
    }

    fn unpack(&mut self, body: &[u8], plain: &mut Vec<u8>) -> Result<(), Failure> {
        self.decompress.reset(false);
        if !self.dictionary.is_empty() {
            self.decompress.set_dictionary(&self.dictionary)?;
        }
        decompress(&mut self.decompress, body, plain)
    }

    fn state(&mut self) -> State {
        State { encoder: Some(self.dictionary.len()), decoder: Some(self.dictionary.len()) }
    }
}

/// Compresses each packet by a compressor of its own, as a program does that keeps none from
/// message to message. What that costs is its memory, 256 KiB of tables.
pub(super) struct DeflateNew;

impl Codec for DeflateNew {
    fn pack(&mut self, plain: &[u8], body: &mut Vec<u8>) -> Result<(), Failure> {
        Deflate::new().pack(plain, body)
    }

    fn unpack(&mut self, body: &[u8], plain: &mut Vec<u8>) -> Result<(), Failure> {
        Deflate::new().unpack(body, plain)
    }

    fn state(&mut self) -> State {
        State { encoder: Some(0), decoder: Some(0) }
    }
}

/// The bytes that end a flush, which are not sent (RFC 7692, 7.2.1).
const FLUSH_END: [u8; 4] = [0, 0, 0xff, 0xff];

/// WebSocket's permessage-deflate (RFC 7692) with context takeover: one stream, flushed after each
/// message.
pub(super) struct PermessageDeflate {
    compress: Compress,
    decompress: Decompress,
    received: Vec<u8>,
}

impl PermessageDeflate {
    pub(super) fn new() -> Self {
        PermessageDeflate {
            compress: Compress::new(Compression::new(BALANCED), false),
            decompress: Decompress::new(false),
            received: Vec::new(),
        }
    }
}

impl Codec for PermessageDeflate {
    fn pack(&mut self, plain: &[u8], body: &mut Vec<u8>) -> Result<(), Failure> {
        compress(&mut self.compress, plain, FlushCompress::Sync, body)?;
        let length = body.strip_suffix(&FLUSH_END).ok_or("a flush did not end as it must")?.len();
        body.truncate(length);
        Ok(())
    }

    fn unpack(&mut self, body: &[u8], plain: &mut Vec<u8>) -> Result<(), Failure> {
        self.received.clear();
        self.received.extend_from_slice(body);
        self.received.extend(FLUSH_END);
        decompress(&mut self.decompress, &self.received, plain)
    }

    fn state(&mut self) -> State {
        STREAM
    }
}

/// Appends all of `plain`, compressed and flushed, to `out`.
fn compress(
    stream: &mut Compress,
    plain: &[u8],
    flush: FlushCompress,
    out: &mut Vec<u8>,
) -> Result<(), Failure> {
    // The room is always enough: a flush that ran out of room and went on would be marked twice.
    out.reserve(plain.len() + plain.len() / 1000 + SLACK);
    let before = stream.total_in();
    stream.compress_vec(plain, out, flush)?;
    match (stream.total_in() - before) as usize == plain.len() && out.len() < out.capacity() {
        true => Ok(()),
        false => Err("deflate needed more room than it may".into()),
    }
}

/// Appends the decompressed bytes of `packed` to `out`.
fn decompress(stream: &mut Decompress, packed: &[u8], out: &mut Vec<u8>) -> Result<(), Failure> {
    let start = stream.total_in();
    loop {
        out.reserve(4096.max(4 * packed.len()));
        let rest = &packed[(stream.total_in() - start) as usize..];
        let status = stream.decompress_vec(rest, out, FlushDecompress::Sync)?;
        let consumed = (stream.total_in() - start) as usize == packed.len();
        if status == Status::StreamEnd || (consumed && out.len() < out.capacity()) {
            return Ok(());
        }
        if status == Status::BufError {
            return Err("a packet is cut off".into());
        }
    }
}
