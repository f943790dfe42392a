//! Holes of self-describing formats: a number, a string or a simple value, of any width. A hole is
//! a place of a message where the value differs from message to message; to "code" is to write in
//! the encoder and to read in the decoder.
//!
//! A number is predicted by its value, whether it is written as an integer or as a float. How it is
//! written nearly always follows from the value. Numbers may lie on a grid: they are then multiples
//! of 1/grid.

use alloc::vec::Vec;

use super::float::{GRID, code_bits, code_error, code_finer};
use super::integers::Integers;
use super::value::Value;
use crate::binary::float::{self, Width};
use crate::binary::format::Format;
use crate::binary::part::{Item, Number, Part};
use crate::binary::prefix::insert;
use crate::binary::shape::Shape;
use crate::cache::Cache;
use crate::error::DecodeError;
use crate::float_text;
use crate::grid::{Grid, Point, Unit};
use crate::hash::hash;
use crate::integer::{Contexts, code_signed, code_unsigned};
use crate::keys::Seen;
use crate::pass::Pass;
use crate::range_coder::Coder;
use crate::reference::Reference;
use crate::series::Series;
use crate::text::Texts;

// Contexts: each selects the probabilities of one kind of decision.
const TYPE: u32 = 0x5ca0;
const FORM: u32 = 0x5ca2;
const FIRST: u32 = 0x5ca4;
const SIMPLE: u32 = 0x5ca5;
const STRING: u32 = 0x5ca6;
const RAW: u32 = 0x5ca7;
const STEPS: u32 = 0x5cb0;

/// The coder of [`HoleKind::Scalar`](crate::template::HoleKind::Scalar).
pub(crate) struct ScalarCoder<'a> {
    pub(crate) format: Format,
    pub(crate) integers: &'a mut Integers,
    pub(crate) grids: &'a mut Cache<Grid>,
    pub(crate) texts: &'a mut Texts,
}

