//! The training run of the paper's policy: what its codecs make of blocks of the training files,
//! and how long they take (sections 4.1 and 4.2).

use std::time::Duration;

use groupwire_papers::ace2005::{Bench, Training, TrainingError};
use serde_json::{Value, json};

use super::simulated::cpu;

/// The bounds of how often each block is compressed: enough for a mean, and as often as in the
/// paper.
const REPEAT: (u32, u32) = (3, 100);
/// The bytes of each file in a quick experiment.
const QUICK: usize = 64 << 10;

/// A training run.
#[derive(Debug)]
pub(super) struct Trained {
    pub(super) training: Training,
    /// The measurements of the paper's codecs.
    pub(super) bench: Bench,
    /// The bytes of the training files.
    bytes: usize,
    /// How often each block was compressed and decompressed.
    times: u32,
}

impl Trained {
    /// Trains the paper's policy for this machine with whole files, as often as the processor time
    /// allows. Without a time, with the beginning of each file, once. In the paper each block was
    /// compressed 100 times, which takes about four minutes.
    ///
    /// # Errors
    /// Training files of fewer than two blocks, codecs that are missing or broken. Constants of
    /// another machine are no substitute: they would be measured as if they were of this one.
    pub(super) fn run(
        samples: &[&[u8]],
        budget: Option<Duration>,
    ) -> Result<Trained, TrainingError> {
        let most = if budget.is_none() { QUICK } else { usize::MAX };
        let blocks = |sample: &&'_ [u8]| -> Vec<Vec<u8>> {
            Training::blocks(&sample[..sample.len().min(most)]).map(<[u8]>::to_vec).collect()
        };
        let blocks: Vec<Vec<u8>> = samples.iter().flat_map(blocks).collect();
        let measure = |times: u32| -> Result<Bench, TrainingError> {
            let mut bench = Bench::new(Training::choices(), times)?;
            blocks.iter().try_for_each(|block| bench.block(block, &mut cpu))?;
            Ok(bench)
        };
        let start = cpu();
        let first = measure(1)?;
        let took = cpu() - start;
        let (bench, times) = match budget.map(|budget| repeat(took, budget)) {
            Some(times) => (measure(times)?, times),
            None => (first, 1),
        };
        let bytes = blocks.iter().map(Vec::len).sum();
        Ok(Trained { training: Training::of(&bench)?, bench, bytes, times })
    }

    /// What it was, for a row.
    pub(super) fn describe(&self) -> Value {
        json!({ "bytes": self.bytes, "times": self.times })
    }
}

/// How often each block is compressed in this time, if once and once before it takes `took`.
fn repeat(took: Duration, budget: Duration) -> u32 {
    let once = took.as_secs_f64() / 2.0;
    let times = budget.as_secs_f64() / once.max(1e-9) - 1.0;
    (times as u32).clamp(REPEAT.0, REPEAT.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_decides_how_often_blocks_are_compressed() {
        let times = |took, budget| repeat(Duration::from_secs(took), Duration::from_secs(budget));
        assert_eq!(times(4, 60), 29);
        assert_eq!(times(100, 60), 3);
        assert_eq!(times(1, 600), 100);
        assert_eq!(times(0, 60), 100);
    }

    #[test]
    fn whole_files_are_used_and_that_is_said() {
        let sample: Vec<u8> = (0..100_000u32).map(|at| (at % 251) as u8).collect();
        let samples = [&sample[..], b"too short"];
        let trained = Trained::run(&samples, Some(Duration::from_secs(60))).unwrap();
        assert_eq!(trained.describe(), json!({ "bytes": 98_304, "times": 100 }));
        assert_eq!(trained.bench.points(0).len(), 3);
        let quick = Trained::run(&samples, None).unwrap();
        assert_eq!(quick.describe(), json!({ "bytes": 65_536, "times": 1 }));
    }
}
