//! Zstandard (RFC 8878), by the reference library.

use zstd::zstd_safe::{
    CCtx, CParameter, DCtx, DParameter, ErrorCode, FrameFormat, InBuffer, OutBuffer,
    compress_bound, get_error_name, zstd_sys::ZSTD_EndDirective,
};

use super::framed::Codec;
use crate::messages::dictionary::Dictionary;
use crate::messages::technique::{Failure, State};

/// zstd's default.
const LEVEL: i32 = 3;

/// The most bytes that a packet may decode to: the most that all messages of the largest packet
/// have together.
const MAX_PLAIN: usize = 10 * crate::trace::limits::MAX_MESSAGE + 64;

/// Compresses each packet on its own, with or without a dictionary that both ends have.
pub(super) struct Zstd {
    compress: CCtx<'static>,
    decompress: DCtx<'static>,
    dictionary: usize,
}

impl Zstd {
    pub(super) fn new() -> Result<Self, Failure> {
        let (compress, decompress) = contexts()?;
        Ok(Zstd { compress, decompress, dictionary: 0 })
    }

    pub(super) fn with_dictionary(dictionary: &Dictionary) -> Result<Self, Failure> {
        let mut new = Self::new()?;
        // The packet need not name the dictionary, because there is only one.
        checked(new.compress.set_parameter(CParameter::DictIdFlag(false)))?;
        checked(new.compress.load_dictionary(&dictionary.bytes))?;
        checked(new.decompress.load_dictionary(&dictionary.bytes))?;
        new.dictionary = dictionary.bytes.len();
        Ok(new)
    }
}

impl Codec for Zstd {
    fn pack(&mut self, plain: &[u8], body: &mut Vec<u8>) -> Result<(), Failure> {
        body.reserve(compress_bound(plain.len()));
        checked(self.compress.compress2(body, plain))?;
        Ok(())
    }

    fn unpack(&mut self, body: &[u8], plain: &mut Vec<u8>) -> Result<(), Failure> {
        // The memory is reserved once; unused parts of it cost nothing.
        plain.reserve(MAX_PLAIN);
        checked(self.decompress.decompress(plain, body))?;
        Ok(())
    }

    fn state(&mut self) -> State {
        State { encoder: Some(self.dictionary), decoder: Some(self.dictionary) }
    }
}

/// Compresses all packets as one stream, which is flushed after each.
pub(super) struct ZstdStream {
    compress: CCtx<'static>,
    decompress: DCtx<'static>,
}

impl ZstdStream {
    pub(super) fn new() -> Result<Self, Failure> {
        let (compress, decompress) = contexts()?;
        Ok(ZstdStream { compress, decompress })
    }
}

impl Codec for ZstdStream {
    fn pack(&mut self, plain: &[u8], body: &mut Vec<u8>) -> Result<(), Failure> {
        let mut input = InBuffer::around(plain);
        loop {
            body.reserve(compress_bound(plain.len()));
            let end = body.len();
            let mut output = OutBuffer::around_pos(body, end);
            let flush = ZSTD_EndDirective::ZSTD_e_flush;
            if checked(self.compress.compress_stream2(&mut output, &mut input, flush))? == 0 {
                return Ok(());
            }
        }
    }

    fn unpack(&mut self, body: &[u8], plain: &mut Vec<u8>) -> Result<(), Failure> {
        let mut input = InBuffer::around(body);
        loop {
            plain.reserve(4096.max(4 * body.len()));
            let end = plain.len();
            let mut output = OutBuffer::around_pos(plain, end);
            checked(self.decompress.decompress_stream(&mut output, &mut input))?;
            if input.pos() == body.len() && plain.len() < plain.capacity() {
                return Ok(());
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
