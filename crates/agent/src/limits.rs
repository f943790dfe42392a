//! The limits of one agent. They bound what a model that errs, or that others talk into something,
//! can do to rooms and to the memory of this program.

use std::time::Duration;

/// The limits of one agent.
///
/// ```
/// let limits = groupwire_agent::Limits { rooms: 2, ..Default::default() };
/// assert!(limits.wait.as_secs() < 60);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Most rooms that the agent is in at the same time.
    pub rooms: usize,
    /// Most channels that it opens in a room.
    pub channels: usize,
    /// Changes per second that it may make over a longer time: messages, presence, shared data. A
    /// person who types quickly sends about as many messages in a minute.
    pub changes_per_second: u32,
    /// Changes that it may make at once, after a pause.
    pub burst: u32,
    /// Most Yjs documents of a room that it opens.
    pub documents: usize,
    /// Most bytes of a Yjs document, as updates. A larger one cannot be read. The part of a
    /// snapshot of a room in memory has at most as many.
    pub document_bytes: usize,
    /// Most messages that are kept of a channel; the oldest ones are dropped.
    pub buffered_messages: usize,
    /// Most bytes of messages that are kept of a channel.
    pub buffered_bytes: usize,
    /// Most participants of a room whose presence is kept. Of a large room the server announces
    /// only those that act.
    pub participants: usize,
    /// Most bytes of one message that the agent sends.
    pub message_bytes: usize,
    /// Most bytes of content in the result of a tool. 32 KiB are about 8,000 tokens of a model,
    /// whose context should hold several results.
    pub result_bytes: usize,
    /// Most messages or participants in the result of a tool.
    pub result_items: usize,
    /// The longest time that `wait_for_changes` waits. Hosts of MCP give up after 60 s.
    pub wait: Duration,
    /// Most calls of `wait_for_changes` at the same time.
    pub waits: usize,
    /// How long tools wait for the answer of the server.
    pub answer: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            rooms: 8,
            channels: 32,
            changes_per_second: 5,
            burst: 20,
            documents: 4,
            document_bytes: 4 << 20,
            buffered_messages: 500,
            buffered_bytes: 256 << 10,
            participants: 1000,
            message_bytes: 16 << 10,
            result_bytes: 32 << 10,
            result_items: 100,
            wait: Duration::from_secs(50),
            waits: 8,
            answer: Duration::from_secs(15),
        }
    }
}

/// A token bucket: how many changes the agent may make now. Time is an argument.
#[derive(Debug)]
pub(crate) struct Bucket {
    /// Changes that may be made now, in thousandths.
    level: u64,
    filled_at: Duration,
}

impl Bucket {
    pub(crate) fn new(limits: &Limits) -> Self {
        Bucket { level: u64::from(limits.burst) * 1000, filled_at: Duration::ZERO }
    }

    /// Takes one change.
    ///
    /// # Errors
    /// How long to wait until there is one.
    pub(crate) fn take(&mut self, limits: &Limits, now: Duration) -> Result<(), Duration> {
        let rate = u64::from(limits.changes_per_second.max(1));
        let passed = now.saturating_sub(self.filled_at).as_millis();
        let gained = u64::try_from(passed).unwrap_or(u64::MAX).saturating_mul(rate);
        self.level = self.level.saturating_add(gained).min(u64::from(limits.burst) * 1000);
        self.filled_at = now;
        match self.level.checked_sub(1000) {
            Some(rest) => {
                self.level = rest;
                Ok(())
            }
            None => Err(Duration::from_millis((1000 - self.level).div_ceil(rate))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_a_burst_changes_come_at_the_rate() {
        let limits = Limits { burst: 3, changes_per_second: 2, ..Limits::default() };
        let mut bucket = Bucket::new(&limits);
        let mut take = |ms| bucket.take(&limits, Duration::from_millis(ms));
        (0..3).for_each(|_| assert_eq!(take(0), Ok(())));
        assert_eq!(take(0), Err(Duration::from_millis(500)));
        assert_eq!(take(499), Err(Duration::from_millis(1)));
        assert_eq!(take(500), Ok(()));
        // A clock that goes back gives nothing.
        assert!(take(0).is_err());
        assert_eq!((0..9).filter(|_| take(1_000_000).is_ok()).count(), 3);
    }
}
