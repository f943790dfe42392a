//! Holes at fixed places and with a length before them: integers, floats and strings that do not
//! tell what they are.

use alloc::vec::Vec;

use super::fixed::{extend, from_big_endian, from_little_endian, swap};
use super::float::{self, Point, Width};
use super::prefix::Prefix;
use super::varint::{from_zigzag, read_varint, to_zigzag, varint};
use crate::error::DecodeError;
use crate::hash::hash;
use crate::hole::Holes;
use crate::integer::{Contexts, code_signed, size};
use crate::range_coder::Coder;
use crate::series::Whose;
use crate::template::Hole;

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
            let bits = size(value.wrapping_sub(before));
            let other = size(other(value).wrapping_sub(other(before)));
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
    let bits = size(value.wrapping_sub(before));
    if bits <= CHEAP || width == 1 {
        return;
    }
    let (a, b) = (swap(before as u64, width), swap(value as u64, width));
    let swapped = size(extend(a, width).wrapping_sub(extend(b, width)));
    let mask = u64::MAX >> (64 - 8 * width);
    let float = Width::of_bytes(width)
        .and_then(|width| float::distance(before as u64 & mask, value as u64 & mask, width));
    // In doubt, what looks like a float is one.
    hole.shape.weigh(bits, swapped, float.map_or(u32::MAX / 2, |bits| bits.saturating_sub(2)));
}
