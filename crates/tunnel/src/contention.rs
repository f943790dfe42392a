//! How much streams wait for each other's packing.

use std::time::{Duration, Instant};

/// How fast the past is forgotten.
const FORGET: Duration = Duration::from_millis(300);

/// No more is believed.
const MOST: f64 = 100.0;

/// The streams of one workbench share processors. What one of them packs the others wait for, and none sees it in the time
/// that its own packing takes. So it is measured how long a stream that could go on waits for its turn, beside how long
/// its turns are. Else many streams would take slow codecs, since all of them, being late, take the network for slow.
#[derive(Debug)]
pub(crate) struct Contention {
    /// Seconds that streams worked, lately.
    worked: f64,
    /// Seconds that they waited for their turns meanwhile.
    waited: f64,
    last: Instant,
}

impl Default for Contention {
    fn default() -> Self {
        Contention { worked: 0.0, waited: 0.0, last: Instant::now() }
    }
}

impl Contention {
    /// A stream waited so long for its turn, after one of this length.
    pub(crate) fn note(&mut self, worked: Duration, waited: Duration) {
        let now = Instant::now();
        let past = now.saturating_duration_since(self.last).as_secs_f64() / FORGET.as_secs_f64();
        let kept = (-past).exp();
        self.worked = self.worked * kept + worked.as_secs_f64();
        self.waited = self.waited * kept + waited.as_secs_f64();
        self.last = now;
    }

    /// How many times longer everything takes than it would alone, at least 1.
    pub(crate) fn factor(&self) -> f64 {
        let factor = 1.0 + self.waited / self.worked.max(1e-6);
        factor.min(MOST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_as_long_as_he_works_takes_twice_as_long() {
        let mut contention = Contention::default();
        assert_eq!(contention.factor(), 1.0);
        for _ in 0..10 {
            contention.note(Duration::from_millis(2), Duration::from_millis(2));
        }
        assert!((contention.factor() - 2.0).abs() < 0.01);
        contention.note(Duration::ZERO, Duration::from_secs(100));
        assert_eq!(contention.factor(), MOST);
    }
}
