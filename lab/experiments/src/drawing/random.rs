//! Random numbers from a seed. Only additions, multiplications and square roots, which IEEE 754
//! rounds exactly: a seed makes the same session on every machine.

/// A source of random numbers.
pub(crate) struct Random(oorandom::Rand64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(oorandom::Rand64::new(u128::from(seed)))
    }

    /// A whole number from 0 up to, but not including, `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0.rand_range(0..end as u64) as usize
    }

    /// A uniformly distributed number.
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.rand_float()
    }

    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.0.rand_float() < probability
    }

    /// Nearly normally distributed with variance 1: a sum of twelve (Irwin-Hall), never over 6.
    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.0.rand_float()).sum::<f64>() - 6.0
    }

    /// Nearly log-normal around a median, as human times are: exp(z) is (1 + z/16)^16, less its far
    /// tail. `spread` is the standard deviation of the logarithm, at most 2.
    pub(crate) fn skewed(&mut self, median: f64, spread: f64) -> f64 {
        let base = 1.0 + self.normal() * spread / 16.0;
        let (two, four) = (base * base, base * base * base * base);
        let eight = four * four;
        debug_assert!(two > 0.0);
        median * eight * eight
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for end in (1..list.len()).rev() {
            let other = self.below(end + 1);
            list.swap(end, other);
        }
    }

    /// Splits `total` into as many parts as there are weights, in proportion to them, each rounded
    /// so that all sum up.
    pub(crate) fn split(total: usize, weights: &[f64]) -> Vec<usize> {
        let all: f64 = weights.iter().sum();
        let mut seen = 0.0;
        let mut given = 0;
        let mut part = |weight| {
            seen += weight;
            let until = (total as f64 * (seen / all)).round() as usize;
            let part = until.saturating_sub(given);
            given += part;
            part
        };
        let mut parts: Vec<_> = weights.iter().map(|weight| part(*weight)).collect();
        if let Some(last) = parts.last_mut() {
            *last += total - given;
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_are_skewed_around_their_median() {
        let mut random = Random::new(1);
        let mut times: Vec<_> = (0..20_001).map(|_| random.skewed(100.0, 0.5)).collect();
        times.sort_by(f64::total_cmp);
        assert!((97.0..103.0).contains(&times[10_000]), "{}", times[10_000]);
        // A log-normal distribution has 16 % over exp(0.5) of its median.
        let over = times.iter().filter(|time| **time > 164.9).count();
        assert!((2_900..3_500).contains(&over), "{over}");
    }

    proptest! {
        #[test]
        fn parts_sum_up(total in 0_usize..20_000, weights in prop::collection::vec(0.01_f64..9.0, 1..50)) {
            let parts = Random::split(total, &weights);
            prop_assert_eq!(parts.len(), weights.len());
            prop_assert_eq!(parts.iter().sum::<usize>(), total);
        }
    }
}