impl ScalarCoder<'_> {
    /// Codes a value. See [`Holes::code`](super::Holes::code).
    pub(super) fn code<C: Coder + ?Sized>(
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
    /// Codes a number: by the grid that the doubles of its series were found to lie on, or else by
    /// itself.
    fn code_number<C: Coder + ?Sized>(
        mut self,
        pass: &mut Pass<'_, C>,
        value: Value<'_>,
        given: Written,
        out: &mut Vec<u8>,
    ) -> Result<Seen, DecodeError> {
        let series = value.series();
        let shape = &mut value.hole.shape;
        if is_odd(shape.grid)
            && let Some(seen) = self.code_step(pass, series, shape.grid, given, out)?
        {
            return Ok(seen);
        }
        let start = out.len();
        let seen = self.code_alone(pass, series, shape, given, out)?;
        if is_odd(shape.grid)
            && let Some(Part::Item(Item::Number(Number::Float(bits, Width::Double)), _)) =
                self.format.read(out, start)
            // A float of 32 bits that was widened was rounded too coarsely to be on a grid of
            // doubles.
            && float::narrow(bits, Width::Single).is_none()
            && let Some(ordinal) = float_text::double_ordinal(bits)
        {
            self.learn_step(pass, series, ordinal);
        }
        Ok(seen)
    }

    /// Codes a number by itself: as a multiple of 1/grid if it is one.
    fn code_alone<C: Coder + ?Sized>(
        &mut self,
        pass: &mut Pass<'_, C>,
        series: Series,
        shape: &mut Shape,
        given: Written,
        out: &mut Vec<u8>,
    ) -> Result<Seen, DecodeError> {
        let Written { number, first } = given;
        let (label, format) = (series.label, self.format);
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
                let bits = float::render(float::Point { steps, error }, grid, width);
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
        &mut self,
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
                let given = given.unwrap_or(0);
                let (bits, coded) = code_bits(pass, self.integers, series, width, given);
                self.format.write_float(bits, width, out)?;
                let mut seen = coded.seen;
                if let Some(ordinal) = ordinal(Number::Float(bits, width)) {
                    seen.number = Some(whole_part(ordinal));
                }
                return Ok(seen);
            }
        }
        let given = if let Number::Integer(value) = number { value } else { 0 };
        let raw = series.with_label(hash(series.label, RAW + 1));
        let coded = self.integers.code(pass, raw, given);
        let first = code_first(pass, series.label, first)?;
        self.format.write_integer(first, coded.value, out)?;
        Ok(coded.seen)
    }

    /// Learns from a number that was coded by itself. It starts the grid of its series if there is
    /// none.
    fn learn_step<C: Coder + ?Sized>(&mut self, pass: &Pass<'_, C>, series: Series, ordinal: i64) {
        let known = Grid::recall(self.grids, series);
        let mut grid = known.unwrap_or_else(|| Grid::of_doubles(ordinal));
        grid.learn_ordinal(ordinal);
        if grid.unit() == Unit::Step {
            let steps = series.with_label(hash(series.label, STEPS));
            let (mut reference, places) = self.integers.recall(steps);
            reference.rebase(grid.last_in(Unit::Step, 1));
            self.integers.remember(pass, steps, places, reference);
        }
        if !pass.is_read_only() {
            grid.remember(self.grids, series);
        }
    }

    /// Codes a number by its place on the grid that was found for the doubles of its series, as the
    /// same number would be coded in text, if that grid has longer steps than 1/`multiples`.
    /// Returns `None` if not, or if the number is not on the grid; the latter is coded.
    fn code_step<C: Coder + ?Sized>(
        &mut self,
        pass: &mut Pass<'_, C>,
        series: Series,
        multiples: u16,
        Written { number, first }: Written,
        out: &mut Vec<u8>,
    ) -> Result<Option<Seen>, DecodeError> {
        let label = series.label;
        let is_better = |grid: &Grid| grid.unit() == Unit::Step && grid.has_longer_steps(multiples);
        let known = Grid::recall(self.grids, series).filter(is_better);
        let Some(mut grid) = known else { return Ok(None) };
        let point = ordinal(number).and_then(|ordinal| grid.locate(ordinal));
        let row = pass.single(hash(label, STEPS + 1));
        if !pass.bit(row, 0, point.is_some()) {
            return Ok(None);
        }
        let Point { index, error } = point.unwrap_or_default();
        let steps = series.with_label(hash(label, STEPS));
        let (mut reference, places) = self.integers.recall(steps);
        let index = reference.code(pass, steps, &Reference::default(), index);
        let error = code_signed(pass, Contexts::single(hash(label, STEPS + 2)), error);
        let ordinal = grid.ordinal(Point { index, error }).ok_or(DecodeError::Malformed)?;
        if grid.learn_ordinal(ordinal) {
            reference.rebase(grid.last_in(Unit::Step, 1));
        }
        self.integers.remember(pass, steps, places, reference);
        if !pass.is_read_only() {
            grid.remember(self.grids, series);
        }

        // The type of a number mostly follows from its value: writers take the shortest one, or
        // always the same.
        let bits = float_text::double_bits(ordinal).ok_or(DecodeError::Malformed)?;
        let whole = whole_part(ordinal);
        let is_whole = self::ordinal(Number::Integer(whole)) == Some(ordinal);
        let narrow = [Width::Half, Width::Single].map(|width| float::narrow(bits, width));
        let class = match narrow {
            _ if is_whole => 0,
            [Some(_), _] => 1,
            [None, Some(_)] => 2,
            [None, None] => 3,
        };
        let row = pass.single(hash(label, STEPS + 4 + class));
        let shortest = self.format.shortest(whole);
        let is_integer = matches!(number, Number::Integer(_));
        let seen = Seen { label, identity: whole as u32, is_key: false, number: Some(whole) };
        if is_whole && pass.bit(row, 0, is_integer) {
            let is_shortest = pass.bit(row, 4, first == shortest);
            let first = if is_shortest { shortest } else { code_first(pass, label, first)? };
            self.format.write_integer(first, whole, out)?;
            return Ok(Some(seen));
        }
        let widths = [Width::Double, Width::Single, Width::Half];
        let is_written = |width| matches!(number, Number::Float(_, given) if given == width);
        let mut coded = widths.into_iter().enumerate();
        let width = coded
            .find(|&(node, width)| pass.bit(row, node + 1, is_written(width)))
            .map(|(_, width)| width)
            .ok_or(DecodeError::Malformed)?;
        let bits = match width {
            Width::Double => Some(bits),
            width => float::narrow(bits, width),
        };
        self.format.write_float(bits.ok_or(DecodeError::Malformed)?, width, out)?;
        Ok(Some(seen))
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
        let seen = self.texts.code(pass, series, string, limit, out)?;
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
        Ok(Some(seen))
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

/// The ordinal of a number among the doubles, if it has one.
fn ordinal(number: Number) -> Option<i64> {
    match number {
        Number::Float(bits, Width::Double) => float_text::double_ordinal(bits),
        Number::Float(bits, width) => float_text::double_ordinal(float::widen(bits, width)?),
        Number::Integer(value) => {
            let is_small = value.unsigned_abs() < 1 << 30;
            let fixed =
                || float_text::DOUBLE.nearest(i128::from(value) << float_text::FRACTION_BITS);
            is_small.then(fixed)?
        }
    }
}

/// Whether 1/`grid` is not a grid of decimals with up to four digits after the point, or there is
/// no grid (0). Numbers on such a grid may have longer steps, or may be on no grid, and are
/// examined more closely.
fn is_odd(grid: u16) -> bool {
    10_000u16.checked_rem(grid) != Some(0)
}

/// The whole part of the double with this ordinal; of a negative one, the next smaller whole
/// number.
fn whole_part(ordinal: i64) -> i64 {
    (float_text::DOUBLE.fixed(ordinal) >> float_text::FRACTION_BITS) as i64
}

/// The point of `grid` at which a number is, if it is on the grid.
fn on_grid(number: Number, grid: u16) -> Option<float::Point> {
    match number {
        Number::Integer(value) if grid == 1 => Some(float::Point { steps: value, error: 0 }),
        Number::Integer(value) => value
            .checked_mul(i64::from(grid))
            .filter(|steps| steps.unsigned_abs() < float::STEPS_MAX)
            .map(|steps| float::Point { steps, error: 0 }),
        Number::Float(bits, width) => float::locate(bits, width, grid),
    }
}
