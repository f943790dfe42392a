//! Holes of self-describing formats: a number, a string or a simple value, of any width. A hole is a place of a message
//! where the value differs from message to message; to "code" is to write in the encoder and to read in the decoder.
//!
//! A number is predicted by its value, whether it is written as an integer or as a float. How it is written nearly
//! always follows from the value. Numbers may lie on a grid: they are then multiples of 1/grid.

use alloc::vec::Vec;

use super::coder::{HoleCoder, Value};
use super::float::{GRID, code_bits, code_error, code_finer};
use super::integers::Integers;
use crate::binary::float::{self, Point, Width};
use crate::binary::format::Format;
use crate::binary::part::{Item, Number, Part};
use crate::binary::prefix::insert;
use crate::error::DecodeError;
use crate::hash::hash;
use crate::integer::{Contexts, code_unsigned};
use crate::keys::Seen;
use crate::pass::Pass;
use crate::range_coder::Coder;
use crate::series::Series;
use crate::text::Texts;

// Contexts: each selects the probabilities of one kind of decision.
const TYPE: u32 = 0x5ca0;
const FORM: u32 = 0x5ca2;
const FIRST: u32 = 0x5ca4;
const SIMPLE: u32 = 0x5ca5;
const STRING: u32 = 0x5ca6;
const RAW: u32 = 0x5ca7;

/// The coder of [`HoleKind::Scalar`](crate::template::HoleKind::Scalar).
pub(crate) struct ScalarCoder<'a> {
    pub(crate) format: Format,
    pub(crate) integers: &'a mut Integers,
    pub(crate) texts: &'a mut Texts,
}

impl HoleCoder for ScalarCoder<'_> {
    fn code<C: Coder + ?Sized>(
        self,
        pass: &mut Pass<'_, C>,
        value: Value<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<Seen>, DecodeError> {
        let (format, series) = (self.format, value.series());
        let item = match format.read(value.given, 0) {
            Some(Part::Item(item, _)) => item,
            _ => Item::Simple(0),
        };
        let row = pass.single(hash(series.label, TYPE));
        if pass.bit(row, 0, matches!(item, Item::Number(_))) {
            let first = value.given.first().copied().unwrap_or(0);
            let number = if let Item::Number(number) = item { number } else { Number::Integer(0) };
            return self.code_number(pass, value, Written { number, first }, out).map(Some);
        }
        let text = if let Item::String { text, .. } = item { Some(text) } else { None };
        if pass.bit(row, 1, text == Some(true)) {
            return self.code_string(pass, series, true, value, out);
        }
        if pass.bit(row, 2, text == Some(false)) {
            let series = series.with_label(hash(series.label, STRING));
            return self.code_string(pass, series, false, value, out);
        }
        let given = if let Item::Simple(value) = item { value } else { 0 };
        let contexts = Contexts::single(hash(series.label, SIMPLE));
        let simple = code_unsigned(pass, contexts, u64::from(given));
        out.push(format.simple(u8::try_from(simple).map_err(|_| DecodeError::Malformed)?));
        Ok(None)
    }
}

/// A number, and the first byte of its encoding in the message.
#[derive(Clone, Copy)]
struct Written {
    number: Number,
    first: u8,
}

