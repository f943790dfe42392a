//! Reads and writes the parts of a CBOR value (RFC 8949). A part is a head of an array or a map, or
//! a value that contains no others. A head has an argument, which is a small number or the number
//! of bytes or values that follow.

use super::float::Width;
use super::message_pack::big_endian;
use super::part::{Item, Number, Part};

/// The part that starts at `at`.
pub(crate) fn read(bytes: &[u8], at: usize) -> Option<Part> {
    let first = *bytes.get(at)?;
    let (major, info) = (first >> 5, first & 31);
    match (major, info) {
        // These heads open an array or a map of indefinite length, which a "break" byte ends.
        (4, 31) => return Some(Part::Open { map: false, after: at + 1 }),
        (5, 31) => return Some(Part::Open { map: true, after: at + 1 }),
        (7, 31) => return Some(Part::Break(at + 1)),
        _ => {}
    }
    let width = argument_width(info)?;
    let after = at + 1 + width;
    let argument = if width == 0 { u64::from(info) } else { big_endian(bytes, at + 1, width)? };
    let item = |item: Item, end: usize| (end <= bytes.len()).then_some(Part::Item(item, end));
    match major {
        // An integer that does not fit into a signed 64-bit number is read as bytes.
        0 | 1 if argument > i64::MAX as u64 => Some(Part::Bytes { start: at + 1, width }),
        0 => item(Item::Number(Number::Integer(argument as i64)), after),
        1 => item(Item::Number(Number::Integer(!(argument as i64))), after),
        2 | 3 => {
            let end = after.checked_add(usize::try_from(argument).ok()?)?;
            item(Item::String { text: major == 3, start: after }, end)
        }
        4 => Some(Part::Array(usize::try_from(argument).ok()?, after)),
        5 => Some(Part::Map(usize::try_from(argument).ok()?, after)),
        6 => Some(Part::Tag(after)),
        _ => match Width::of_bytes(width) {
            Some(float) => item(Item::Number(Number::Float(argument, float)), after),
            None if width == 0 => item(Item::Simple(info), after),
            None => Some(Part::Bytes { start: at + 1, width }),
        },
    }
}

fn argument_width(info: u8) -> Option<usize> {
    match info {
        0..24 => Some(0),
        24..28 => Some(1 << (info - 24)),
        _ => None,
    }
}

/// The first byte with the shortest form of an argument, and the number of bytes of the argument
/// that follow it.
fn shortest_argument(major: u8, argument: u64) -> (u8, usize) {
    let (info, width) = match argument {
        0..24 => (argument as u8, 0),
        24..=0xff => (24, 1),
        0x100..=0xffff => (25, 2),
        0x1_0000..=0xffff_ffff => (26, 4),
        _ => (27, 8),
    };
    (major << 5 | info, width)
}

/// The first byte of the shortest form of an integer.
pub(crate) fn shortest(value: i64) -> u8 {
    shortest_argument(u8::from(value < 0), argument(value)).0
}

/// The argument that follows the first byte of an integer.
pub(crate) fn argument(value: i64) -> u64 {
    (value ^ value >> 63) as u64
}

/// The number of bytes that follow the first byte of an integer.
pub(crate) fn integer_width(first: u8) -> Option<usize> {
    if first >> 5 > 1 { None } else { argument_width(first & 31) }
}

/// The first byte of a float of this width.
pub(crate) fn float(width: Width) -> u8 {
    match width {
        Width::Half => 0xf9,
        Width::Single => 0xfa,
        Width::Double => 0xfb,
    }
}

/// The first byte of a string in its shortest form, and the number of bytes of its length that
/// follow.
pub(crate) fn string(text: bool, length: usize) -> (u8, usize) {
    shortest_argument(if text { 3 } else { 2 }, length as u64)
}

/// The number of bytes of length that follow the first byte of a string whose length is not in its
/// shortest form.
pub(crate) fn length_width(first: u8, text: bool) -> Option<usize> {
    let width = argument_width(first & 31)?;
    (first >> 5 == if text { 3 } else { 2 } && width > 0).then_some(width)
}

/// The first byte of a simple value, such as true, false or null.
pub(crate) fn simple(value: u8) -> u8 {
    0xe0 | value & 31
}
