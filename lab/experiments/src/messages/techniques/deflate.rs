//! Deflate (RFC 1951) by zlib, which most WebSocket libraries use. Here it is 3 % smaller than
//! zlib-rs.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use crate::messages::dictionary::Dictionary;
use crate::messages::framing::Framing;
use crate::messages::technique::{Decoded, Failure, Message, Packet, State, Technique};

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
    framing: Framing,
    dictionary: Vec<u8>,
    plain: Vec<u8>,
}

impl Deflate {
    pub(super) fn new(framing: Framing) -> Self {
        Self::with(framing, BALANCED, Vec::new())
    }

    pub(super) fn with_dictionary(framing: Framing, dictionary: &Dictionary) -> Self {
        Self::with(framing, BEST, dictionary.bytes.clone())
    }

    fn with(framing: Framing, level: u32, dictionary: Vec<u8>) -> Self {
        Deflate {
            compress: Compress::new(Compression::new(level), false),
            decompress: Decompress::new(false),
            framing,
            dictionary,
            plain: Vec::new(),
        }
    }
}

impl Technique for Deflate {
    fn encode(&mut self, messages: &[Message<'_>], packet: &mut Packet) -> Result<(), Failure> {
        self.plain.clear();
        self.framing.join(messages, &mut self.plain);
        self.compress.reset();
        if !self.dictionary.is_empty() {
            self.compress.set_dictionary(&self.dictionary)?;
        }
        compress(&mut self.compress, &self.plain, FlushCompress::Finish, &mut packet.body)
    }

    fn decode(&mut self, packet: &Packet, out: &mut Decoded) -> Result<(), Failure> {
        self.plain.clear();
        self.decompress.reset(false);
        if !self.dictionary.is_empty() {
            self.decompress.set_dictionary(&self.dictionary)?;
        }
        decompress(&mut self.decompress, &packet.body, &mut self.plain)?;
        self.framing.split(&self.plain, out)
    }

    fn state(&mut self) -> State {
        State { encoder: Some(self.dictionary.len()), decoder: Some(self.dictionary.len()) }
    }
}

/// The bytes that end a flush, which are not sent (RFC 7692, 7.2.1).
const FLUSH_END: [u8; 4] = [0, 0, 0xff, 0xff];

/// WebSocket's permessage-deflate (RFC 7692) with context takeover: one stream, flushed after each
/// message.
pub(super) struct PermessageDeflate {
    compress: Compress,
    decompress: Decompress,
    framing: Framing,
    plain: Vec<u8>,
    received: Vec<u8>,
}

impl PermessageDeflate {
    pub(super) fn new(framing: Framing) -> Self {
        PermessageDeflate {
            compress: Compress::new(Compression::new(BALANCED), false),
            decompress: Decompress::new(false),
            framing,
            plain: Vec::new(),
            received: Vec::new(),
        }
    }
}

impl Technique for PermessageDeflate {
    fn encode(&mut self, messages: &[Message<'_>], packet: &mut Packet) -> Result<(), Failure> {
        self.plain.clear();
        self.framing.join(messages, &mut self.plain);
        compress(&mut self.compress, &self.plain, FlushCompress::Sync, &mut packet.body)?;
        let length =
            packet.body.strip_suffix(&FLUSH_END).ok_or("a flush did not end as it must")?.len();
        packet.body.truncate(length);
        Ok(())
    }

    fn decode(&mut self, packet: &Packet, out: &mut Decoded) -> Result<(), Failure> {
        self.received.clear();
        self.received.extend_from_slice(&packet.body);
        self.received.extend(FLUSH_END);
        self.plain.clear();
        decompress(&mut self.decompress, &self.received, &mut self.plain)?;
        self.framing.split(&self.plain, out)
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
