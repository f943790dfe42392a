//! The queue of events of a server that stores nothing. It ends with the server.

use std::collections::VecDeque;

use groupwire_store::{OutboxEvent, OutboxState};

use crate::tools::secret::random_number;

/// The approximate bytes of memory that an event takes beside its content.
const OVERHEAD: u64 = 64;

/// Events that wait, with numbers as in the store's outbox.
#[derive(Debug)]
pub(super) struct MemoryQueue {
    events: VecDeque<OutboxEvent>,
    state: OutboxState,
    max_bytes: u64,
    /// In milliseconds.
    max_age: u64,
}

impl MemoryQueue {
    /// `now`, here and below, is in milliseconds since 1970.
    pub(super) fn new(max_bytes: u64, max_age: u64, now: u64) -> Self {
        let state = OutboxState {
            id: random_number(),
            told: 0,
            told_time: now,
            waiting: 0,
            bytes: 0,
            oldest: None,
            dropped: 0,
            next: 1,
        };
        MemoryQueue { events: VecDeque::new(), state, max_bytes, max_age }
    }

    pub(super) fn put(&mut self, bytes: Vec<u8>, now: u64) {
        self.state.bytes += bytes.len() as u64 + OVERHEAD;
        self.events.push_back(OutboxEvent { number: self.state.next, time: now, bytes });
        self.state.next += 1;
        self.trim(now);
    }

    /// The oldest events up to the number `last`, in order: at most `max_events`, and `max_bytes` if it is more than one.
    pub(super) fn events(
        &mut self,
        last: u64,
        max_events: usize,
        max_bytes: usize,
        now: u64,
    ) -> Vec<OutboxEvent> {
        self.trim(now);
        let mut size = 0;
        let fits = |(at, event): &(usize, &OutboxEvent)| {
            size += event.bytes.len();
            event.number <= last && *at < max_events && (size <= max_bytes || *at == 0)
        };
        self.events.iter().enumerate().take_while(fits).map(|(_, event)| event.clone()).collect()
    }

    pub(super) fn told(&mut self, number: u64) {
        while self.events.front().is_some_and(|event| event.number <= number)
            && let Some(event) = self.events.pop_front()
        {
            self.state.bytes -= event.bytes.len() as u64 + OVERHEAD;
            self.state.told_time = event.time;
        }
        self.state.told = self.state.told.max(number.min(self.state.next - 1));
    }

    pub(super) fn state(&self) -> OutboxState {
        let (waiting, oldest) =
            (self.events.len() as u64, self.events.front().map(|event| event.time));
        OutboxState { waiting, oldest, ..self.state }
    }

    /// Drops the oldest events, as far as the limits demand it.
    fn trim(&mut self, now: u64) {
        let due = now.saturating_sub(self.max_age);
        while let Some(event) = self.events.front()
            && (self.state.bytes > self.max_bytes || event.time < due)
        {
            self.state.bytes -= event.bytes.len() as u64 + OVERHEAD;
            self.state.dropped += 1;
            self.events.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_wait_in_order_and_the_oldest_are_dropped() {
        let mut queue = MemoryQueue::new(1000, 60_000, 0);
        (1..=20).for_each(|n| queue.put(vec![n as u8; 36], n));
        let numbers = |events: Vec<OutboxEvent>| -> Vec<u64> {
            events.into_iter().map(|event| event.number).collect()
        };
        assert_eq!((queue.state().waiting, queue.state().dropped), (10, 10));
        assert_eq!((queue.state().bytes, queue.state().oldest), (1000, Some(11)));
        assert_eq!(numbers(queue.events(99, 3, 999, 20)), [11, 12, 13]);
        assert_eq!(numbers(queue.events(99, 9, 72, 20)), [11, 12]);
        assert_eq!(numbers(queue.events(99, 9, 1, 20)), [11]);
        assert_eq!(numbers(queue.events(12, 9, 999, 20)), [11, 12]);
        queue.told(15);
        assert_eq!((queue.state().told, queue.state().told_time), (15, 15));
        assert_eq!(numbers(queue.events(99, 9, 999, 60_019)), [19, 20], "the others are too old");
        assert_eq!(queue.state().dropped, 13);
        queue.told(99);
        assert_eq!((queue.state().told, queue.state().bytes), (20, 0));
    }
}
