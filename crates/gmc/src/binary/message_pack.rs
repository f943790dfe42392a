//! Reads and writes the parts of a MessagePack value
//! (<https://github.com/msgpack/msgpack/blob/master/spec.md>). A part is a head of an array or a
//! map, or a value that contains no others.

use super::float::Width;
use super::part::{Item, Number, Part};

/// The most bytes of a string whose length is in its first byte.
const FIX_STRING: usize = 31;

/// The part that starts at `at`.
pub(crate) fn read(bytes: &[u8], at: usize) -> Option<Part> {
    let first = *bytes.get(at)?;
    let after = at + 1;
    let number = |width: usize| big_endian(bytes, after, width);
    let item = |item: Item, end: usize| (end <= bytes.len()).then_some(Part::Item(item, end));
    let string = |width: usize, text: bool| {
        let start = after + width;
        let end = start.checked_add(usize::try_from(number(width)?).ok()?)?;
        item(Item::String { text, start }, end)
    };
    match first {
        0x00..=0x7f => item(Item::Number(Number::Integer(i64::from(first))), after),
        0xe0..=0xff => item(Item::Number(Number::Integer(i64::from(first as i8))), after),
        0x80..=0x8f => Some(Part::Map(usize::from(first & 15), after)),
        0x90..=0x9f => Some(Part::Array(usize::from(first & 15), after)),
        0xa0..=0xbf => {
            item(Item::String { text: true, start: after }, after + usize::from(first & 31))
        }
        0xc0 | 0xc2 | 0xc3 => item(Item::Simple(first - 0xc0), after),
        0xc4..=0xc6 => string(1 << (first - 0xc4), false),
        0xca => item(Item::Number(Number::Float(number(4)?, Width::Single)), after + 4),
        0xcb => item(Item::Number(Number::Float(number(8)?, Width::Double)), after + 8),
        0xcc..=0xcf => {
            let width = 1 << (first - 0xcc);
            item(Item::Number(Number::Integer(number(width)? as i64)), after + width)
        }
        0xd0..=0xd3 => {
            let width = 1usize << (first - 0xd0);
            let shift = 64 - 8 * width;
            let value = (number(width)? << shift) as i64 >> shift;
            item(Item::Number(Number::Integer(value)), after + width)
        }
        // The type byte of an extension belongs to the structure and is not part of the value.
        // Timestamps are extensions of 4 or 8 bytes.
        0xd4..=0xd8 => Some(Part::Bytes { start: after + 1, width: 1 << (first - 0xd4) }),
        0xc7 => Some(Part::Bytes { start: after + 2, width: number(1)? as usize }),
        0xd9..=0xdb => string(1 << (first - 0xd9), true),
        0xdc => Some(Part::Array(number(2)? as usize, after + 2)),
        0xdd => Some(Part::Array(number(4)? as usize, after + 4)),
        0xde => Some(Part::Map(number(2)? as usize, after + 2)),
        0xdf => Some(Part::Map(number(4)? as usize, after + 4)),
        0xc1 | 0xc8 | 0xc9 => None,
    }
}

/// The first byte of the shortest form of an integer.
pub(crate) fn shortest(value: i64) -> u8 {
    match value {
        0..=0x7f => value as u8,
        0x80..=0xff => 0xcc,
        0x100..=0xffff => 0xcd,
        0x1_0000..=0xffff_ffff => 0xce,
        0x1_0000_0000.. => 0xcf,
        -32..0 => value as u8,
        -0x80..-32 => 0xd0,
        -0x8000..-0x80 => 0xd1,
        -0x8000_0000..-0x8000 => 0xd2,
        _ => 0xd3,
    }
}

/// The number of bytes that follow the first byte of an integer.
pub(crate) fn integer_width(first: u8) -> Option<usize> {
    match first {
        0x00..=0x7f | 0xe0..=0xff => Some(0),
        0xcc..=0xcf => Some(1 << (first - 0xcc)),
        0xd0..=0xd3 => Some(1 << (first - 0xd0)),
        _ => None,
    }
}

/// The first byte of a float of this width.
pub(crate) fn float(width: Width) -> Option<u8> {
    match width {
        Width::Half => None,
        Width::Single => Some(0xca),
        Width::Double => Some(0xcb),
    }
}

/// The first byte of a string in its shortest form, and the number of bytes of its length that
/// follow.
pub(crate) fn string(text: bool, length: usize) -> (u8, usize) {
    match (text, length) {
        (true, 0..=FIX_STRING) => (0xa0 | length as u8, 0),
        (true, ..=0xff) => (0xd9, 1),
        (true, ..=0xffff) => (0xda, 2),
        (true, _) => (0xdb, 4),
        (false, ..=0xff) => (0xc4, 1),
        (false, ..=0xffff) => (0xc5, 2),
        (false, _) => (0xc6, 4),
    }
}

/// The number of bytes of length that follow the first byte of a string whose length is not in its
/// shortest form.
pub(crate) fn length_width(first: u8, text: bool) -> Option<usize> {
    match (first, text) {
        (0xd9..=0xdb, true) => Some(1 << (first - 0xd9)),
        (0xc4..=0xc6, false) => Some(1 << (first - 0xc4)),
        _ => None,
    }
}

/// Reads a number of `width` bytes at `at`, the most significant byte first.
pub(crate) fn big_endian(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(width)?)?;
    Some(bytes.iter().fold(0, |value, &byte| value << 8 | u64::from(byte)))
}
