//! The built-in table of costs.

use super::cost::{Cost, Line};
use crate::{Choice, Filter};

/// Stands for the default level where levels are compared: farther from all levels than they are from each other, so
/// that a default level is itself or, if it was not measured, the smallest level that was.
pub(super) const DEFAULT: i16 = i16::MIN / 2;

/// By codec and level; those of one codec from fast to small.
pub(super) static TABLE: &[(Choice, Cost)] = &[
    // codec, level, compress: fixed and per octet, decompress: fixed and per octet
    row(1, None, [250.0, 1.8], [40.0, 0.4]),
    row(2, Some(1), [2500.0, 6.0], [900.0, 2.8]),
    row(2, None, [3500.0, 15.0], [900.0, 2.8]),
    row(2, Some(9), [4000.0, 30.0], [900.0, 2.8]),
    row(3, None, [250.0, 1.8], [40.0, 0.65]),
    row(4, None, [250.0, 2.0], [40.0, 1.5]),
    row(5, None, [500.0, 4.5], [60.0, 2.2]),
    row(6, None, [1500.0, 20.0], [800.0, 5.0]),
    row(7, Some(-1), [900.0, 2.5], [500.0, 1.0]),
    row(7, Some(1), [1500.0, 3.0], [600.0, 1.2]),
    row(7, None, [2000.0, 4.0], [600.0, 1.2]),
    row(7, Some(19), [20_000.0, 300.0], [600.0, 1.4]),
    row(8, Some(1), [4000.0, 12.0], [2500.0, 7.0]),
    row(8, None, [8000.0, 25.0], [2500.0, 7.0]),
    row(8, Some(11), [200_000.0, 1500.0], [2500.0, 7.0]),
    row(9, None, [30_000.0, 100.0], [10_000.0, 30.0]),
    row(10, None, [20_000.0, 55.0], [3000.0, 14.0]),
    row(11, None, [50.0, 1.0], [50.0, 0.5]),
    row(12, None, [50.0, 1.0], [50.0, 0.5]),
];

const fn row(
    codec: u8,
    level: Option<i8>,
    compress: [f32; 2],
    decompress: [f32; 2],
) -> (Choice, Cost) {
    let choice = Choice { codec, level, filter: Filter::None };
    (choice, Cost { compress: line(compress), decompress: line(decompress) })
}

const fn line([fixed, per_octet]: [f32; 2]) -> Line {
    Line { fixed, per_octet }
}

/// What [`Auto`](super::Auto) chooses among: whatever wins somewhere between a few kbit/s and 1 Gbit/s.
pub(super) static CANDIDATES: &[Choice] = &[
    Choice::NONE,
    Choice::codec(1),
    Choice::codec(3),
    Choice::codec(4),
    level(7, -1),
    level(7, 1),
    Choice::codec(7),
    level(2, 1),
    Choice::codec(2),
    Choice::codec(8),
    Choice::codec(10),
];

const fn level(codec: u8, level: i8) -> Choice {
    Choice { codec, level: Some(level), filter: Filter::None }
}
