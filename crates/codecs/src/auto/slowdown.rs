//! How much longer a codec takes among real messages than in the benchmark that measured its cost.

/// Times in the moving average: few enough to follow a change within a second of traffic.
const MEMORY: f32 = 32.0;
/// A time counts as at most this multiple of the expected one: another process may have had the
/// processor.
const MOST: f32 = 2.0;
/// Of the first four times only the minimum counts, and before the fourth a codec never counts as
/// slower than its cost: otherwise one interrupted or cold run would keep the codec from being
/// chosen again.
const EARLY: f32 = 4.0;
/// The range of plausible factors.
const FACTORS: [f32; 2] = [0.25, 32.0];

/// A moving average of measured time over expected time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Slowdown {
    factor: f32,
    /// Times averaged over, at most `MEMORY`; 0 for none.
    count: f32,
}

impl Slowdown {
    /// The factor for the cost; `None` before the first time.
    pub(super) fn factor(self) -> Option<f32> {
        let is_believed = self.count >= EARLY;
        (self.count > 0.0).then_some(if is_believed { self.factor } else { self.factor.min(1.0) })
    }

    /// Learns from a trial, in which the codec's memory is cold: only times below the expected one
    /// count.
    pub(super) fn learn_cold(&mut self, time: f32, cost: f32) {
        if time < self.factor().unwrap_or(1.0) * cost {
            self.learn(time, cost);
        }
    }

    /// Learns that work which takes `cost` in a warm loop took `time` here. Nanoseconds.
    pub(super) fn learn(&mut self, time: f32, cost: f32) {
        let [least, most] = FACTORS;
        let most = most.min(MOST * self.factor().unwrap_or(1.0).max(1.0));
        let factor = (time / cost.max(1.0)).max(least).min(most);
        self.count = (self.count + 1.0).min(MEMORY);
        if self.count <= EARLY {
            self.factor = if self.count > 1.0 { self.factor.min(factor) } else { factor };
            return;
        }
        // Twice the weight of a plain mean: the first times were capped.
        let gain = (2.0 / (self.count + 1.0)).min(1.0);
        self.factor += gain * (factor - self.factor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factor_follows_from_both_sides() {
        for truth in [0.3, 1.0, 3.0, 10.0] {
            let mut slowdown = Slowdown::default();
            assert_eq!(slowdown.factor(), None);
            (0..60).for_each(|_| slowdown.learn(1000.0 * truth, 1000.0));
            assert!(
                (slowdown.factor().unwrap() / truth - 1.0).abs() < 0.05,
                "{truth}: {slowdown:?}"
            );
        }
    }

    #[test]
    fn interruptions_and_impossible_times_count_little() {
        let mut slowdown = Slowdown::default();
        for nth in 0..1000 {
            slowdown.learn(if nth % 50 == 0 { 1e9 } else { 2000.0 }, 1000.0);
        }
        assert!((2.0..2.2).contains(&slowdown.factor().unwrap()), "{slowdown:?}");
        (0..1000).for_each(|_| slowdown.learn(f32::MAX, 0.0));
        assert_eq!(slowdown.factor().map(|factor| factor <= 32.0), Some(true));
    }
}
