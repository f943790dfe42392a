//! The result of a training run: the ratios and times of codecs, measured on one machine. A ratio
//! is compressed bytes per plain byte. "The paper" is "Adaptive On-the-Fly Compression" (2005).

use alloc::vec::Vec;
use core::time::Duration;

use groupwire_codecs::{Choice, CodecError, OptionsError};

use super::{Bench, LinearFit, reference};

/// The size of a block in bytes (section 3 of the paper). A block is compressed by itself.
pub(super) const BLOCK: usize = 32 << 10;
/// The codecs of the paper (section 3.1): LZO, zlib at its default level, bzip2.
const CHOICES: [Choice; 3] = [Choice::codec(4), Choice::codec(2), Choice::codec(9)];
/// The least expected time of a block, as a share of the time at the mean ratio. Far from the
/// measured points a regression line may give times below zero.
const LEAST: f64 = 0.02;

/// The result of a training run on a machine (paper, sections 4.1 and 4.2): regression lines that
/// predict the ratio of one codec from the ratio of another one, and the times of each codec from
/// its own ratio.
#[derive(Debug, Clone, PartialEq)]
pub struct Training {
    /// The size of the measured blocks in bytes.
    pub(super) block: usize,
    pub(super) codecs: Vec<Trained>,
}

/// The measurements of one codec.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Trained {
    pub(super) choice: Choice,
    /// The mean ratio of all blocks.
    pub(super) ratio: f64,
    /// The compression time of a block in seconds as a function of its ratio.
    pub(super) packing: LinearFit,
    /// The decompression time of a block in seconds as a function of its ratio.
    pub(super) unpacking: LinearFit,
    /// For each codec, in order: that codec's ratio as a function of the ratio of this one.
    pub(super) ratios: Vec<LinearFit>,
}

/// Why a training run failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TrainingError {
    /// The samples have fewer than two blocks.
    #[error(
        "a training run needs two blocks of {block} bytes at least, better hundreds; there are {blocks}"
    )]
    TooFew {
        /// The number of blocks of the samples.
        blocks: usize,
        /// The size of a block in bytes.
        block: usize,
    },
    /// This build does not have all codecs of the paper.
    #[error("the training run cannot begin: {0}")]
    Codec(#[from] OptionsError),
    /// A codec could not decompress what it had compressed.
    #[error("a codec could not read what it wrote: {0}")]
    Broken(#[from] CodecError),
}

impl Training {
    /// The codecs of the paper: LZO, zlib, bzip2.
    pub fn choices() -> &'static [Choice] {
        &CHOICES
    }

    /// The blocks of a sample that are measured: all complete ones of 32 KiB. The paper also leaves
    /// out files that are smaller than a block (section 5.1).
    pub fn blocks(sample: &[u8]) -> impl Iterator<Item = &[u8]> {
        sample.chunks_exact(BLOCK)
    }

    /// Measures the codecs of the paper on samples such as files. `clock` returns the time. Each
    /// block is compressed and decompressed `repeat` times (100 in the paper).
    ///
    /// # Errors
    /// Samples with fewer than two blocks, or codecs that are missing or broken.
    pub fn run(
        samples: &[&[u8]],
        repeat: u32,
        clock: &mut dyn FnMut() -> Duration,
    ) -> Result<Self, TrainingError> {
        let mut bench = Bench::new(&CHOICES, repeat)?;
        for block in samples.iter().flat_map(|sample| Training::blocks(sample)) {
            bench.block(block, clock)?;
        }
        Training::of(&bench)
    }

    /// The training result from the measurements of `bench`, which may have any codecs. The
    /// measured blocks must be of 32 KiB.
    ///
    /// # Errors
    /// Fewer than two blocks.
    pub fn of(bench: &Bench) -> Result<Self, TrainingError> {
        let blocks = bench.points(0).len();
        if blocks < 2 {
            return Err(TrainingError::TooFew { blocks, block: BLOCK });
        }
        let count = bench.choices().count();
        let trained = |(place, choice)| {
            let ratios = bench.points(place).iter().map(|point| point.ratio);
            Trained {
                choice,
                ratio: ratios.sum::<f64>() / blocks as f64,
                packing: bench.packing_line(place),
                unpacking: bench.unpacking_line(place),
                ratios: (0..count).map(|to| bench.ratio_line(place, to)).collect(),
            }
        };
        Ok(Training { block: BLOCK, codecs: bench.choices().enumerate().map(trained).collect() })
    }

    /// The result of a training run on one core of a server of the 2020s, for tests and for
    /// machines without a run of their own.
    pub fn reference() -> Self {
        reference::training()
    }

    /// The codecs, in the order of their indices.
    pub fn codecs(&self) -> impl Iterator<Item = Choice> {
        self.codecs.iter().map(|codec| codec.choice)
    }

    /// The regression line of the ratio of the codec with index `to` as a function of the ratio of
    /// the codec with index `from`.
    pub fn ratio_line(&self, from: usize, to: usize) -> Option<LinearFit> {
        self.codecs.get(from)?.ratios.get(to).copied()
    }

    /// The regression line of the compression time of a block of 32 KiB, in seconds, as a function
    /// of the ratio, for the codec with index `place`.
    pub fn packing_line(&self, place: usize) -> Option<LinearFit> {
        self.codecs.get(place).map(|codec| codec.packing)
    }

    /// The regression line of the decompression time of a block of 32 KiB, in seconds, as a
    /// function of the ratio, for the codec with index `place`.
    pub fn unpacking_line(&self, place: usize) -> Option<LinearFit> {
        self.codecs.get(place).map(|codec| codec.unpacking)
    }

    /// The index of a codec.
    pub(super) fn place(&self, choice: Choice) -> Option<usize> {
        self.codecs.iter().position(|codec| codec.choice == choice)
    }

    /// The mean ratio of the codec with index `place` in the training run.
    pub(super) fn mean_ratio(&self, place: usize) -> f64 {
        self.codecs[place].ratio.clamp(0.001, 1.0)
    }

    /// The expected ratio of the codec `to` for a block that the codec `from` compressed to
    /// `ratio`.
    pub(super) fn ratio(&self, from: usize, to: usize, ratio: f64) -> f64 {
        match from == to {
            true => ratio,
            false => self.codecs[from].ratios[to].at(ratio).clamp(0.001, 1.0),
        }
    }

    /// The times in seconds to compress and to decompress `plain` bytes with `ratio` on the machine
    /// of the training run, for the codec with index `place`.
    pub(super) fn times(&self, place: usize, ratio: f64, plain: usize) -> (f64, f64) {
        let codec = &self.codecs[place];
        let share = plain as f64 / self.block as f64;
        let time =
            |line: &LinearFit| share * line.at(ratio).max(LEAST * line.at(codec.ratio)).max(1e-9);
        (time(&codec.packing), time(&codec.unpacking))
    }
}

