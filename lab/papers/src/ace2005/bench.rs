//! Measures the compression ratio and the times of codecs block by block, as in sections 4.1 and
//! 4.2 of the paper "Adaptive On-the-Fly Compression". A block is a piece of a byte stream that is
//! compressed by itself.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;

use groupwire_codecs::{Choice, CodecError, Coder, Options, OptionsError, by_number};

use super::LinearFit;

/// The measurement of one block with one codec.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Point {
    /// Compressed bytes per plain byte; above 1 if the block became larger.
    pub ratio: f64,
    /// The mean compression time in seconds.
    pub packing: f64,
    /// The mean decompression time in seconds.
    pub unpacking: f64,
}

/// Measures each block with each codec and fits the regression lines of the paper.
///
/// The machine should be idle, or the clock should count the processor time of this thread only.
///
/// ```
/// use std::time::Instant;
/// use groupwire_papers::ace2005::Bench;
/// let mut bench = Bench::new(&["lz4".parse()?, "zlib".parse()?], 3)?;
/// let start = Instant::now();
/// for text in ["to be or not to be, that is the question", "a horse, a horse, my kingdom"] {
///     bench.block(text.as_bytes(), &mut || start.elapsed())?;
/// }
/// let (lz4, zlib) = (0, 1);
/// assert_eq!(bench.points(lz4).len(), 2);
/// println!("{:?}", bench.ratio_line(lz4, zlib));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Bench {
    repeat: u32,
    coders: Vec<(Choice, Box<dyn Coder>)>,
    /// The measurements of each codec, in the order of the blocks.
    points: Vec<Vec<Point>>,
    packed: Vec<u8>,
    plain: Vec<u8>,
}

impl Bench {
    /// A bench without measurements. Each block is compressed and decompressed `repeat` times (100
    /// in the paper), but at least once.
    ///
    /// # Errors
    /// A codec or level that this build does not have.
    pub fn new(choices: &[Choice], repeat: u32) -> Result<Self, OptionsError> {
        let coder = |choice: &Choice| {
            let missing = OptionsError::Missing { number: choice.codec };
            let codec = by_number(choice.codec).ok_or(missing)?;
            let coder = codec.coder(&Options { level: choice.level, dictionary: &[] })?;
            Ok((*choice, coder))
        };
        let coders = choices.iter().map(coder).collect::<Result<Vec<_>, OptionsError>>()?;
        let points = choices.iter().map(|_| Vec::new()).collect();
        Ok(Bench { repeat: repeat.max(1), coders, points, packed: Vec::new(), plain: Vec::new() })
    }

    /// Measures one more block. `clock` returns the time. An empty block is ignored.
    ///
    /// # Errors
    /// A codec that does not decompress the block to what it was.
    pub fn block(
        &mut self,
        block: &[u8],
        clock: &mut dyn FnMut() -> Duration,
    ) -> Result<(), CodecError> {
        if block.is_empty() {
            return Ok(());
        }
        for ((_, coder), points) in self.coders.iter_mut().zip(&mut self.points) {
            // A run before the measurement fills the processor's caches and checks the result.
            self.packed.clear();
            self.plain.clear();
            coder.compress(block, &mut self.packed);
            coder.decompress(&self.packed, block.len(), &mut self.plain)?;
            if self.plain != block {
                return Err(CodecError::Malformed);
            }
            let start = clock();
            for _ in 0..self.repeat {
                self.packed.clear();
                coder.compress(block, &mut self.packed);
            }
            let middle = clock();
            for _ in 0..self.repeat {
                self.plain.clear();
                coder.decompress(&self.packed, block.len(), &mut self.plain)?;
            }
            let end = clock();
            let mean = |time: Duration| time.as_secs_f64() / f64::from(self.repeat);
            points.push(Point {
                ratio: self.packed.len() as f64 / block.len() as f64,
                packing: mean(middle.saturating_sub(start)),
                unpacking: mean(end.saturating_sub(middle)),
            });
        }
        Ok(())
    }