impl ScalarCoder<'_> {
    /// Codes a number: as a point of the hole's grid, or else by itself.
    fn code_number<C: Coder + ?Sized>(
        self,
        pass: &mut Pass<'_, C>,
        value: Value<'_>,
        given: Written,
        out: &mut Vec<u8>,
    ) -> Result<Seen, DecodeError> {
        let series = value.series();
        let Written { number, first } = given;
        let (label, format) = (series.label, self.format);
        let shape = &mut value.hole.shape;
        let row = pass.single(hash(label, GRID));
        let mut point = on_grid(number, shape.grid.max(1));
        if pass.bit(row, 0, point.is_some()) {
            shape.stay();
        } else {
            let finer = match number {
                Number::Float(bits, width) if shape.grid != 0 => {
                    float::find_grid(bits, width, shape.grid)
                }
                _ => None,
            };
            let finer = code_finer(pass, label, finer)?;
            let had_grid = shape.grid != 0;
            if had_grid {
                shape.stray(finer);
            }
            if finer.is_none() || shape.grid == 0 {
                return self.code_raw(pass, series, given, out);
            }
            point = on_grid(number, shape.grid);
        }
        let grid = shape.grid.max(1);
        let point = point.unwrap_or_default();
        let on_grid = series.with_label(hash(label, u32::from(grid)));
        let coded = self.integers.code(pass, on_grid, point.steps);
        let steps = coded.value;
        let integral = steps % i64::from(grid) == 0;
        let float = match number {
            Number::Float(_, width) => Some(width),
            Number::Integer(_) => None,
        };
        let row = pass.single(hash(label, FORM + u32::from(integral)));
        let value = steps / i64::from(grid);
        let shortest = format.shortest(value);
        if pass.bit(row, 0, float.is_none() && first == shortest) {
            format.write_integer(shortest, value, out)?;
            return Ok(coded.seen);
        }
        for (node, width) in [Width::Double, Width::Single, Width::Half].into_iter().enumerate() {
            if pass.bit(row, node + 1, float == Some(width)) {
                if steps.unsigned_abs() >= float::STEPS_MAX {
                    return Err(DecodeError::Malformed);
                }
                let error = code_error(pass, label, width, point.error);
                let bits = float::render(Point { steps, error }, grid, width);
                format.write_float(bits, width, out)?;
                return Ok(coded.seen);
            }
        }
        let first = code_first(pass, label, first)?;
        format.write_integer(first, value, out)?;
        Ok(coded.seen)
    }

    /// Codes a number that is on no grid.
    fn code_raw<C: Coder + ?Sized>(
        self,
        pass: &mut Pass<'_, C>,
        series: Series,
        Written { number, first }: Written,
        out: &mut Vec<u8>,
    ) -> Result<Seen, DecodeError> {
        let row = pass.single(hash(series.label, RAW));
        for (node, width) in [Width::Double, Width::Single, Width::Half].into_iter().enumerate() {
            let given = match number {
                Number::Float(bits, given) if given == width => Some(bits),
                _ => None,
            };
            if pass.bit(row, node, given.is_some()) {
                let (bits, coded) =
                    code_bits(pass, self.integers, series, width, given.unwrap_or(0));
                self.format.write_float(bits, width, out)?;
                return Ok(coded.seen);
            }
        }
        let given = if let Number::Integer(value) = number { value } else { 0 };
        let raw = series.with_label(hash(series.label, RAW + 1));
        let coded = self.integers.code(pass, raw, given);
        let first = code_first(pass, series.label, first)?;
        self.format.write_integer(first, coded.value, out)?;
        Ok(coded.seen)
    }

    /// Codes a string of text or of bytes.
    fn code_string<C: Coder + ?Sized>(
        self,
        pass: &mut Pass<'_, C>,
        series: Series,
        text: bool,
        value: Value<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<Seen>, DecodeError> {
        let Value { given, limit, .. } = value;
        let start = out.len();
        let string = match self.format.read(given, 0) {
            Some(Part::Item(Item::String { start, .. }, end)) => &given[start..end],
            _ => &[],
        };
        self.texts.code(pass, series, string, limit, out)?;
        let length = out.len() - start;
        let (mut first, mut width) = self.format.string(text, length);
        let row = pass.single(hash(series.label, STRING));
        let is_shortest = given.first() == Some(&first);
        if !pass.bit(row, 0, is_shortest) {
            let given = given.first().copied().unwrap_or(0);
            first = code_first(pass, series.label, given)?;
            width = self.format.length_width(first, text).ok_or(DecodeError::Malformed)?;
        }
        let length = (length as u64).to_be_bytes();
        insert(out, start, &[&[first], &length[8 - width..]]);
        Ok(None)
    }
}

/// Codes the first byte of a value whose encoding is not the shortest.
fn code_first<C: Coder + ?Sized>(
    pass: &mut Pass<'_, C>,
    label: u32,
    given: u8,
) -> Result<u8, DecodeError> {
    let contexts = Contexts::single(hash(label, FIRST));
    let first = code_unsigned(pass, contexts, u64::from(given));
    u8::try_from(first).map_err(|_| DecodeError::Malformed)
}

/// The point of `grid` at which a number is, if it is on the grid.
fn on_grid(number: Number, grid: u16) -> Option<Point> {
    match number {
        Number::Integer(value) if grid == 1 => Some(Point { steps: value, error: 0 }),
        Number::Integer(value) => value
            .checked_mul(i64::from(grid))
            .filter(|steps| steps.unsigned_abs() < float::STEPS_MAX)
            .map(|steps| Point { steps, error: 0 }),
        Number::Float(bits, width) => float::locate(bits, width, grid),
    }
}
