//! Holes of strings: text, bytes of fixed length that are no number, and strings that follow their
//! length. A hole is a place of a message where the value differs from message to message.

use alloc::vec::Vec;

use super::value::Value;
use crate::binary::prefix::Prefix;
use crate::error::DecodeError;
use crate::keys::Seen;
use crate::pass::Pass;
use crate::range_coder::Coder;
use crate::text::Texts;

/// Codes a value of [`HoleKind::Text`](crate::template::HoleKind::Text) or
/// [`HoleKind::Bytes`](crate::template::HoleKind::Bytes).
pub(super) fn code_text<C: Coder + ?Sized>(
    texts: &mut Texts,
    pass: &mut Pass<'_, C>,
    value: Value<'_>,
    out: &mut Vec<u8>,
) -> Result<Option<Seen>, DecodeError> {
    texts.code(pass, value.series(), value.given, value.limit, out).map(Some)
}

/// Codes a value of [`HoleKind::Opaque`](crate::template::HoleKind::Opaque).
pub(super) fn code_opaque<C: Coder + ?Sized>(
    texts: &mut Texts,
    pass: &mut Pass<'_, C>,
    value: Value<'_>,
    out: &mut Vec<u8>,
) -> Result<Option<Seen>, DecodeError> {
    let width = value.hole.range().len();
    let start = out.len();
    texts.code_fixed(pass, value.series(), value.given, width, out)?;
    if out.len() - start == width { Ok(None) } else { Err(DecodeError::Malformed) }
}

/// Codes a value of [`HoleKind::String`](crate::template::HoleKind::String).
pub(super) fn code_prefixed<C: Coder + ?Sized>(
    prefix: Prefix,
    texts: &mut Texts,
    pass: &mut Pass<'_, C>,
    value: Value<'_>,
    out: &mut Vec<u8>,
) -> Result<Option<Seen>, DecodeError> {
    let start = out.len();
    let given = value.given;
    let string = prefix.string(given, 0).map_or(&[][..], |range| &given[range]);
    let limit = value.limit.min(prefix.limit());
    let seen = texts.code(pass, value.series(), string, limit, out)?;
    prefix.insert(out, start);
    Ok(Some(seen))
}
