//! How much longer a codec takes among real messages than where its cost was measured.

/// Times that the average is over.
const MEMORY: f32 = 32.0;
/// One time counts at most as so many times what was expected: somebody else had the processor.
const MOST: f32 = 2.0;
/// So many times it takes to believe that a codec is slower, and of these the shortest counts: one that was interrupted,
/// or cold, would keep the codec from being chosen again.
const EARLY: f32 = 4.0;
/// The factors that are believed.
const FACTORS: [f32; 2] = [0.25, 32.0];

/// A moving factor on a cost.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Pace {
    factor: f32,
    /// Times averaged over. 0: there was none.
    count: f32,
}

impl Pace {
    /// What to multiply the cost with; `None` if there was no time yet.
    pub(super) fn factor(self) -> Option<f32> {
        let is_believed = self.count >= EARLY;
        (self.count > 0.0).then_some(if is_believed { self.factor } else { self.factor.min(1.0) })
    }

    /// The same of a codec that is used so rarely that it is cold: only that it is faster can be learned.
    pub(super) fn learn_cold(&mut self, time: f32, cost: f32) {
        if time < self.factor().unwrap_or(1.0) * cost {
            self.learn(time, cost);
        }
    }

    /// What took `cost` in a warm loop took `time` here, both in ns.
    pub(super) fn learn(&mut self, time: f32, cost: f32) {
        let [least, most] = FACTORS;
        let most = most.min(MOST * self.factor().unwrap_or(1.0).max(1.0));
        let factor = (time / cost.max(1.0)).max(least).min(most);
        self.count = (self.count + 1.0).min(MEMORY);
        if self.count <= EARLY {
            self.factor = if self.count > 1.0 { self.factor.min(factor) } else { factor };
            return;
        }
        // Twice as fast as the mean of all: the first ones were held down.
        let gain = (2.0 / (self.count + 1.0)).min(1.0);
        self.factor += gain * (factor - self.factor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_follows_from_both_sides() {
        for truth in [0.3, 1.0, 3.0, 10.0] {
            let mut pace = Pace::default();
            assert_eq!(pace.factor(), None);
            (0..60).for_each(|_| pace.learn(1000.0 * truth, 1000.0));
            assert!((pace.factor().unwrap() / truth - 1.0).abs() < 0.05, "{truth}: {pace:?}");
        }
    }

    #[test]
    fn interruptions_and_nonsense_count_little() {
        let mut pace = Pace::default();
        for nth in 0..1000 {
            pace.learn(if nth % 50 == 0 { 1e9 } else { 2000.0 }, 1000.0);
        }
        assert!((2.0..2.2).contains(&pace.factor().unwrap()), "{pace:?}");
        (0..1000).for_each(|_| pace.learn(f32::MAX, 0.0));
        assert_eq!(pace.factor().map(|factor| factor <= 32.0), Some(true));
    }
}
