//! Pauses after failed attempts, so that authorities are not asked more often than their limits
//! permit.

use std::time::Duration;

use tokio::time::Instant;

/// Each pause is this many times as long as the one before.
const GROWTH: u32 = 10;

/// The longest pause by itself; an authority may ask for a longer one. Certificates of six days,
/// which are renewed two days before their end, get several tries.
const LONGEST: Duration = Duration::from_secs(12 * 3600);

/// When the next try may begin.
#[derive(Debug)]
pub(super) struct Pauses {
    first: Duration,
    /// The next pause.
    next: Duration,
    until: Option<Instant>,
}

impl Pauses {
    pub(super) fn new(first: Duration) -> Self {
        Pauses { first, next: first, until: None }
    }

    /// True if the pause is over.
    pub(super) fn is_over(&self) -> bool {
        self.until.is_none_or(|until| Instant::now() >= until)
    }

    /// A try succeeded.
    pub(super) fn end(&mut self) {
        *self = Pauses::new(self.first);
    }

    /// A try failed. Returns the pause that begins: at least what the authority wants, and longer
    /// by up to a tenth according to `random`, so that servers that failed together do not come
    /// back together.
    pub(super) fn begin(&mut self, wanted: Option<Duration>, random: u64) -> Duration {
        let jitter = 1.0 + (random % 1000) as f64 / 10_000.0;
        let pause = self.next.max(wanted.unwrap_or_default()).mul_f64(jitter);
        self.next = (self.next * GROWTH).min(LONGEST);
        self.until = Some(Instant::now() + pause);
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn pauses_grow_to_half_a_day_and_obey_the_authority() {
        let minutes = |count: u64| Duration::from_secs(60 * count);
        let mut pauses = Pauses::new(minutes(1));
        assert!(pauses.is_over());
        for due in [1, 10, 100, 720, 720] {
            let pause = pauses.begin(None, 500);
            assert_eq!(pause, minutes(due).mul_f64(1.05));
            assert!(!pauses.is_over());
            tokio::time::advance(pause).await;
            assert!(pauses.is_over());
        }
        pauses.end();
        assert!(pauses.is_over());
        assert_eq!(pauses.begin(Some(minutes(120)), 0), minutes(120));
        assert_eq!(pauses.begin(Some(minutes(2)), 0), minutes(10));
    }
}
