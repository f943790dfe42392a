//! Holes at fixed places of binary messages in an unknown format: integers and floats of up to
//! eight bytes. A hole is a place of a message where the value differs from message to message; its
//! shape says how values are stored.
//!
//! Floats may lie on a grid: they are then multiples of 1/grid. To "code" is to write in the
//! encoder and to read in the decoder.

use alloc::vec::Vec;

use super::float::{GRID, code_bits, code_error, code_finer};
use super::integers::{Coded, Integers};
use super::value::Value;
use crate::binary::fixed::{extend, from_big_endian, from_little_endian, swap};
use crate::binary::float::{self, Point, Width};
use crate::error::DecodeError;
use crate::hash::hash;
use crate::integer::size;
use crate::keys::Seen;
use crate::pass::Pass;
use crate::range_coder::Coder;
use crate::series::Series;
use crate::template::Hole;

/// A difference of at most this many bits is no evidence against the present form (byte order and
/// kind of number).
const CHEAP: u32 = 4;
/// Grids that are tried for a hole without one: most fractions with a small denominator are
/// multiples of 1/3600, and decimals of up to three digits are multiples of 1/1000.
const USUAL: [u16; 2] = [3600, 1000];

/// Codes a value of [`HoleKind::Field`](crate::template::HoleKind::Field).
pub(super) fn code_field<C: Coder + ?Sized>(
    integers: &mut Integers,
    pass: &mut Pass<'_, C>,
    value: Value<'_>,
    out: &mut Vec<u8>,
) -> Result<Option<Seen>, DecodeError> {
    let Value { hole, sender, given, .. } = value;
    let width = hole.range().len();
    debug_assert!((1..=8).contains(&width), "a field is a number of up to eight bytes");
    let shape = hole.shape;
    let given =
        if shape.is_little_endian() { from_little_endian(given) } else { from_big_endian(given) };
    let (bits, seen) = match Width::of_bytes(width) {
        Some(float) if shape.is_float() => code_float(integers, pass, hole, float, sender, given),
        _ => {
            let series = Series { label: hash(hole.label, shape.form()), sender };
            let Coded { before, value, seen } = integers.code(pass, series, extend(given, width));
            if let Some(before) = before {
                doubt_field(hole, width, before, value);
            }
            (value as u64, seen)
        }
    };
    if shape.is_little_endian() {
        out.extend_from_slice(&bits.to_le_bytes()[..width]);
    } else {
        out.extend_from_slice(&bits.to_be_bytes()[8 - width..]);
    }
    Ok(Some(seen))
}

/// Codes a value of a hole that holds floats.
fn code_float<C: Coder + ?Sized>(
    integers: &mut Integers,
    pass: &mut Pass<'_, C>,
    hole: &mut Hole,
    width: Width,
    sender: u32,
    given: u64,
) -> (u64, Seen) {
    let label = hash(hole.label, u32::from(hole.shape.is_little_endian()));
    let shape = &mut hole.shape;
    let series = Series { label, sender };
    let (bits, coded) = if shape.grid == 0 {
        let (bits, coded) = code_bits(pass, integers, series, width, given);
        shape.roam(USUAL.iter().any(|&grid| float::locate(bits, width, grid).is_some()));
        (bits, coded)
    } else {
        let mut point = float::locate(given, width, shape.grid);
        let row = pass.single(hash(label, GRID));
        let mut on_grid = pass.bit(row, 0, point.is_some());
        if on_grid {
            shape.stay();
        } else {
            let finer = float::find_grid(given, width, shape.grid);
            // If the coded grid is impossible, the decoder goes on as if none had been coded.
            let finer = code_finer(pass, label, finer).unwrap_or(None);
            shape.stray(finer);
            on_grid = finer.is_some() && shape.grid != 0;
            point = float::locate(given, width, shape.grid.max(1));
        }
        if on_grid {
            let series = series.with_label(hash(label, u32::from(shape.grid)));
            let point = point.unwrap_or_default();
            let coded = integers.code(pass, series, point.steps);
            let steps = coded.value % float::STEPS_MAX as i64;
            let error = code_error(pass, label, width, point.error);
            (float::render(Point { steps, error }, shape.grid, width), coded)
        } else {
            code_bits(pass, integers, series, width, given)
        }
    };
    shape.weigh_float(float::distance(bits, bits, width).is_some());
    (bits, coded.seen)
}

/// Compares the bits of the difference from the last value in the present form with those in other
/// forms, as evidence for changing the form.
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
    // If unsure, what looks like a float is taken as one.
    hole.shape.weigh(bits, swapped, float.map_or(u32::MAX / 2, |bits| bits.saturating_sub(2)));
}
