//! Measures costs on this machine.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;

use super::cost::{Cost, Costs, LinearTime};
use super::reference;
use crate::{Choice, Codec, Coder, Options};

/// The time for all measurements: short enough for the start of a program.
const BUDGET: Duration = Duration::from_millis(30);
/// The time of one timing, ns: long compared with the resolution of clocks.
const TIMING: f32 = 50_000.0;
/// Timings of each operation; the median counts.
const TIMINGS: usize = 5;
/// The two message sizes that a line is fitted through, bytes: a small message, and the largest
/// that fits a packet.
const SIZES: [usize; 2] = [256, 1400];
/// The plausible ratios of this machine's times to the reference. Outside of them the clock is
/// wrong.
const FACTORS: core::ops::RangeInclusive<f32> = 0.05..=50.0;

impl Costs {
    /// Messages such as applications send, for callers that have no messages of their own.
    pub const SAMPLES: &[&[u8]] = &[
        br#"{"type":"move","shape":"s-17","x":477.30555555555554,"y":212.5,"by":"Ada"}"#,
        br##"{"type":"stroke","color":"#3b82f6","width":3,"points":[[12,7],[14,9],[19,12],[27,16]]}"##,
        b"It was the best of times, it was the worst of times, it was the age of wisdom",
    ];

    /// Measures the costs of `codecs` here, at the levels of the reference table.
    ///
    /// `samples` are messages such as will be sent, best some kilobytes of them; `now` is a clock
    /// that never goes back, as fine as possible. The measurement takes about 30 ms. A choice that
    /// is too slow for its share of this time, or too fast for the clock, keeps its reference cost,
    /// scaled by the median ratio of this machine to the reference.
    ///
    /// ```
    /// use std::time::Instant;
    /// use groupwire_codecs::{ALL, Costs};
    /// let start = Instant::now();
    /// let costs = Costs::measure(ALL, Costs::SAMPLES, || start.elapsed());
    /// assert!(costs.of("lz4".parse()?).at(1400) > 0.0);
    /// # Ok::<(), groupwire_codecs::ChoiceError>(())
    /// ```
    pub fn measure(
        codecs: &[&dyn Codec],
        samples: &[&[u8]],
        mut now: impl FnMut() -> Duration,
    ) -> Self {
        let messages = messages(samples);
        let mut table = reference::TABLE.to_vec();
        table.retain(|(choice, _)| codecs.iter().any(|codec| codec.number() == choice.codec));
        table.sort_by(|a, b| a.1.at(SIZES[1]).total_cmp(&b.1.at(SIZES[1])));
        let end = now() + BUDGET;
        let mut factors = Vec::new();
        let mut slow = Vec::new();
        let count = table.len();
        for (index, (choice, cost)) in table.iter_mut().enumerate() {
            let share = end.saturating_sub(now()) / (count - index) as u32;
            let coder = coder(codecs, *choice).filter(|_| fits(cost, share));
            let measured =
                coder.and_then(|coder| Bench::new(coder, &mut now, end).cost(&messages, cost));
            match measured {
                Some(measured) => {
                    factors.push(measured.at(SIZES[1]) / cost.at(SIZES[1]));
                    *cost = measured;
                }
                None => slow.push(index),
            }
        }
        factors.sort_by(f32::total_cmp);
        let factor = factors.get(factors.len() / 2).copied().unwrap_or(1.0);
        for index in slow {
            table[index].1 = table[index].1.times(factor);
        }
        Costs { known: table }
    }
}

/// The samples, joined and cut into messages of each size.
fn messages(samples: &[&[u8]]) -> [Vec<Vec<u8>>; 2] {
    let bytes = samples.concat();
    let mut nth = 0;
    SIZES.map(|size| {
        let mut message = |_| {
            let size = if bytes.is_empty() { 0 } else { size };
            let taken = (nth..nth + size).map(|nth| varied(&bytes, nth)).collect();
            nth += size;
            taken
        };
        (0..TIMINGS).map(&mut message).collect()
    })
}

/// Byte `nth` of the endlessly repeated samples. In the repetitions one byte of eight is replaced
/// by another byte of the samples, because codecs would compress exact repetitions too well.
fn varied(bytes: &[u8], nth: usize) -> u8 {
    let (round, place) = (nth / bytes.len(), nth % bytes.len());
    let random = (nth as u32).wrapping_mul(0x9e37_79b9);
    let random = (random ^ random >> 15).wrapping_mul(0x85eb_ca6b) >> 8;
    match random % 8 {
        0 if round > 0 => bytes[(random >> 3) as usize % bytes.len()],
        _ => bytes[place],
    }
}

fn coder(codecs: &[&dyn Codec], choice: Choice) -> Option<Box<dyn Coder>> {
    let codec = codecs.iter().find(|codec| codec.number() == choice.codec)?;
    codec.coder(&Options { level: choice.level, dictionary: &[] }).ok()
}

/// Whether a choice of this cost can be measured within `share`.
fn fits(cost: &Cost, share: Duration) -> bool {
    let times = SIZES.map(|size| cost.at(size).max(TIMING / 2.0));
    (TIMINGS + 1) as f32 * (times[0] + times[1]) < share.as_nanos() as f32
}

/// Measures one coder.
struct Bench<'a, F> {
    coder: Box<dyn Coder>,
    now: &'a mut F,
    /// When measuring stops.
    end: Duration,
    packed: Vec<u8>,
    plain: Vec<u8>,
}

impl<'a, F: FnMut() -> Duration> Bench<'a, F> {
    fn new(coder: Box<dyn Coder>, now: &'a mut F, end: Duration) -> Self {
        Bench { coder, now, end, packed: Vec::new(), plain: Vec::new() }
    }

