//! The rate that may be sent whatever the window is: the minimum rates of the channels.

use std::time::Duration;

/// The most that the floor grants, in bytes per second: 64 kbit/s (T24).
pub const FLOOR_MOST: u32 = 8000;

/// The floor ends when no acknowledgement came for this long (T24).
const SILENCE: Duration = Duration::from_secs(1);

/// A bucket that fills at the minimum rate, and that every packet drains: what the window permits is not granted again.
/// It holds what is needed in [`SILENCE`], so that bursts of losses, in which acknowledgements are missing, do not end
/// a conversation.
#[derive(Debug, Clone, Default)]
pub(super) struct Floor {
    /// In bytes per second.
    rate: u32,
    /// The bytes that may be sent now. Below zero after a packet that was larger than that.
    tokens: f64,
    filled: Duration,
    acknowledged: Option<Duration>,
}

impl Floor {
    pub(super) fn set_rate(&mut self, bytes_per_second: u32) {
        self.rate = bytes_per_second.min(FLOOR_MOST);
    }

    pub(super) fn on_sent(&mut self, now: Duration, bytes: u64) {
        // The debt is limited as the credit is, or a large transfer would take the floor away for long.
        self.tokens = (self.tokens_at(now) - bytes as f64).max(-self.most());
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
