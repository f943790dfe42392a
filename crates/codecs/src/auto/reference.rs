//! The built-in table of costs, and the default candidates.

use super::cost::{Cost, LinearTime};
use crate::{Choice, Filter};

/// Costs measured on one core of a server, native and optimised, with messages of 256 to 1400
/// bytes, half of them JSON and half binary records.
pub(super) static TABLE: &[(Choice, Cost)] = &[
    // codec, level, compress: fixed and per byte, decompress: fixed and per byte
    row(1, None, [20.0, 1.53], [0.0, 0.42]),
    row(2, Some(1), [2250.0, 2.95], [700.0, 1.45]),
    row(2, Some(6), [4200.0, 19.9], [1100.0, 2.6]),
    row(2, Some(9), [2700.0, 28.0], [850.0, 2.7]),
    row(3, None, [0.0, 1.18], [0.0, 0.51]),
    row(4, None, [10.0, 2.17], [0.0, 0.52]),
    row(5, None, [50.0, 2.55], [10.0, 0.75]),
    row(6, None, [0.0, 4.7], [200.0, 3.1]),
    row(7, Some(-7), [1150.0, 1.0], [30.0, 0.41]),
    row(7, Some(-3), [1200.0, 1.37], [0.0, 0.69]),
    row(7, Some(-1), [1150.0, 1.96], [0.0, 0.79]),
    row(7, Some(1), [4000.0, 2.4], [1750.0, 1.0]),
    row(7, Some(3), [4000.0, 3.4], [1750.0, 1.1]),
    row(7, Some(6), [3550.0, 11.7], [1300.0, 1.5]),
    row(7, Some(9), [2550.0, 19.8], [1200.0, 1.5]),
    row(7, Some(19), [0.0, 150.0], [1200.0, 1.6]),
    row(8, Some(0), [2300.0, 7.15], [2150.0, 6.25]),
    row(8, Some(1), [3950.0, 10.1], [3650.0, 4.9]),
    row(8, Some(4), [22_000.0, 23.8], [3650.0, 4.0]),
    row(8, Some(5), [37_000.0, 31.4], [3650.0, 4.0]),
    row(8, Some(6), [61_000.0, 35.0], [3650.0, 4.0]),
    row(8, Some(9), [61_000.0, 35.0], [3650.0, 4.0]),
    row(8, Some(11), [520_000.0, 1520.0], [3900.0, 4.8]),
    row(9, Some(1), [45_000.0, 103.0], [11_500.0, 30.6]),
    row(9, Some(9), [120_000.0, 109.0], [90_000.0, 26.4]),
    row(10, Some(0), [22_000.0, 41.0], [1800.0, 17.0]),
    row(10, Some(1), [24_000.0, 39.0], [1800.0, 17.0]),
    row(10, Some(9), [22_000.0, 178.0], [1800.0, 17.0]),
    row(11, None, [0.0, 1.84], [0.0, 0.69]),
    row(12, None, [50.0, 1.47], [20.0, 0.61]),
];

/// The default candidates of [`Auto`](super::Auto): all choices that are best for some messages at
/// some rate between a few kbit/s and 1 Gbit/s, and zlib, which every build has.
pub(super) static CANDIDATES: &[Choice] = &[
    Choice::NONE,
    Choice::codec(1),
    Choice::codec(3),
    Choice::codec(4),
    level(7, -3),
    level(7, -1),
    level(7, 1),
    Choice::codec(7),
    level(7, 6),
    level(2, 1),
    Choice::codec(2),
    Choice::codec(8),
    Choice::codec(10),
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

const fn line([fixed, per_byte]: [f32; 2]) -> LinearTime {
    LinearTime { fixed, per_byte }
}

const fn level(codec: u8, level: i8) -> Choice {
    Choice { codec, level: Some(level), filter: Filter::None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_codec_and_candidate_has_a_cost() {
        let codecs = crate::ALL.iter().map(|codec| codec.number()).filter(|&number| number > 0);
        for number in codecs.chain(CANDIDATES[1..].iter().map(|choice| choice.codec)) {
            assert!(TABLE.iter().any(|(choice, _)| choice.codec == number), "{number}");
        }
    }
}
