//! Number holes: digits to a number and back, exactly, and the difference from what was expected.

use alloc::vec::Vec;

use crate::decimal::{DECIMALS_MAX, Format, Parts, write};
use crate::error::DecodeError;
use crate::grid::{Grid, Point, Unit};
use crate::hash::hash;
use crate::hole::Holes;
use crate::integer::{Contexts, code_signed, code_unsigned};
use crate::keys::Seen;
use crate::line::Numeral;
use crate::literal::Setting;
use crate::model::{Learning, Rows};
use crate::range_coder::Coder;
use crate::reference::Reference;
use crate::series::Whose;
use crate::token::{DIGITS_MAX, FRACTION_MAX};

/// Fractions shorter than this are cheaper in digits than as one of the 2^52 doubles of their size.
const DECIMALS_LONG: u32 = 9;

impl Holes {
    /// Codes the digits of a number and appends them to `out`.
    pub(crate) fn code_number<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        whose: Whose,
        given: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        let (start, seen) = (out.len(), self.seen.len());
        self.code_number_part(coder, whose, given, out)?;
        if self.rows.learning == Learning::Deferred {
            // Nobody learns from what was seen.
            return Ok(());
        }
        // Numbers are compared by their whole part: what is behind the point may be in other units.
        let whole = Parts::of(&out[start..]).value(Format::default());
        match self.seen.get_mut(seen) {
            Some(seen) => seen.number = seen.number.map(|_| whole),
            None => self.seen.push(Seen {
                label: whose.label,
                identity: whole as u32,
                is_key: false,
                number: Some(whole),
            }),
        }
        Ok(())
    }

    fn code_number_part<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        whose: Whose,
        given: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        let (mut reference, at) = Reference::recall(&self.references, whose);
        let Some(mut grid) = Grid::recall(&self.grids, whose) else {
            let start = out.len();
            self.code_digits(coder, whose, &mut reference, given, out)?;
            let numeral = Numeral::of(&out[start..]).filter(|numeral| numeral.has_fraction());
            if let Some(grid) = numeral.and_then(Grid::starting) {
                if grid.unit() != Unit::Plain {
                    reference.rebase(grid.last_in(grid.unit(), reference.format.factor()));
                }
                grid.remember(&mut self.grids, whose);
            }
            Reference::remember(&mut self.references, whose, at, reference);
            return Ok(());
        };

        let unit = grid.unit();
        let ordinal = self.code_on_line(coder, whose, &mut reference, &grid, given)?;
        let changed = if let Some((ordinal, numeral, in_unit)) = ordinal {
            numeral.write(out);
            grid.learn_ordinal(ordinal) || !in_unit
        } else {
            if unit != Unit::Plain {
                reference.rebase(grid.last_in(Unit::Plain, reference.format.factor()));
            }
            let start = out.len();
            self.code_digits(coder, whose, &mut reference, given, out)?;
            let moved = Numeral::of(&out[start..]).is_some_and(|numeral| grid.learn(numeral));
            unit != Unit::Plain || moved && grid.unit() != Unit::Plain
        };
        if changed {
            reference.rebase(grid.last_in(grid.unit(), reference.format.factor()));
        }
        grid.remember(&mut self.grids, whose);
        Reference::remember(&mut self.references, whose, at, reference);
        Ok(())
    }

    /// Codes a number as an index of the grid, or else as an ordinal of its line, if it is coded so.
    fn code_on_line<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        whose: Whose,
        reference: &mut Reference,
        grid: &Grid,
        given: &[u8],
    ) -> Result<Option<(i64, Numeral, bool)>, DecodeError> {
        let unit = grid.unit();
        if unit == Unit::Plain {
            return Ok(None);
        }
        let line = grid.line();
        let numeral = if coder.decodes() { None } else { Numeral::of(given) };
        let ordinal = numeral.and_then(|numeral| line.ordinal(numeral));
        // Others' values are in other units.
        let nobody = Reference::default();
        let row = self.rows.single(hash(whose.label, 0x6d0));
        if unit == Unit::Step {
            let point = ordinal.and_then(|ordinal| grid.locate(ordinal));
            if self.rows.bit(coder, row, 0, point.is_some()) {
                let Point { index, error } = point.unwrap_or_default();
                let index = reference.code(coder, &mut self.rows, whose, &nobody, index);
                let contexts = Contexts::single(hash(whose.label, 0x6d1));
                let error = code_signed(coder, &mut self.rows, contexts, error);
                let ordinal = ordinal.or_else(|| grid.ordinal(Point { index, error }));
                let numeral = numeral.or_else(|| line.numeral(ordinal?));
                let (ordinal, numeral) = ordinal.zip(numeral).ok_or(DecodeError::Malformed)?;
                return Ok(Some((ordinal, numeral, true)));
            }
            reference.rebase(grid.last_in(Unit::Ordinal, 1));
        }
        let cheap =
            numeral.is_some_and(|numeral| line.is_binary() && numeral.decimals() < DECIMALS_LONG);
        let ordinal = ordinal.filter(|_| !cheap);
        if !self.rows.bit(coder, row, 1 + usize::from(unit == Unit::Step), ordinal.is_some()) {
            return Ok(None);
        }
        let whose = Whose { label: hash(whose.label, 0x6d2), ..whose };
        let ordinal = reference.code(coder, &mut self.rows, whose, &nobody, ordinal.unwrap_or(0));
        let numeral = line.numeral(ordinal).ok_or(DecodeError::Malformed)?;
        Ok(Some((ordinal, numeral, unit == Unit::Ordinal)))
    }

    /// Codes the digits of a number in decimal, the fraction by itself if it is long.
    fn code_digits<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        whose: Whose,
        reference: &mut Reference,
        given: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        let parts = if coder.decodes() { Parts::default() } else { Parts::of(given) };
        let before = reference.format;
        let format = if coder.decodes() { before } else { parts.format(before) };
        let format = code_format(coder, &mut self.rows, whose.label, before, format)?;
        if format != before {
            reference.rescale(format.scale() - before.scale());
            reference.format = format;
        }

        let given = if coder.decodes() { 0 } else { parts.value(format) };
        let value = self.code_integer(coder, whose, reference, given);
        if value.unsigned_abs() >= 10u64.pow(DIGITS_MAX as u32) {
            return Err(DecodeError::Malformed);
        }
        let negative = if value == 0 {
            let row = self.rows.single(hash(whose.label, 0x5e0));
            self.rows.bit(coder, row, 0, parts.negative)
        } else {
            value < 0
        };
        write(value.unsigned_abs(), negative, format, out);
        if format.decimals == Format::SPLIT {
            self.code_fraction(coder, whose.label, parts.fraction, out)?;
        }
        Ok(())
    }

    /// Codes the point and the digits behind it, or that there are none.
    fn code_fraction<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        label: u32,
        given: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        let row = self.rows.single(hash(label, 0xf3));
        if !self.rows.bit(coder, row, 0, !given.is_empty()) {
            return Ok(());
        }
        out.push(b'.');
        let setting = Setting {
            label: hash(label, 0xf4),
            before: [0, b'.'],
            like: None,
            limit: FRACTION_MAX,
        };
        let digits = given.get(1..).unwrap_or(&[]);
        self.texts.literals.code(coder, &mut self.rows, &setting, digits, out)?;
        Ok(())
    }
}

/// Codes how the number is written: nearly always as before.
fn code_format<C: Coder + ?Sized>(
    coder: &mut C,
    rows: &mut Rows,
    label: u32,
    before: Format,
    given: Format,
) -> Result<Format, DecodeError> {
    let context = hash(label, 0xf0);
    let row = rows.single(context);
    if rows.bit(coder, row, 0, given == before) {
        return Ok(before);
    }
    let width =
        code_unsigned(coder, rows, Contexts::single(hash(context, 1)), u64::from(given.width));
    let decimals =
        code_unsigned(coder, rows, Contexts::single(hash(context, 2)), u64::from(given.decimals));
    let zeros =
        code_unsigned(coder, rows, Contexts::single(hash(context, 3)), u64::from(given.zeros));
    let known = 1..=DIGITS_MAX as u64;
    if !known.contains(&width)
        || decimals > u64::from(Format::SPLIT)
        || zeros > u64::from(DECIMALS_MAX)
    {
        return Err(DecodeError::Malformed);
    }
    Ok(Format { width: width as u8, decimals: decimals as u8, zeros: zeros as u8 })
}
