//! Holes of decimal numbers in text: coded by their digits as an integer, or by their place on a
//! line of numbers. A hole is a place of a message where the value differs from message to message;
//! a series is the values of one sender in one hole.
//!
//! All numbers that can be in a hole form its line, sorted by value; the ordinal of a number is its
//! count on the line. Where the numbers of a series are multiples of some scale plus an offset,
//! they lie on a grid (see [`grid`](crate::grid)), and the index is the multiple.

use alloc::vec::Vec;

use super::integers::Integers;
use super::value::Value;
use crate::cache::Cache;
use crate::decimal::{DECIMALS_MAX, Format, Parts, write};
use crate::error::DecodeError;
use crate::grid::{Grid, Point, Unit};
use crate::hash::hash;
use crate::integer::{Contexts, code_signed, code_unsigned};
use crate::keys::Seen;
use crate::line::Numeral;
use crate::literal::{LiteralCoder, Setting};
use crate::pass::Pass;
use crate::range_coder::Coder;
use crate::reference::{Places, Reference};
use crate::series::Series;
use crate::token::{DIGITS_MAX, FRACTION_MAX};

/// A number on a binary line with fewer digits after the point than this is always coded as digits.
/// A longer one may be coded by its ordinal: few digits cost less than to choose one of the 2^52
/// doubles between two powers of two.
const DECIMALS_LONG: u32 = 9;

/// The coder of [`HoleKind::Number`](crate::template::HoleKind::Number).
pub(crate) struct NumberCoder<'a> {
    pub(crate) integers: &'a mut Integers,
    pub(crate) grids: &'a mut Cache<Grid>,
    /// Codes the digits of long fractions.
    pub(crate) literals: &'a mut LiteralCoder,
}

impl NumberCoder<'_> {
    /// Codes a value. See [`Holes::code`](super::Holes::code).
    pub(super) fn code<C: Coder + ?Sized>(
        mut self,
        pass: &mut Pass<'_, C>,
        value: Value<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<Seen>, DecodeError> {
        let series = value.series();
        let start = out.len();
        let seen = self.code_value(pass, series, value.given, out)?;
        // The search for keys learns from a packet when the packet is acknowledged and learned.
        if seen.is_some() || pass.is_deferred() {
            return Ok(seen);
        }
        let whole = Parts::of(&out[start..]).value(Format::default());
        Ok(Some(Seen {
            label: series.label,
            identity: whole as u32,
            is_key: false,
            number: Some(whole),
        }))
    }
}

/// A number that was coded on the line of a hole.
struct OnLine {
    ordinal: i64,
    numeral: Numeral,
    /// Whether the number was coded in the unit that [`Grid::unit`] returned.
    in_unit: bool,
}

