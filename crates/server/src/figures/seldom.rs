//! Keeps clients that repeat the same fault from filling the log.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The shortest time between two lines of the same kind.
const INTERVAL: Duration = Duration::from_secs(60);

/// Decides which events of one kind get a line in the log: one per minute at most.
#[derive(Debug, Default)]
pub(crate) struct Seldom(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    last: Option<Instant>,
    /// Events without a line since the last line.
    unlogged: u64,
}

impl Seldom {
    /// Counts an event. Returns the number of events without a line since the last one if this
    /// event gets a line.
    pub(crate) fn turn(&self, now: Instant) -> Option<u64> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.last.is_some_and(|last| now < last + INTERVAL) {
            state.unlogged += 1;
            return None;
        }
        state.last = Some(now);
        Some(std::mem::take(&mut state.unlogged))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_event_gets_one_line_per_minute_which_counts_the_others() {
        let (seldom, start) = (Seldom::default(), Instant::now());
        assert_eq!(seldom.turn(start), Some(0));
        for second in 1..60 {
            assert_eq!(seldom.turn(start + Duration::from_secs(second)), None);
        }
        assert_eq!(seldom.turn(start + INTERVAL), Some(59));
        assert_eq!(seldom.turn(start + INTERVAL * 9), Some(0));
    }
}
