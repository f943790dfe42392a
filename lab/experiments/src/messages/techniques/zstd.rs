//! Zstandard (RFC 8878), by the reference library.

use zstd::zstd_safe::{
    CCtx, CParameter, DCtx, DParameter, ErrorCode, FrameFormat, InBuffer, OutBuffer,
    compress_bound, get_error_name, zstd_sys::ZSTD_EndDirective,
};

use crate::messages::dictionary::Dictionary;
use crate::messages::framing::Framing;
use crate::messages::technique::{Decoded, Failure, Message, Packet, State, Technique};

/// zstd's default.
const LEVEL: i32 = 3;

/// The most bytes that a packet may decode to: the most that all messages of the largest packet
/// have together.
const MAX_PLAIN: usize = 10 * crate::trace::limits::MAX_MESSAGE + 64;

/// Compresses each packet on its own, with or without a dictionary that both ends have.
pub(super) struct Zstd {
    compress: CCtx<'static>,
    decompress: DCtx<'static>,
    framing: Framing,
    dictionary: usize,
    plain: Vec<u8>,
}

impl Zstd {
    pub(super) fn new(framing: Framing) -> Result<Self, Failure> {
        let (compress, decompress) = contexts()?;
        Ok(Zstd { compress, decompress, framing, dictionary: 0, plain: Vec::new() })
    }

    pub(super) fn with_dictionary(
        framing: Framing,
        dictionary: &Dictionary,
    ) -> Result<Self, Failure> {
        let mut new = Self::new(framing)?;
        // The packet need not name the dictionary, because there is only one.
        checked(new.compress.set_parameter(CParameter::DictIdFlag(false)))?;
        checked(new.compress.load_dictionary(&dictionary.bytes))?;
        checked(new.decompress.load_dictionary(&dictionary.bytes))?;
        new.dictionary = dictionary.bytes.len();
        Ok(new)
    }
}

impl Technique for Zstd {
    fn encode(&mut self, messages: &[Message<'_>], packet: &mut Packet) -> Result<(), Failure> {
        self.plain.clear();
        self.framing.join(messages, &mut self.plain);
        packet.body.reserve(compress_bound(self.plain.len()));
        checked(self.compress.compress2(&mut packet.body, &self.plain))?;
        Ok(())
    }

    fn decode(&mut self, packet: &Packet, out: &mut Decoded) -> Result<(), Failure> {
        self.plain.clear();
        // The memory is reserved once; unused parts of it cost nothing.
        self.plain.reserve(MAX_PLAIN);
        checked(self.decompress.decompress(&mut self.plain, &packet.body))?;
        self.framing.split(&self.plain, out)
    }

    fn state(&mut self) -> State {
        State { encoder: Some(self.dictionary), decoder: Some(self.dictionary) }
    }
}

/// Compresses all packets as one stream, which is flushed after each.
pub(super) struct ZstdStream {
    compress: CCtx<'static>,
    decompress: DCtx<'static>,
    framing: Framing,
    plain: Vec<u8>,
}

impl ZstdStream {
    pub(super) fn new(framing: Framing) -> Result<Self, Failure> {
        let (compress, decompress) = contexts()?;
        Ok(ZstdStream { compress, decompress, framing, plain: Vec::new() })
    }
}

impl Technique for ZstdStream {
    fn encode(&mut self, messages: &[Message<'_>], packet: &mut Packet) -> Result<(), Failure> {
        self.plain.clear();
        self.framing.join(messages, &mut self.plain);
        let mut input = InBuffer::around(&self.plain);
        loop {
            packet.body.reserve(compress_bound(self.plain.len()));
            let end = packet.body.len();
            let mut output = OutBuffer::around_pos(&mut packet.body, end);
            let flush = ZSTD_EndDirective::ZSTD_e_flush;
            if checked(self.compress.compress_stream2(&mut output, &mut input, flush))? == 0 {
                return Ok(());
            }
        }
    }

    fn decode(&mut self, packet: &Packet, out: &mut Decoded) -> Result<(), Failure> {
        self.plain.clear();
        let mut input = InBuffer::around(&packet.body);
        loop {
            self.plain.reserve(4096.max(4 * packet.body.len()));
            let end = self.plain.len();
            let mut output = OutBuffer::around_pos(&mut self.plain, end);
            checked(self.decompress.decompress_stream(&mut output, &mut input))?;
            if input.pos() == packet.body.len() && self.plain.len() < self.plain.capacity() {
                return self.framing.split(&self.plain, out);
            }
        }
    }

    fn state(&mut self) -> State {
        State { encoder: Some(self.compress.sizeof()), decoder: Some(self.decompress.sizeof()) }
    }
}

/// The contexts of both ends at the default level, without the four bytes of magic number that only
/// files need.
fn contexts() -> Result<(CCtx<'static>, DCtx<'static>), Failure> {
    let mut compress = CCtx::try_create().ok_or("zstd found no memory")?;
    let mut decompress = DCtx::try_create().ok_or("zstd found no memory")?;
    checked(compress.set_parameter(CParameter::CompressionLevel(LEVEL)))?;
    checked(compress.set_parameter(CParameter::Format(FrameFormat::Magicless)))?;
    checked(decompress.set_parameter(DParameter::Format(FrameFormat::Magicless)))?;
    Ok((compress, decompress))
}

fn checked(result: Result<usize, ErrorCode>) -> Result<usize, Failure> {
    result.map_err(|code| get_error_name(code).into())
}
