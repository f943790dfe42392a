//! A built-in result of a training run, which measures codecs, for machines on which no training
//! run was made.

use alloc::vec;

use groupwire_codecs::Choice;

use super::LinearFit;
use super::training::{BLOCK, Trained, Training};

/// Measured on one core of a server of the 2020s with an optimised native build, over 183 blocks.
/// They are from the training files of the paper "Adaptive On-the-Fly Compression", or from similar
/// files: book1, kennedy.xls, obj2 and pic of the Calgary and Canterbury corpora, Java classes, and
/// generated stand-ins. Each time is the minimum of 14 measurements, because other programs were
/// running.
///
/// The codecs are today's implementations. The compression times of LZO and zlib hardly depend on
/// the ratio, because these implementations skip data without repetitions.
pub(super) fn training() -> Training {
    let codec = |number, ratio, packing, unpacking, ratios: [LinearFit; 3]| Trained {
        choice: Choice::codec(number),
        ratio,
        packing,
        unpacking,
        ratios: vec![ratios[0], ratios[1], ratios[2]],
    };
    Training {
        block: BLOCK,
        codecs: vec![
            codec(
                4,
                0.530,
                line(7.14e-5, -1.56e-5, 0.009),
                line(2.06e-5, -5.64e-6, 0.017),
                [LinearFit::IDENTITY, line(-0.091, 0.937, 0.960), line(-0.107, 0.855, 0.916)],
            ),
            codec(
                2,
                0.406,
                line(4.73e-4, 2.39e-4, 0.026),
                line(1.96e-5, 9.38e-5, 0.874),
                [line(0.114, 1.024, 0.960), LinearFit::IDENTITY, line(-0.029, 0.923, 0.976)],
            ),
            codec(
                9,
                0.347,
                line(1.26e-3, 2.75e-3, 0.745),
                line(2.94e-4, 1.42e-3, 0.901),
                [line(0.159, 1.070, 0.916), line(0.040, 1.057, 0.976), LinearFit::IDENTITY],
            ),
        ],
    }
}

const fn line(at_zero: f64, slope: f64, r2: f64) -> LinearFit {
    LinearFit { at_zero, slope, r2 }
}