impl Default for Training {
    /// The same as [`Training::reference`].
    fn default() -> Self {
        Training::reference()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use alloc::vec;

    /// Pseudo-random bytes below `2 << kind`: the smaller `kind` is, the better they can be
    /// compressed.
    fn sample(kind: u32, length: usize) -> Vec<u8> {
        let mut state = kind;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 24
        };
        (0..length).map(|_| (next() % (2 << kind)) as u8).collect()
    }

    /// A clock that advances by a microsecond with each call.
    fn clock() -> impl FnMut() -> Duration {
        let mut now = Duration::ZERO;
        move || {
            now += Duration::from_micros(1);
            now
        }
    }

    #[test]
    fn the_paper_s_codecs_have_these_names() {
        let names: Vec<_> =
            Training::choices().iter().map(alloc::string::ToString::to_string).collect();
        assert_eq!(names, ["lzo", "zlib", "bzip2"]);
    }

    #[test]
    fn a_run_measures_different_ratios() {
        let samples: Vec<Vec<u8>> = (0..7).map(|kind| sample(kind, 2 * BLOCK + 100)).collect();
        let samples: Vec<&[u8]> = samples.iter().map(|sample| &sample[..]).collect();
        let training = Training::run(&samples, 1, &mut clock()).unwrap();
        assert_eq!(training.codecs().collect::<Vec<_>>(), Training::choices());
        let [lzo, zlib, bzip2] = [0, 1, 2].map(|place| training.codecs[place].ratio);
        assert!(lzo > zlib && zlib > bzip2, "{lzo}, {zlib}, {bzip2}");
        assert!(training.ratio_line(0, 1).unwrap().r2 > 0.8);
        let own = training.ratio_line(1, 1).unwrap();
        assert!((own.slope - 1.0).abs() < 1e-9 && own.at_zero.abs() < 1e-9, "{own:?}");
        assert_eq!(training.ratio_line(3, 0), None);
    }

    #[test]
    fn too_few_blocks_are_an_error() {
        let mut bench = Bench::new(&[Choice::codec(1)], 1).unwrap();
        bench.block(&vec![1; BLOCK], &mut clock()).unwrap();
        let error = Training::of(&bench).unwrap_err();
        assert_eq!(error, TrainingError::TooFew { blocks: 1, block: BLOCK });
    }

    #[test]
    fn every_block_takes_some_time() {
        let line = LinearFit { at_zero: -1.0, slope: 2.0, r2: 1.0 };
        let codec = Trained {
            choice: Choice::codec(1),
            ratio: 0.75,
            packing: line,
            unpacking: line,
            ratios: vec![LinearFit::IDENTITY],
        };
        let training = Training { block: 1000, codecs: vec![codec] };
        assert_eq!(training.times(0, 1.0, 1000), (1.0, 1.0));
        assert_eq!(training.times(0, 1.0, 500), (0.5, 0.5));
        assert_eq!(training.times(0, 0.1, 1000), (0.01, 0.01));
    }

    #[test]
    fn the_reference_is_plausible() {
        let training = Training::reference();
        assert_eq!(training.codecs().collect::<Vec<_>>(), Training::choices());
        for (place, codec) in training.codecs.iter().enumerate() {
            assert!((0.2..0.8).contains(&codec.ratio));
            for ratio in [0.1, 0.5, 1.0] {
                let (packing, unpacking) = training.times(place, ratio, BLOCK);
                assert!(packing > 1e-6 && packing < 0.1, "{place}: {packing}");
                assert!(unpacking > 1e-7 && unpacking < packing, "{place}: {unpacking}");
            }
        }
    }
}
