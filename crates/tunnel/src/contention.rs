//! How long streams wait for the processor while other streams compress.

use std::time::{Duration, Instant};

/// Time constant of the exponential forgetting. A turn is the work of a stream until it yields to
/// other tasks. It takes about 0.5 ms, so each of 64 streams has about nine turns in this time.
const FORGET: Duration = Duration::from_millis(300);

/// Upper bound of [`Contention::factor`], which a process that was suspended would exceed. A chosen
/// value, not a measured one.
const MOST: f64 = 100.0;

/// Compares the time that streams wait for a turn on a processor with the length of their turns.
///
/// The streams of one workbench share processors. While one stream compresses, the others wait, and
/// the duration of their own compression does not contain that wait. Without this measurement each
/// of many streams would assume that the network is slow and choose slower codecs, which delays all
/// of them further.
#[derive(Debug)]
pub(crate) struct Contention {
    /// Seconds that streams worked, with exponential forgetting.
    worked: f64,
    /// Seconds that streams waited for their turns, with the same forgetting.
    waited: f64,
    /// Time of the last measurement.
    last: Instant,
}

impl Default for Contention {
    fn default() -> Self {
        Contention { worked: 0.0, waited: 0.0, last: Instant::now() }
    }
}

impl Contention {
    /// Adds a turn of `worked` after which the stream waited for `waited` until its next turn.
    pub(crate) fn note(&mut self, worked: Duration, waited: Duration) {
        let now = Instant::now();
        let past = now.saturating_duration_since(self.last).as_secs_f64() / FORGET.as_secs_f64();
        let kept = (-past).exp();
        self.worked = self.worked * kept + worked.as_secs_f64();
        self.waited = self.waited * kept + waited.as_secs_f64();
        self.last = now;
    }

    /// The factor by which waiting for other streams lengthens the work of a stream: 1 to 100.
    pub(crate) fn factor(&self) -> f64 {
        let factor = 1.0 + self.waited / self.worked.max(1e-6);
        factor.min(MOST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_times_of_work_and_waiting_double_the_duration() {
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
