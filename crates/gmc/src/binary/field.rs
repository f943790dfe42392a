//! Holes at fixed places and with a length before them: integers, floats and strings that do not
//! tell what they are.

use alloc::vec::Vec;

use super::float::{self, Point, Width};
use super::scalar::insert;
use crate::error::DecodeError;
use crate::hash::hash;
use crate::hole::{Holes, Whose};
use crate::integer::{Contexts, code_signed};
use crate::range_coder::Coder;
use crate::template::Hole;

/// How the length before a string is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prefix {
    Byte,
    Big16,
    Little16,
    Big32,
    Little32,
    Varint,
}

impl Prefix {
    /// Wider ones first: their zeros prove something.
    pub(crate) const ALL: [Self; 6] =
        [Self::Big32, Self::Little32, Self::Big16, Self::Little16, Self::Byte, Self::Varint];

    /// The string whose length stands at `at`.
    pub(crate) fn string(self, bytes: &[u8], at: usize) -> Option<core::ops::Range<usize>> {
        let rest = bytes.get(at..)?;
        let (length, width) = match self {
            Self::Byte => (u64::from(*rest.first()?), 1),
            Self::Big16 => (u16::from_be_bytes(*rest.first_chunk()?).into(), 2),
            Self::Little16 => (u16::from_le_bytes(*rest.first_chunk()?).into(), 2),
            Self::Big32 => (u32::from_be_bytes(*rest.first_chunk()?).into(), 4),
            Self::Little32 => (u32::from_le_bytes(*rest.first_chunk()?).into(), 4),
            Self::Varint => {
                let end = varint_end(bytes, at)?;
                (read_varint(&bytes[at..end]), end - at)
            }
        };
        let start = at + width;
        let end = start.checked_add(usize::try_from(length).ok()?)?;
        (end <= bytes.len()).then_some(start..end)
    }

    /// The longest string.
    fn limit(self) -> usize {
        match self {
            Self::Byte => 0xff,
            Self::Big16 | Self::Little16 => 0xffff,
            _ => usize::MAX,
        }
    }

    fn insert(self, out: &mut Vec<u8>, at: usize) {
        let length = out.len() - at;
        match self {
            Self::Byte => insert(out, at, &[&[length as u8]]),
            Self::Big16 => insert(out, at, &[&(length as u16).to_be_bytes()]),
            Self::Little16 => insert(out, at, &[&(length as u16).to_le_bytes()]),
            Self::Big32 => insert(out, at, &[&(length as u32).to_be_bytes()]),
            Self::Little32 => insert(out, at, &[&(length as u32).to_le_bytes()]),
            Self::Varint => {
                let (bytes, count) = varint(length as u64);
                insert(out, at, &[&bytes[..count]]);
            }
        }
    }
}

/// A double that was made of a float of 32 bits ends with so many zeros.
const PROMOTED: u32 = 29;
/// What takes no more bits than this need not be doubted.
const CHEAP: u32 = 4;