    /// The codecs that are measured, in the order of their indices.
    pub fn choices(&self) -> impl Iterator<Item = Choice> {
        self.coders.iter().map(|(choice, _)| *choice)
    }

    /// The measurements of the codec with index `place`, in the order of the blocks. Empty if there
    /// is no such codec.
    pub fn points(&self, place: usize) -> &[Point] {
        self.points.get(place).map_or(&[], |points| points)
    }

    /// The regression line of the ratio of the codec with index `to` as a function of the ratio of
    /// the codec with index `from` (paper, Figure 1).
    pub fn ratio_line(&self, from: usize, to: usize) -> LinearFit {
        let pairs = self.points(from).iter().zip(self.points(to));
        let points: Vec<_> = pairs.map(|(from, to)| (from.ratio, to.ratio)).collect();
        LinearFit::fit(&points)
    }

    /// The regression line of the compression time in seconds as a function of the ratio, for the
    /// codec with index `place` (paper, section 4.2).
    pub fn packing_line(&self, place: usize) -> LinearFit {
        self.time_line(place, |point| point.packing)
    }

    /// The regression line of the decompression time in seconds as a function of the ratio, for the
    /// codec with index `place` (paper, section 4.2).
    pub fn unpacking_line(&self, place: usize) -> LinearFit {
        self.time_line(place, |point| point.unpacking)
    }

    fn time_line(&self, place: usize, time: impl Fn(&Point) -> f64) -> LinearFit {
        let points = self.points(place).iter().map(|point| (point.ratio, time(point)));
        LinearFit::fit(&points.collect::<Vec<_>>())
    }
}

impl core::fmt::Debug for Bench {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let choices: Vec<Choice> = self.choices().collect();
        let blocks = self.points(0).len();
        f.debug_struct("Bench").field("choices", &choices).field("blocks", &blocks).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use alloc::vec;

    /// A clock that advances by a millisecond with each call.
    fn ticking() -> impl FnMut() -> Duration {
        let mut now = Duration::ZERO;
        move || {
            now += Duration::from_millis(1);
            now
        }
    }

    #[test]
    fn every_block_is_measured_with_every_codec() {
        let lz4 = Choice::codec(1);
        let mut bench = Bench::new(&[Choice::NONE, lz4], 4).unwrap();
        let mut clock = ticking();
        bench.block(&[7; 1000], &mut clock).unwrap();
        bench.block(&[], &mut clock).unwrap();
        bench.block(&(0..=255).collect::<Vec<u8>>(), &mut clock).unwrap();
        let none = Point { ratio: 1.0, packing: 0.00025, unpacking: 0.00025 };
        assert_eq!(bench.points(0), [none; 2]);
        let [same, different] = bench.points(1) else { panic!("{bench:?}") };
        assert!(same.ratio < 0.05 && different.ratio > 1.0, "{same:?}, {different:?}");
        assert_eq!(bench.points(2), []);
        assert_eq!(bench.choices().collect::<Vec<_>>(), vec![Choice::NONE, lz4]);
    }

    #[test]
    fn lines_are_fitted_to_the_points() {
        let mut bench = Bench::new(&[Choice::codec(1), Choice::codec(2)], 1).unwrap();
        for repeated in [1, 4, 16, 64] {
            let block: Vec<u8> = (0..4096u32).map(|nth| (nth / repeated) as u8).collect();
            bench.block(&block, &mut ticking()).unwrap();
        }
        assert_eq!(bench.packing_line(0), LinearFit { at_zero: 0.001, slope: 0.0, r2: 1.0 });
        let line = bench.ratio_line(0, 1);
        let by_hand: Vec<_> =
            bench.points(0).iter().zip(bench.points(1)).map(|(a, b)| (a.ratio, b.ratio)).collect();
        assert_eq!(line, LinearFit::fit(&by_hand));
        assert!(line.slope > 0.0);
    }

    #[test]
    fn a_missing_codec_is_named() {
        let error = Bench::new(&[Choice::codec(15)], 1).unwrap_err();
        assert_eq!(error, OptionsError::Missing { number: 15 });
    }
}
