//! The pauses of this process. A process that shares its processor with many others gets its turn
//! after tens or hundreds of milliseconds. If the window was full before, the link is idle
//! meanwhile, so the window has to keep it busy for longer.
//!
//! All times are in seconds by the clock of this end.

/// The longest pause for which the window keeps the link busy.
const LONGEST: f64 = 1.0;
/// The time constant with which pauses are forgotten.
const MEMORY: f64 = 2.0;

/// The time for which the link was idle lately because the window was full and this process paused.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pauses {
    seconds: f64,
    /// The time of the last block or acknowledgement.
    at: f64,
    /// Since the window became full: when the link will have transmitted what is in flight, and the
    /// longest time without a block or an acknowledgement.
    full: Option<(f64, f64)>,
}

impl Pauses {
    /// The time for which the window has to keep the link busy.
    pub(super) fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Notes a block or an acknowledgement.
    pub(super) fn note(&mut self, now: f64) {
        let gap = (now - self.at).max(0.0);
        self.seconds *= libm::exp(-gap / MEMORY);
        if let Some((_, longest)) = &mut self.full {
            *longest = longest.max(gap);
        }
        self.at = now;
    }

    /// Learns from a block, which is sent at `now`, how long the link was idle before it.
    pub(super) fn sent(&mut self, now: f64) {
        self.note(now);
        if let Some((free, longest)) = self.full.take() {
            // If the link is only slower than it seemed, acknowledgements come meanwhile.
            let idle = (now - free).min(longest).max(0.0);
            self.seconds = (self.seconds + idle).min(LONGEST);
        }
    }

    /// The window is full, and the link is expected to have transmitted all at `free`.
    pub(super) fn window_is_full(&mut self, free: f64) {
        self.full = Some((free, 0.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_pause_with_a_full_window_counts() {
        let mut pauses = Pauses::default();
        pauses.sent(1.0);
        pauses.sent(1.5);
        assert_eq!(pauses.seconds(), 0.0);
        pauses.window_is_full(1.51);
        pauses.note(1.58);
        pauses.sent(1.58);
        // The link was idle from 1.51 on.
        assert!((pauses.seconds() - 0.07).abs() < 1e-9, "{}", pauses.seconds());
        pauses.sent(11.58);
        assert!(pauses.seconds() < 0.001);
    }

    #[test]
    fn a_link_that_is_slower_than_expected_is_no_pause() {
        let mut pauses = Pauses::default();
        pauses.sent(1.0);
        pauses.window_is_full(1.01);
        (1..100).for_each(|nth| pauses.note(1.0 + 0.001 * f64::from(nth)));
        pauses.sent(1.1);
        assert!(pauses.seconds() < 0.002, "{}", pauses.seconds());
    }
}
