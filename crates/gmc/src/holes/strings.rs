//! Holes of strings: text, bytes of fixed length that are no number, and strings that follow their
//! length. A hole is a place of a message where the value differs from message to message.

use alloc::vec::Vec;

use super::coder::{HoleCoder, Value};
use crate::binary::prefix::Prefix;
use crate::error::DecodeError;
use crate::keys::Seen;
use crate::pass::Pass;
use crate::range_coder::Coder;
use crate::text::Texts;

/// The coder of [`HoleKind::Text`](crate::template::HoleKind::Text) and
/// [`HoleKind::Bytes`](crate::template::HoleKind::Bytes).
pub(crate) struct TextCoder<'a> {
    pub(crate) texts: &'a mut Texts,
}

impl HoleCoder for TextCoder<'_> {
    fn code<C: Coder + ?Sized>(
        self,
        pass: &mut Pass<'_, C>,
        value: Value<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<Seen>, DecodeError> {
        self.texts.code(pass, value.series(), value.given, value.limit, out).map(Some)
    }
}

/// The coder of [`HoleKind::Opaque`](crate::template::HoleKind::Opaque).
pub(crate) struct OpaqueCoder<'a> {
    pub(crate) texts: &'a mut Texts,
}

impl HoleCoder for OpaqueCoder<'_> {
    fn code<C: Coder + ?Sized>(
        self,
        pass: &mut Pass<'_, C>,
        value: Value<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<Seen>, DecodeError> {
        let width = value.hole.range().len();
        let start = out.len();
        self.texts.code(pass, value.series(), value.given, width, out)?;
        if out.len() - start == width { Ok(None) } else { Err(DecodeError::Malformed) }
    }
}

/// The coder of [`HoleKind::String`](crate::template::HoleKind::String).
pub(crate) struct PrefixedCoder<'a> {
    pub(crate) prefix: Prefix,
    pub(crate) texts: &'a mut Texts,
}

impl HoleCoder for PrefixedCoder<'_> {
    fn code<C: Coder + ?Sized>(
        self,
        pass: &mut Pass<'_, C>,
        value: Value<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<Seen>, DecodeError> {
        let Self { prefix, texts } = self;
        let start = out.len();
        let given = value.given;
        let string = prefix.string(given, 0).map_or(&[][..], |range| &given[range]);
        let limit = value.limit.min(prefix.limit());
        let seen = texts.code(pass, value.series(), string, limit, out)?;
        prefix.insert(out, start);
        Ok(Some(seen))
    }
}
