//! The cost table: the ratios (compressed bytes per plain byte) and times of candidates before they
//! are measured. A candidate is a codec with its level.

use groupwire_codecs::{Choice, Filter, by_number};

use crate::Candidate;

/// The costs of a candidate for blocks of 64 KiB.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) candidate: Candidate,
    /// The bend, which gives the ratio from that of zstd-1: if zstd-1 has the ratio u, this
    /// candidate has u + bend * u
    /// * (1 - u).
    pub(super) bend: f64,
    /// The compression time of blocks that zstd-1 compresses to half their size, in ns per byte.
    pub(super) packing: f64,
    /// The compression time of incompressible blocks divided by `packing`.
    pub(super) incompressible: f64,
    /// The decompression time in ns per byte.
    pub(super) unpacking: f64,
}

/// Measured on one core of a server of the 2020s, native and optimised, over XML, text, a database
/// and programs.
pub(super) static TABLE: &[Row] = &[
    row(1, None, false, 0.67, 2.1, 0.06, 0.5),
    row(3, None, false, 0.63, 1.7, 0.06, 0.6),
    row(7, Some(-3), false, 0.50, 2.1, 0.06, 0.65),
    row(7, Some(1), false, 0.0, 2.9, 0.07, 0.95),
    row(7, Some(3), false, -0.07, 4.1, 0.07, 1.0),
    row(7, Some(6), false, -0.145, 12.0, 0.05, 1.0),
    row(7, Some(9), false, -0.16, 17.0, 0.035, 1.0),
    row(7, Some(12), false, -0.165, 40.0, 0.06, 1.0),
    row(7, Some(19), false, -0.2, 330.0, 0.17, 1.3),
    row(7, Some(1), true, -0.13, 3.7, 0.3, 1.5),
    row(7, Some(3), true, -0.18, 6.2, 0.33, 1.7),
    row(7, Some(6), true, -0.3, 20.0, 0.5, 1.7),
    row(7, Some(9), true, -0.33, 28.0, 0.38, 1.8),
    row(7, Some(12), true, -0.335, 150.0, 0.2, 1.9),
    row(7, Some(19), true, -0.39, 400.0, 0.14, 2.1),
    row(2, Some(1), false, 0.55, 3.7, 2.3, 1.8),
    row(2, Some(6), false, -0.1, 12.0, 1.5, 1.6),
    row(2, Some(9), false, -0.12, 25.0, 0.75, 1.6),
    row(4, None, false, 0.57, 2.6, 0.03, 0.85),
    row(5, None, false, 0.65, 4.5, 0.5, 2.2),
    row(8, Some(5), false, -0.16, 27.0, 0.12, 3.5),
    row(9, None, false, -0.2, 70.0, 1.3, 29.0),
    row(10, None, false, -0.15, 45.0, 2.2, 14.0),
];

/// The default candidates, each of which is the best on some link between 1 Mbit/s and 10 Gbit/s.
pub(super) static CANDIDATES: &[(u8, Option<i8>, bool)] = &[
    (1, None, false),
    (3, None, false),
    (7, Some(-3), false),
    (7, Some(1), false),
    (7, Some(3), false),
    (7, Some(6), false),
    (7, Some(9), false),
    (7, Some(1), true),
    (7, Some(3), true),
    (7, Some(6), true),
    (7, Some(9), true),
];

pub(super) const fn candidate(codec: u8, level: Option<i8>, history: bool) -> Candidate {
    Candidate { choice: Choice { codec, level, filter: Filter::None }, history }
}

const fn row(
    codec: u8,
    level: Option<i8>,
    history: bool,
    bend: f64,
    packing: f64,
    incompressible: f64,
    unpacking: f64,
) -> Row {
    Row { candidate: candidate(codec, level, history), bend, packing, incompressible, unpacking }
}

impl Row {
    /// The same costs with all times multiplied by `factor`, for a slower machine.
    pub(super) fn times(self, factor: f64) -> Row {
        Row { packing: self.packing * factor, unpacking: self.unpacking * factor, ..self }
    }

    /// The costs of a candidate. A level that is not in the table has the costs of the nearest
    /// level of its codec.
    pub(super) fn of(candidate: Candidate) -> Row {
        let levels = by_number(candidate.choice.codec).and_then(|codec| codec.levels());
        let default = levels.map_or(0, |levels| levels.default);
        let level = |candidate: Candidate| candidate.choice.level.unwrap_or(default);
        let of_codec = |row: &&Row| {
            let (a, b) = (row.candidate, candidate);
            a.choice.codec == b.choice.codec && a.history == b.history
        };
        let distance = |row: &&Row| level(row.candidate).abs_diff(level(candidate));
        let nearest = TABLE.iter().filter(of_codec).min_by_key(distance);
        Row { candidate, ..*nearest.unwrap_or(&UNKNOWN) }
    }
}

/// The costs of a codec that is not in the table. The codec is assumed to be slow.
static UNKNOWN: Row = row(15, None, false, 0.0, 100.0, 1.0, 10.0);
