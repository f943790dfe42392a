//! Detects that memory has not been used for some time, so that its owner can free it.

use core::time::Duration;

/// Memory is freed after this time without use. A room that needs it every few seconds therefore
/// keeps it.
const KEPT_FOR: Duration = Duration::from_secs(10);

/// Tracks the last use of some memory. The owner calls [`Idle::used`] at each use, and
/// [`Idle::is_over`] regularly.
#[derive(Debug, Default)]
pub(crate) struct Idle {
    /// True if the memory was used since the last call of [`Idle::is_over`].
    was_used: bool,
    /// The time of the last call of [`Idle::is_over`] before which the memory had been used.
    last_used: Duration,
}

impl Idle {
    /// Notes that the memory is used now.
    pub(crate) fn used(&mut self) {
        self.was_used = true;
    }

    /// True if the memory was used since the last call of [`Idle::is_over`].
    pub(crate) fn was_used(&self) -> bool {
        self.was_used
    }

    /// True if the memory has not been used for [`KEPT_FOR`], so that the owner is to free it.
    pub(crate) fn is_over(&mut self, now: Duration) -> bool {
        if core::mem::take(&mut self.was_used) {
            self.last_used = now;
            return false;
        }
        now.saturating_sub(self.last_used) >= KEPT_FOR
    }
}
