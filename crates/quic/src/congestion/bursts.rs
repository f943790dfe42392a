//! How long packets wait behind others of this connection that left shortly before.

use std::time::Duration;

/// The longest such wait that is assumed: for that long the other end may hold acknowledgements
/// back (T21), and the packets that one of them permits leave at once.
const LONGEST: Duration = Duration::from_millis(45);

/// A virtual queue with the packets that were acknowledged. It drains a quarter faster than the
/// path delivered lately, so that it holds bursts and no standing queue.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Bursts {
    /// When the newest packet was sent.
    newest: Duration,
    /// The wait of that packet.
    before: Duration,
    /// The wait of a packet that would have been sent right after it.
    after: Duration,
}

impl Bursts {
    /// Notes an acknowledged packet that was sent at `sent`. The path takes it in this time.
    pub(super) fn on_acknowledged(&mut self, sent: Duration, takes: Duration) {
        let passed = sent.saturating_sub(self.newest);
        self.newest = self.newest.max(sent);
        self.before = self.after.saturating_sub(passed.saturating_add(passed / 4));
        self.after = self.before.saturating_add(takes).min(LONGEST);
        debug_assert!(self.before <= self.after, "a later packet of the burst waits for longer");
    }

    /// How long the newest acknowledged packet waited behind others of its burst.
    pub(super) fn wait(&self) -> Duration {
        self.before
    }
}