    /// The measured cost. `None` if it is not plausible, or if there is no time left.
    fn cost(&mut self, messages: &[Vec<Vec<u8>>; 2], reference: &Cost) -> Option<Cost> {
        let [small, large] = messages;
        let (small, large) = (self.times(small, reference)?, self.times(large, reference)?);
        let cost = Cost { compress: line(small.0, large.0), decompress: line(small.1, large.1) };
        let sane = FACTORS.contains(&(cost.at(SIZES[1]) / reference.at(SIZES[1])));
        sane.then_some(cost)
    }

    /// The times to compress and to decompress one of `messages`, ns.
    fn times(&mut self, messages: &[Vec<u8>], reference: &Cost) -> Option<(f32, f32)> {
        let size = messages[0].len();
        let mut compress = [0.0; TIMINGS];
        let mut decompress = [0.0; TIMINGS];
        // The first run allocates memory and is not timed.
        self.compress(&messages[0], 1);
        self.decompress(size, 1);
        for (index, message) in messages.iter().enumerate() {
            if (self.now)() > self.end {
                return None;
            }
            compress[index] = self.compress(message, runs(reference.compress.at(size)));
            decompress[index] = self.decompress(size, runs(reference.decompress.at(size)));
        }
        let times = (median(&mut compress), median(&mut decompress));
        (size > 0 && times.0 > 0.0 && times.1 > 0.0).then_some(times)
    }

    fn compress(&mut self, message: &[u8], runs: u32) -> f32 {
        let start = (self.now)();
        for _ in 0..runs {
            self.packed.clear();
            self.coder.compress(message, &mut self.packed);
        }
        since(start, (self.now)(), runs)
    }

    fn decompress(&mut self, size: usize, runs: u32) -> f32 {
        let start = (self.now)();
        for _ in 0..runs {
            self.plain.clear();
            let _ = self.coder.decompress(&self.packed, size, &mut self.plain);
        }
        since(start, (self.now)(), runs)
    }
}

/// Runs in one timing of an operation that takes `nanos`.
fn runs(nanos: f32) -> u32 {
    (TIMING / 2.0 / nanos).clamp(1.0, 100.0) as u32
}

/// The time of one of `runs`, ns.
fn since(start: Duration, end: Duration, runs: u32) -> f32 {
    end.saturating_sub(start).as_nanos() as f32 / runs as f32
}

/// The line through the times at the two sizes; it never falls and is never negative.
fn line(small: f32, large: f32) -> LinearTime {
    let [near, far] = SIZES.map(|size| size as f32);
    let per_byte = ((large - small) / (far - near)).max(0.0).min(large / far);
    let fixed = large - per_byte * far;
    debug_assert!(per_byte >= 0.0 && fixed >= -0.001 * large, "{small} and {large} ns");
    LinearTime { fixed, per_byte }
}

fn median(times: &mut [f32; TIMINGS]) -> f32 {
    times.sort_by(f32::total_cmp);
    times[TIMINGS / 2]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ALL, MESSAGES};

    const SAMPLE: &[u8] = b"some words, other words, and the first words again";

    /// Measures with a clock that advances by `step` at each reading. Returns the costs and the
    /// number of readings.
    fn measured(step: Duration) -> (Costs, u32) {
        let mut reads = 0;
        let costs = Costs::measure(&MESSAGES, &[SAMPLE], || {
            reads += 1;
            step * reads
        });
        (costs, reads)
    }

    #[test]
    fn costs_that_the_clock_cannot_measure_keep_the_reference() {
        let reference = Costs::reference();
        for step in [Duration::ZERO, Duration::from_secs(1)] {
            let (costs, _) = measured(step);
            for (choice, cost) in &costs.known {
                assert_eq!(*cost, reference.of(*choice), "{choice} by {step:?}");
            }
        }
    }

    #[test]
    fn measuring_keeps_to_its_time() {
        for step in [1, 10, 100, 1000, 10_000].map(Duration::from_micros) {
            let (_, reads) = measured(step);
            assert!(step * reads < BUDGET + 20 * step, "{reads} times {step:?}");
        }
    }

    #[test]
    fn lines_go_through_both_sizes_where_possible() {
        assert!((line(500.0, 1644.0).per_byte - 1.0).abs() < 1e-3);
        assert!((line(500.0, 1644.0).at(256) - 500.0).abs() < 1.0);
        assert_eq!(line(900.0, 700.0), LinearTime { fixed: 700.0, per_byte: 0.0 });
        assert!(line(10.0, 2800.0).fixed.abs() < 1.0);
    }

    #[test]
    fn short_samples_are_varied_when_repeated() {
        let [small, large] = messages(&[SAMPLE]);
        assert!(small.iter().all(|message| message.len() == SIZES[0]));
        assert_eq!(large.len(), TIMINGS);
        let packed = large.iter().map(|message| {
            let mut packed = Vec::new();
            crate::Lz4.compress(message, &mut packed);
            packed.len()
        });
        assert!(packed.into_iter().all(|packed| (400..1100).contains(&packed)));
    }

    #[test]
    fn missing_codecs_have_no_costs() {
        let none = Costs::measure(&ALL[..1], &[SAMPLE], || Duration::ZERO);
        assert!(none.known.is_empty());
        assert_eq!(none.of(Choice::NONE), Cost::default());
    }

    #[test]
    fn without_samples_there_is_the_reference() {
        let costs = Costs::measure(&MESSAGES, &[], || Duration::ZERO);
        let lz4 = Choice::codec(1);
        assert_eq!(costs.of(lz4), Costs::reference().of(lz4));
    }
}
