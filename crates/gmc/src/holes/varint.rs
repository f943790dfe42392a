//! Holes of variable-length integers in binary messages. A hole is a place of a message where the
//! value differs from message to message.

use alloc::vec::Vec;

use super::integers::{Coded, Integers};
use super::value::Value;
use crate::binary::varint::{from_zigzag, read_varint, to_zigzag, varint};
use crate::error::DecodeError;
use crate::hash::hash;
use crate::integer::size;
use crate::keys::Seen;
use crate::pass::Pass;
use crate::range_coder::Coder;

/// Codes a value of [`HoleKind::Varint`](crate::template::HoleKind::Varint).
pub(super) fn code_varint<C: Coder + ?Sized>(
    integers: &mut Integers,
    pass: &mut Pass<'_, C>,
    value: Value<'_>,
    out: &mut Vec<u8>,
) -> Result<Option<Seen>, DecodeError> {
    let series = value.series();
    let shape = &mut value.hole.shape;
    let given = read_varint(value.given);
    let given = if shape.is_zigzag() { from_zigzag(given) } else { given as i64 };
    let series = series.with_label(hash(series.label, shape.form()));
    let Coded { before, value, seen } = integers.code(pass, series, given);
    let raw = if shape.is_zigzag() { to_zigzag(value) } else { value as u64 };
    if let Some(before) = before {
        let other = |value: i64| {
            if shape.is_zigzag() { to_zigzag(value) as i64 } else { from_zigzag(value as u64) }
        };
        let bits = size(value.wrapping_sub(before));
        let other = size(other(value).wrapping_sub(other(before)));
        if bits > 1 {
            shape.weigh_sign(bits, other);
        }
    }
    let (bytes, count) = varint(raw);
    out.extend_from_slice(&bytes[..count]);
    Ok(Some(seen))
}
