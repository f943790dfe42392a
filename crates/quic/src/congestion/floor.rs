//! The floor: the minimum rates of the channels, which may be sent even if the window is full.

use std::time::Duration;

/// The most that the floor grants, in bytes per second: 64 kbit/s (T24).
pub const FLOOR_MOST: u32 = 8000;

/// The floor ends when no acknowledgement arrived for this long (T24).
const SILENCE: Duration = Duration::from_secs(1);

/// A token bucket that fills at the minimum rate. Every packet drains it, also one that the window
/// permits. It holds what the minimum rate sends in [`SILENCE`], so that bursts of losses, in which
/// acknowledgements are missing, do not end a conversation.
#[derive(Debug, Clone, Default)]
pub(super) struct Floor {
    /// The minimum rate in bytes per second.
    rate: u32,
    /// The bytes that may be sent now. Negative after a packet that was larger than the tokens.
    tokens: f64,
    filled: Duration,
    acknowledged: Option<Duration>,
}

impl Floor {
    pub(super) fn set_rate(&mut self, bytes_per_second: u32) {
        self.rate = bytes_per_second.min(FLOOR_MOST);
    }

    pub(super) fn on_sent(&mut self, now: Duration, bytes: u64) {
        // The debt is limited like the credit. Otherwise a large transfer would end the floor for
        // long.
        self.tokens = (self.tokens_at(now) - bytes as f64).max(-self.most());
        debug_assert!(self.tokens.abs() <= self.most(), "credit and debt are of a second at most");
        self.filled = self.filled.max(now);
    }

    pub(super) fn on_acknowledged(&mut self, now: Duration) {
        self.acknowledged = Some(now);
    }

    /// Whether a packet may be sent now.
    pub(super) fn permits(&self, now: Duration) -> bool {
        let is_heard = self.acknowledged.is_some_and(|at| now.saturating_sub(at) < SILENCE);
        is_heard && self.tokens_at(now) > 0.0
    }

    fn tokens_at(&self, now: Duration) -> f64 {
        let passed = now.saturating_sub(self.filled).as_secs_f64();
        (self.tokens + passed * f64::from(self.rate)).min(self.most())
    }

    fn most(&self) -> f64 {
        f64::from(self.rate) * SILENCE.as_secs_f64()
    }
}
