//! The coder by the reference implementation in C.

use alloc::boxed::Box;
use alloc::vec::Vec;
use std::io::Cursor;

use zstd::zstd_safe::zstd_sys::ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall;
use zstd::zstd_safe::{CCtx, CParameter, DCtx, DParameter, FrameFormat, compress_bound};

use super::frame::Frame;
use crate::{CodecError, Coder, Memory};

pub(super) struct CCoder {
    level: i8,
    dictionary: Box<[u8]>,
    compress: Option<CCtx<'static>>,
    decompress: Option<DCtx<'static>>,
}

impl CCoder {
    pub(super) fn new(level: i8, dictionary: &[u8]) -> Self {
        CCoder { level, dictionary: dictionary.into(), compress: None, decompress: None }
    }
}

/// Why setting constant parameters cannot fail.
const CONSTANT: &str = "the parameters are valid, and there is memory";

fn compressor(level: i8, dictionary: &[u8]) -> CCtx<'static> {
    let mut context = bare_compressor(level);
    if !dictionary.is_empty() {
        context.load_dictionary(dictionary).expect(CONSTANT);
    }
    context
}

/// A compressor without a dictionary.
fn bare_compressor<'a>(level: i8) -> CCtx<'a> {
    let mut context = CCtx::create();
    let parameters = [
        CParameter::CompressionLevel(level.into()),
        CParameter::Format(FrameFormat::Magicless),
        CParameter::ContentSizeFlag(true),
        CParameter::ChecksumFlag(false),
        CParameter::DictIdFlag(false),
    ];
    for parameter in parameters {
        context.set_parameter(parameter).expect(CONSTANT);
    }
    context
}

fn decompressor(dictionary: &[u8]) -> DCtx<'static> {
    let mut context = bare_decompressor();
    if !dictionary.is_empty() {
        context.load_dictionary(dictionary).expect(CONSTANT);
    }
    context
}

/// A decompressor without a dictionary.
fn bare_decompressor<'a>() -> DCtx<'a> {
    let mut context = DCtx::create();
    context.set_parameter(DParameter::Format(FrameFormat::Magicless)).expect(CONSTANT);
    context
}

/// See [`compress_after`](crate::compress_after). The history is read in place and not copied.
pub(crate) fn compress_after(level: i8, history: &[u8], input: &[u8], out: &mut Vec<u8>) {
    let mut context = bare_compressor(level);
    // At most 2 MiB: every decoder supports windows of this size (RFC 8878 recommends 8 MiB).
    let reach = (history.len() + input.len()).clamp(1 << 10, 1 << 21).next_power_of_two();
    context.set_parameter(CParameter::WindowLog(reach.ilog2())).expect(CONSTANT);
    context.ref_prefix(history).expect(CONSTANT);
    compress(&mut context, input, out);
}

/// See [`decompress_after`](crate::decompress_after).
pub(crate) fn decompress_after(
    history: &[u8],
    input: &[u8],
    limit: usize,
    out: &mut Vec<u8>,
) -> Result<(), CodecError> {
    let frame = Frame::read(input, limit)?;
    let mut context = bare_decompressor();
    context.ref_prefix(history).expect(CONSTANT);
    decompress(&mut context, frame, input, limit, out)
}

fn compress(context: &mut CCtx<'_>, input: &[u8], out: &mut Vec<u8>) {
    out.reserve(compress_bound(input.len()));
    let mut out = end_of(out);
    context.compress2(&mut out, input).expect("there is capacity, and memory");
}

/// Decompresses a frame whose header and blocks were checked by [`Frame::read`].
fn decompress(
    context: &mut DCtx<'_>,
    frame: Frame,
    input: &[u8],
    limit: usize,
    out: &mut Vec<u8>,
) -> Result<(), CodecError> {
    let start = out.len();
    // The buffer holds at most one byte more than the limit allows, to notice larger originals.
    let capacity =
        frame.content.unwrap_or(frame.most).min((limit as u64).saturating_add(1)) as usize;
    out.reserve_exact(capacity);
    // All in one call and into the caller's memory, so that zstd allocates no window, whatever the
    // frame claims.
    let outcome = context.decompress(&mut end_of(out), input);
    let error = match outcome {
        Ok(_) if out.len() - start > limit => CodecError::TooLarge,
        Ok(_) => return Ok(()),
        Err(code) if code == TOO_SMALL && frame.content.is_none() => CodecError::TooLarge,
        Err(_) => CodecError::Malformed,
    };
    out.truncate(start);
    Err(error)
}

impl Coder for CCoder {
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) {
        let context = self.compress.get_or_insert_with(|| compressor(self.level, &self.dictionary));
        compress(context, input, out);
    }

    fn decompress(
        &mut self,
        input: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), CodecError> {
        let frame = Frame::read(input, limit)?;
        let context = self.decompress.get_or_insert_with(|| decompressor(&self.dictionary));
        decompress(context, frame, input, limit, out)
    }

    fn memory(&self) -> Memory {
        Memory {
            compress: self.compress.as_ref().map_or(0, CCtx::sizeof),
            decompress: self.decompress.as_ref().map_or(0, DCtx::sizeof) + self.dictionary.len(),
        }
    }
}

/// The result of zstd for an output buffer that is too small.
const TOO_SMALL: usize = (ZSTD_error_dstSize_tooSmall as usize).wrapping_neg();

/// A writer that appends to `out`.
fn end_of(out: &mut Vec<u8>) -> Cursor<&mut Vec<u8>> {
    let at = out.len() as u64;
    let mut cursor = Cursor::new(out);
    cursor.set_position(at);
    cursor
}
