//! Whether memory was of use lately.

use core::time::Duration;

/// How long memory that is of no use is kept.
const KEPT_FOR: Duration = Duration::from_secs(10);

/// When something was last of use, told by whoever looks now and then.
#[derive(Debug, Default)]
pub(crate) struct Idle {
    was_used: bool,
    last_used: Duration,
}

impl Idle {
    /// It is of use.
    pub(crate) fn used(&mut self) {
        self.was_used = true;
    }

    /// Whether it was since somebody last looked.
    pub(crate) fn was_used(&self) -> bool {
        self.was_used
    }

    /// Looks: whether it was of no use for so long that its memory is to be given back.
    pub(crate) fn is_over(&mut self, now: Duration) -> bool {
        if core::mem::take(&mut self.was_used) {
            self.last_used = now;
            return false;
        }
        now.saturating_sub(self.last_used) >= KEPT_FOR
    }
}