impl Holes {
    /// Codes as many bytes as the hole has in the example.
    pub(crate) fn code_field<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        hole: &mut Hole,
        sender: u32,
        given: &[u8],
        out: &mut Vec<u8>,
    ) {
        let width = hole.range().len();
        let shape = hole.shape;
        let given = if shape.is_little_endian() {
            from_little_endian(given)
        } else {
            from_big_endian(given)
        };
        let bits = match Width::of_bytes(width) {
            Some(float) if shape.is_float() => self.code_float(coder, hole, float, sender, given),
            _ => {
                let label = hash(hole.label, shape.form());
                let whose = Whose { label, sender };
                let (before, value) = self.code_value(coder, whose, extend(given, width));
                if let Some(before) = before {
                    doubt_field(hole, width, before, value);
                }
                value as u64
            }
        };
        if shape.is_little_endian() {
            out.extend_from_slice(&bits.to_le_bytes()[..width]);
        } else {
            out.extend_from_slice(&bits.to_be_bytes()[8 - width..]);
        }
    }

    /// Codes a float that is known to be one.
    fn code_float<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        hole: &mut Hole,
        width: Width,
        sender: u32,
        given: u64,
    ) -> u64 {
        let label = hash(hole.label, u32::from(hole.shape.is_little_endian()));
        let shape = &mut hole.shape;
        let whose = Whose { label, sender };
        let bits = if shape.grid == 0 {
            let bits = self.code_bits(coder, whose, width, given);
            shape.roam(USUAL.iter().any(|&grid| float::locate(bits, width, grid).is_some()));
            bits
        } else {
            let mut point = float::locate(given, width, shape.grid);
            let row = self.rows.single(hash(label, GRID));
            let mut on_grid = self.rows.bit(coder, row, 0, point.is_some());
            if on_grid {
                shape.stay();
            } else {
                let finer = float::find_grid(given, width, shape.grid);
                // A decoder that is told nonsense takes it for no grid.
                let finer = self.code_finer(coder, label, finer).unwrap_or(None);
                shape.stray(finer);
                on_grid = finer.is_some() && shape.grid != 0;
                point = float::locate(given, width, shape.grid.max(1));
            }
            if on_grid {
                let whose = Whose { label: hash(label, u32::from(shape.grid)), sender };
                let point = point.unwrap_or_default();
                let steps = self.code_value(coder, whose, point.steps).1;
                let steps = steps % float::STEPS_MAX as i64;
                let error = self.code_error(coder, label, width, point.error);
                float::render(Point { steps, error }, shape.grid, width)
            } else {
                self.code_bits(coder, whose, width, given)
            }
        };
        shape.weigh_float(float::distance(bits, bits, width).is_some());
        bits
    }

    /// Codes how far a float is from the nearest one to its place on the grid.
    pub(crate) fn code_error<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        label: u32,
        width: Width,
        given: i8,
    ) -> i8 {
        if width != Width::Double {
            return 0;
        }
        let contexts = Contexts::single(hash(label, ERROR));
        code_signed(coder, &mut self.rows, contexts, i64::from(given)) as i8
    }

    /// Codes a float by its bits.
    pub(crate) fn code_bits<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        whose: Whose,
        width: Width,
        given: u64,
    ) -> u64 {
        let ordered = float::ordered(given, width);
        let row = self.rows.single(hash(whose.label, PROMOTED));
        let promoted = width == Width::Double
            && self.rows.bit(coder, row, 0, ordered.trailing_zeros() >= PROMOTED);
        let shift = if promoted { PROMOTED } else { 0 };
        let label = hash(hash(whose.label, shift), width.bytes() as u32);
        let value = self.code_value(coder, Whose { label, ..whose }, ordered >> shift).1;
        float::from_ordered(value << shift, width)
    }

    /// Codes bytes as many as the hole has in the example, which are no number.
    pub(crate) fn code_opaque<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        hole: &Hole,
        sender: u32,
        given: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        let width = hole.range().len();
        let start = out.len();
        let whose = Whose { label: hole.label, sender };
        self.texts.code(coder, &mut self.rows, whose, given, width, out)?;
        if out.len() - start == width { Ok(()) } else { Err(DecodeError::Malformed) }
    }

    /// Codes a string and its length before it.
    pub(crate) fn code_prefixed<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        prefix: Prefix,
        whose: Whose,
        given: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        let start = out.len();
        let string = prefix.string(given, 0).map_or(&[][..], |range| &given[range]);
        let limit = limit.min(prefix.limit());
        self.texts.code(coder, &mut self.rows, whose, string, limit, out)?;
        prefix.insert(out, start);
        Ok(())
    }

    /// Codes a variable-length integer.
    pub(crate) fn code_varint<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        hole: &mut Hole,
        sender: u32,
        given: &[u8],
        out: &mut Vec<u8>,
    ) {
        let shape = &mut hole.shape;
        let given = read_varint(given);
        let given = if shape.is_zigzag() { from_zigzag(given) } else { given as i64 };
        let whose = Whose { label: hash(hole.label, shape.form()), sender };
        let (before, value) = self.code_value(coder, whose, given);
        let raw = if shape.is_zigzag() { to_zigzag(value) } else { value as u64 };
        if let Some(before) = before {
            let other = |value: i64| {
                if shape.is_zigzag() { to_zigzag(value) as i64 } else { from_zigzag(value as u64) }
            };
            let bits = float::size(value.wrapping_sub(before));
            let other = float::size(other(value).wrapping_sub(other(before)));
            if bits > 1 {
                shape.weigh_sign(bits, other);
            }
        }
        let (bytes, count) = varint(raw);
        out.extend_from_slice(&bytes[..count]);
    }
}

// Rows of float holes.
const GRID: u32 = 0x5ca1;
const ERROR: u32 = 0x5ca8;

/// Grids that a hole without a grid is tried with.
const USUAL: [u16; 2] = [3600, 1000];

/// Whether another form would have been cheaper.
fn doubt_field(hole: &mut Hole, width: usize, before: i64, value: i64) {
    let bits = float::size(value.wrapping_sub(before));
    if bits <= CHEAP || width == 1 {
        return;
    }
    let (a, b) = (swap(before as u64, width), swap(value as u64, width));
    let swapped = float::size(extend(a, width).wrapping_sub(extend(b, width)));
    let mask = u64::MAX >> (64 - 8 * width);
    let float = Width::of_bytes(width)
        .and_then(|width| float::distance(before as u64 & mask, value as u64 & mask, width));
    // In doubt, what looks like a float is one.
    hole.shape.weigh(bits, swapped, float.map_or(u32::MAX / 2, |bits| bits.saturating_sub(2)));
}

fn swap(bits: u64, width: usize) -> u64 {
    bits.swap_bytes() >> (64 - 8 * width)
}

/// Up to eight bytes as a number. Those of usual widths may have a sign.
pub(crate) fn extend(bits: u64, width: usize) -> i64 {
    if matches!(width, 2 | 4 | 8) {
        let shift = 64 - 8 * width;
        return (bits << shift) as i64 >> shift;
    }
    bits as i64
}

/// Up to eight bytes.
pub(crate) fn from_big_endian(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

pub(crate) fn from_little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

/// The end of the variable-length integer at `at`: seven bits to a byte, the low ones first, as
/// short as can be, up to 64 bits.
pub(crate) fn varint_end(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let last = rest.iter().take(10).position(|&byte| byte < 0x80)?;
    let fits = last < 9 || rest[last] == 1;
    (fits && (last == 0 || rest[last] != 0)).then_some(at + last + 1)
}

pub(crate) fn read_varint(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, &byte| value << 7 | u64::from(byte & 0x7f))
}

/// A variable-length integer and its length.
fn varint(mut value: u64) -> ([u8; 10], usize) {
    let mut bytes = [0; 10];
    let mut count = 0;
    loop {
        bytes[count] = value as u8 & 0x7f;
        value >>= 7;
        if value == 0 {
            return (bytes, count + 1);
        }
        bytes[count] |= 0x80;
        count += 1;
    }
}

fn from_zigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

fn to_zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}