impl NumberCoder<'_> {
    /// Codes a number in the way that suits its series, and appends it to `out`.
    fn code_value<C: Coder + ?Sized>(
        &mut self,
        pass: &mut Pass<'_, C>,
        series: Series,
        given: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<Seen>, DecodeError> {
        let (mut reference, places) = self.integers.recall(series);
        let Some(mut grid) = Grid::recall(self.grids, series) else {
            let start = out.len();
            let seen = self.code_digits(pass, series, places, &mut reference, given, out)?;
            if reference.format.has_point()
                && let Some(numeral) = Numeral::with_fraction(&out[start..])
                && let Some(grid) = Grid::starting(numeral)
            {
                if grid.unit() != Unit::Plain {
                    reference.rebase(grid.last_in(grid.unit(), reference.format.factor()));
                }
                self.remember_grid(pass, series, grid);
            }
            self.integers.remember(pass, series, places, reference);
            return Ok(Some(seen));
        };

        let unit = grid.unit();
        let on_line = self.code_on_line(pass, series, &mut reference, &grid, given)?;
        let mut seen = None;
        let changed = if let Some(OnLine { ordinal, numeral, in_unit }) = on_line {
            // The encoder has the text already.
            match cfg!(feature = "fast") && !pass.coder.decodes() {
                true => out.extend_from_slice(given),
                false => numeral.write(out),
            }
            grid.learn_ordinal(ordinal) || !in_unit
        } else {
            if unit != Unit::Plain {
                reference.rebase(grid.last_in(Unit::Plain, reference.format.factor()));
            }
            let start = out.len();
            seen = Some(self.code_digits(pass, series, places, &mut reference, given, out)?);
            let moved = Numeral::of(&out[start..]).is_some_and(|numeral| grid.learn(numeral));
            unit != Unit::Plain || moved && grid.unit() != Unit::Plain
        };
        if changed {
            reference.rebase(grid.last_in(grid.unit(), reference.format.factor()));
        }
        self.remember_grid(pass, series, grid);
        self.integers.remember(pass, series, places, reference);
        Ok(seen)
    }

    fn remember_grid<C: Coder + ?Sized>(&mut self, pass: &Pass<'_, C>, series: Series, grid: Grid) {
        if !pass.is_read_only() {
            grid.remember(self.grids, series);
        }
    }

    /// Codes a number as an index of the grid, or else as an ordinal of the line. Codes and returns
    /// that it is neither if it is not on the line.
    fn code_on_line<C: Coder + ?Sized>(
        &mut self,
        pass: &mut Pass<'_, C>,
        series: Series,
        reference: &mut Reference,
        grid: &Grid,
        given: &[u8],
    ) -> Result<Option<OnLine>, DecodeError> {
        let unit = grid.unit();
        if unit == Unit::Plain {
            return Ok(None);
        }
        let line = grid.line();
        let numeral = if pass.coder.decodes() { None } else { Numeral::of(given) };
        let ordinal = numeral.and_then(|numeral| line.ordinal(numeral));
        // The values of other senders are in other units, so they predict nothing here.
        let unknown = Reference::default();
        let row = pass.single(hash(series.label, 0x6d0));
        if unit == Unit::Step {
            let point = ordinal.and_then(|ordinal| grid.locate(ordinal));
            if pass.bit(row, 0, point.is_some()) {
                let Point { index, error } = point.unwrap_or_default();
                let index = reference.code(pass, series, &unknown, index);
                let contexts = Contexts::single(hash(series.label, 0x6d1));
                let error = code_signed(pass, contexts, error);
                let ordinal = ordinal.or_else(|| grid.ordinal(Point { index, error }));
                let numeral = numeral.or_else(|| line.numeral(ordinal?));
                let (ordinal, numeral) = ordinal.zip(numeral).ok_or(DecodeError::Malformed)?;
                return Ok(Some(OnLine { ordinal, numeral, in_unit: true }));
            }
            reference.rebase(grid.last_in(Unit::Ordinal, 1));
        }
        let cheap =
            numeral.is_some_and(|numeral| line.is_binary() && numeral.decimals() < DECIMALS_LONG);
        let ordinal = ordinal.filter(|_| !cheap);
        if !pass.bit(row, 1 + usize::from(unit == Unit::Step), ordinal.is_some()) {
            return Ok(None);
        }
        let series = series.with_label(hash(series.label, 0x6d2));
        let ordinal = reference.code(pass, series, &unknown, ordinal.unwrap_or(0));
        let numeral = line.numeral(ordinal).ok_or(DecodeError::Malformed)?;
        Ok(Some(OnLine { ordinal, numeral, in_unit: unit == Unit::Ordinal }))
    }

    /// Codes the digits of a number as an integer, and the digits of a long fraction separately.
    fn code_digits<C: Coder + ?Sized>(
        &mut self,
        pass: &mut Pass<'_, C>,
        series: Series,
        places: Places,
        reference: &mut Reference,
        text: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Seen, DecodeError> {
        let decodes = pass.coder.decodes();
        let parts = if decodes { Parts::default() } else { Parts::of(text) };
        let before = reference.format;
        let format = if decodes { before } else { parts.format(before) };
        let format = code_format(pass, series.label, before, format)?;
        if format != before {
            reference.rescale(format.scale() - before.scale());
            reference.format = format;
        }

        let given = if decodes { 0 } else { parts.value(format) };
        let (value, mut seen) = self.integers.code_with(pass, series, places, reference, given);
        // The search for keys compares numbers by their whole part, since what is after the point
        // may be in another unit.
        if format.scale() > 0 {
            seen.number = seen.number.map(|value| value / format.factor());
        }
        if value.unsigned_abs() >= 10u64.pow(DIGITS_MAX as u32) {
            return Err(DecodeError::Malformed);
        }
        let negative = if value == 0 {
            let row = pass.single(hash(series.label, 0x5e0));
            pass.bit(row, 0, parts.negative)
        } else {
            value < 0
        };
        if decodes || format.decimals == Format::SPLIT {
            write(value.unsigned_abs(), negative, format, out);
        } else {
            out.extend_from_slice(text);
        }
        if format.decimals == Format::SPLIT {
            self.code_fraction(pass, series.label, parts.fraction, out)?;
        }
        Ok(seen)
    }

    /// Codes the point and the digits after it, or that there are none.
    fn code_fraction<C: Coder + ?Sized>(
        &mut self,
        pass: &mut Pass<'_, C>,
        label: u32,
        given: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        let row = pass.single(hash(label, 0xf3));
        if !pass.bit(row, 0, !given.is_empty()) {
            return Ok(());
        }
        out.push(b'.');
        let setting = Setting {
            label: hash(label, 0xf4),
            before: [0, b'.'],
            like: None,
            limit: FRACTION_MAX,
            is_fixed: false,
            has_runs: false,
        };
        let digits = given.get(1..).unwrap_or(&[]);
        self.literals.code(pass, &setting, digits, out)?;
        Ok(())
    }
}

/// Codes how a number is written: nearly always like the number before it in the hole.
fn code_format<C: Coder + ?Sized>(
    pass: &mut Pass<'_, C>,
    label: u32,
    before: Format,
    given: Format,
) -> Result<Format, DecodeError> {
    let context = hash(label, 0xf0);
    let row = pass.single(context);
    if pass.bit(row, 0, given == before) {
        return Ok(before);
    }
    let width = code_unsigned(pass, Contexts::single(hash(context, 1)), u64::from(given.width));
    let decimals =
        code_unsigned(pass, Contexts::single(hash(context, 2)), u64::from(given.decimals));
    let zeros = code_unsigned(pass, Contexts::single(hash(context, 3)), u64::from(given.zeros));
    let known = 1..=DIGITS_MAX as u64;
    if !known.contains(&width)
        || decimals > u64::from(Format::SPLIT)
        || zeros > u64::from(DECIMALS_MAX)
    {
        return Err(DecodeError::Malformed);
    }
    Ok(Format { width: width as u8, decimals: decimals as u8, zeros: zeros as u8 })
}
