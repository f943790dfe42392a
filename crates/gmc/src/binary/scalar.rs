//! Holes of self-describing formats: a number, a string or a simple value, of any width.
//!
//! A number is a number, whether it is written as an integer or as a float: its value is predicted
//! as the other numbers' are, and how it is written follows nearly always from that.

use alloc::vec::Vec;

use super::float::{self, Point, Width};
use super::format::Format;
use super::part::{Item, Number, Part};
use super::prefix::insert;
use crate::error::DecodeError;
use crate::hash::hash;
use crate::hole::Holes;
use crate::integer::{Contexts, code_unsigned};
use crate::range_coder::Coder;
use crate::series::Whose;
use crate::template::{Hole, HoleKind};

// The rows of a scalar hole.
const TYPE: u32 = 0x5ca0;
const GRID: u32 = 0x5ca1;
const FORM: u32 = 0x5ca2;
const FIRST: u32 = 0x5ca4;
const SIMPLE: u32 = 0x5ca5;
const STRING: u32 = 0x5ca6;
const RAW: u32 = 0x5ca7;

impl Holes {
    /// Codes a value and appends it to `out`.
    pub(crate) fn code_scalar<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        hole: &mut Hole,
        sender: u32,
        given: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        let HoleKind::Scalar(format) = hole.kind else { return Err(DecodeError::Malformed) };
        let whose = Whose { label: hole.label, sender };
        let item = match format.read(given, 0) {
            Some(Part::Item(item, _)) => item,
            _ => Item::Simple(0),
        };
        let row = self.rows.single(hash(hole.label, TYPE));
        if self.rows.bit(coder, row, 0, matches!(item, Item::Number(_))) {
            let first = given.first().copied().unwrap_or(0);
            let number = if let Item::Number(number) = item { number } else { Number::Integer(0) };
            return self.code_any_number(coder, format, hole, sender, (number, first), out);
        }
        let text = if let Item::String { text, .. } = item { Some(text) } else { None };
        if self.rows.bit(coder, row, 1, text == Some(true)) {
            return self.code_string(coder, (format, true), whose, given, limit, out);
        }
        if self.rows.bit(coder, row, 2, text == Some(false)) {
            let whose = Whose { label: hash(whose.label, STRING), ..whose };
            return self.code_string(coder, (format, false), whose, given, limit, out);
        }
        let given = if let Item::Simple(value) = item { value } else { 0 };
        let contexts = Contexts::single(hash(hole.label, SIMPLE));
        let value = code_unsigned(coder, &mut self.rows, contexts, u64::from(given));
        out.push(format.simple(u8::try_from(value).map_err(|_| DecodeError::Malformed)?));
        Ok(())
    }

    /// Codes a number; `given` is it and the first byte of how it is written.
    fn code_any_number<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        format: Format,
        hole: &mut Hole,
        sender: u32,
        given: (Number, u8),
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        let (number, first) = given;
        let label = hole.label;
        let shape = &mut hole.shape;
        let row = self.rows.single(hash(label, GRID));
        let mut point = on_grid(number, shape.grid.max(1));
        if self.rows.bit(coder, row, 0, point.is_some()) {
            shape.stay();
        } else {
            let finer = match number {
                Number::Float(bits, width) if shape.grid != 0 => {
                    float::find_grid(bits, width, shape.grid)
                }
                _ => None,
            };
            let finer = self.code_finer(coder, label, finer)?;
            let had_grid = shape.grid != 0;
            if had_grid {
                shape.stray(finer);
            }
            if finer.is_none() || shape.grid == 0 {
                return self.code_raw(coder, format, Whose { label, sender }, given, out);
            }
            point = on_grid(number, shape.grid);
        }
        let grid = shape.grid.max(1);
        let whose = Whose { label: hash(label, u32::from(grid)), sender };
        let point = point.unwrap_or_default();
        let steps = self.code_value(coder, whose, point.steps).1;
        let integral = steps % i64::from(grid) == 0;
        let float = match number {
            Number::Float(_, width) => Some(width),
            Number::Integer(_) => None,
        };
        let row = self.rows.single(hash(label, FORM + u32::from(integral)));
        let value = steps / i64::from(grid);
        let shortest = format.shortest(value);
        if self.rows.bit(coder, row, 0, float.is_none() && first == shortest) {
            return format.write_integer(shortest, value, out);
        }
        for (node, width) in [Width::Double, Width::Single, Width::Half].into_iter().enumerate() {
            if self.rows.bit(coder, row, node + 1, float == Some(width)) {
                if steps.unsigned_abs() >= float::STEPS_MAX {
                    return Err(DecodeError::Malformed);
                }
                let error = self.code_error(coder, label, width, point.error);
                let bits = float::render(Point { steps, error }, grid, width);
                return format.write_float(bits, width, out);
            }
        }
        let first = self.code_first(coder, label, first)?;
        format.write_integer(first, value, out)
    }

    /// Codes a finer grid, or that there is none.
    pub(crate) fn code_finer<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        label: u32,
        given: Option<u16>,
    ) -> Result<Option<u16>, DecodeError> {
        let row = self.rows.single(hash(label, GRID));
        if !self.rows.bit(coder, row, 1, given.is_some()) {
            return Ok(None);
        }
        let contexts = Contexts::single(hash(0, GRID));
        let grid = code_unsigned(coder, &mut self.rows, contexts, u64::from(given.unwrap_or(0)));
        match u16::try_from(grid) {
            Ok(grid @ 1..=float::GRID_MAX) => Ok(Some(grid)),
            _ => Err(DecodeError::Malformed),
        }
    }

    /// Codes a number that lies on no grid.
    fn code_raw<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        format: Format,
        whose: Whose,
        (number, first): (Number, u8),
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        let row = self.rows.single(hash(whose.label, RAW));
        for (node, width) in [Width::Double, Width::Single, Width::Half].into_iter().enumerate() {
            let given = match number {
                Number::Float(bits, given) if given == width => Some(bits),
                _ => None,
            };
            if self.rows.bit(coder, row, node, given.is_some()) {
                let bits = self.code_bits(coder, whose, width, given.unwrap_or(0));
                return format.write_float(bits, width, out);
            }
        }
        let given = if let Number::Integer(value) = number { value } else { 0 };
        let label = hash(whose.label, RAW + 1);
        let value = self.code_value(coder, Whose { label, ..whose }, given).1;
        let first = self.code_first(coder, whose.label, first)?;
        format.write_integer(first, value, out)
    }

    /// Codes the first byte of something that is not in its shortest form.
    fn code_first<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        label: u32,
        given: u8,
    ) -> Result<u8, DecodeError> {
        let contexts = Contexts::single(hash(label, FIRST));
        let first = code_unsigned(coder, &mut self.rows, contexts, u64::from(given));
        u8::try_from(first).map_err(|_| DecodeError::Malformed)
    }

    /// Codes a string of text or of bytes.
    fn code_string<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        (format, text): (Format, bool),
        whose: Whose,
        given: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        let start = out.len();
        let string = match format.read(given, 0) {
            Some(Part::Item(Item::String { start, .. }, end)) => &given[start..end],
            _ => &[],
        };
        self.texts.code(coder, &mut self.rows, whose, string, limit, out)?;
        let length = out.len() - start;
        let (mut first, mut width) = format.string(text, length);
        let row = self.rows.single(hash(whose.label, STRING));
        let is_shortest = given.first() == Some(&first);
        if !self.rows.bit(coder, row, 0, is_shortest) {
            let given = given.first().copied().unwrap_or(0);
            first = self.code_first(coder, whose.label, given)?;
            width = format.length_width(first, text).ok_or(DecodeError::Malformed)?;
        }
        let length = (length as u64).to_be_bytes();
        insert(out, start, &[&[first], &length[8 - width..]]);
        Ok(())
    }
}

/// The place of a number on a grid.
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
