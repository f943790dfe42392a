//! What the coders of floats in fields and in self-describing formats share. A float may lie on a
//! grid: it is then a multiple of 1/grid. To "code" is to write in the encoder and to read in the
//! decoder. A hole is a place of a message where the value differs from message to message.

use super::integers::{Coded, Integers};
use crate::binary::float::{self, Width};
use crate::error::DecodeError;
use crate::hash::hash;
use crate::integer::{Contexts, code_signed, code_unsigned};
use crate::pass::Pass;
use crate::range_coder::Coder;
use crate::series::Series;

// Contexts: each selects the probabilities of one kind of decision.
pub(super) const GRID: u32 = 0x5ca1;
const ERROR: u32 = 0x5ca8;

/// The number of zero bits at the end of a double that was converted from a float of 32 bits.
const PROMOTED: u32 = 29;

/// Codes the distance of a float from the one nearest to its point of the grid.
pub(super) fn code_error<C: Coder + ?Sized>(
    pass: &mut Pass<'_, C>,
    label: u32,
    width: Width,
    given: i8,
) -> i8 {
    if width != Width::Double {
        return 0;
    }
    let contexts = Contexts::single(hash(label, ERROR));
    code_signed(pass, contexts, i64::from(given)) as i8
}

/// Codes a finer grid for the hole, or that there is none.
pub(super) fn code_finer<C: Coder + ?Sized>(
    pass: &mut Pass<'_, C>,
    label: u32,
    given: Option<u16>,
) -> Result<Option<u16>, DecodeError> {
    let row = pass.single(hash(label, GRID));
    if !pass.bit(row, 1, given.is_some()) {
        return Ok(None);
    }
    let contexts = Contexts::single(hash(0, GRID));
    let grid = code_unsigned(pass, contexts, u64::from(given.unwrap_or(0)));
    match u16::try_from(grid) {
        Ok(grid @ 1..=float::GRID_MAX) => Ok(Some(grid)),
        _ => Err(DecodeError::Malformed),
    }
}

/// Codes a float by its bits, as an integer in the order of the values.
pub(super) fn code_bits<C: Coder + ?Sized>(
    pass: &mut Pass<'_, C>,
    integers: &mut Integers,
    series: Series,
    width: Width,
    given: u64,
) -> (u64, Coded) {
    let ordered = float::ordered(given, width);
    let row = pass.single(hash(series.label, PROMOTED));
    let promoted = width == Width::Double && pass.bit(row, 0, ordered.trailing_zeros() >= PROMOTED);
    let shift = if promoted { PROMOTED } else { 0 };
    let label = hash(hash(series.label, shift), width.bytes() as u32);
    let coded = integers.code(pass, series.with_label(label), ordered >> shift);
    (float::from_ordered(coded.value << shift, width), coded)
}
