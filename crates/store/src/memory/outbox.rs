//! Events that wait in memory.

use std::collections::VecDeque;

use crate::api::{OVERHEAD, OutboxEvent, OutboxLimits, OutboxState};
use crate::outbox::new_state;

/// Events with numbers as in the outbox on a disk. The newest one is dropped like all others.
#[derive(Debug)]
pub(super) struct Events {
    /// Each event with the name of its room.
    events: VecDeque<(String, OutboxEvent)>,
    state: OutboxState,
    max_bytes: u64,
    /// In milliseconds.
    max_age: u64,
}

impl Events {
    /// `now`, here and below, is in milliseconds since 1970.
    pub(super) fn new(limits: OutboxLimits, now: u64) -> Self {
        let state = OutboxState { told_time: now, ..new_state() };
        let max_age = u64::try_from(limits.max_age.as_millis()).unwrap_or(u64::MAX);
        Events { events: VecDeque::new(), state, max_bytes: limits.max_bytes, max_age }
    }

    pub(super) fn put(&mut self, room: &str, bytes: Vec<u8>, now: u64) {
        self.state.bytes += cost(&bytes);
        let event = OutboxEvent { number: self.state.next, time: now, bytes };
        self.events.push_back((room.to_owned(), event));
        self.state.next += 1;
        self.trim(now);
    }

    /// The oldest events up to the number `last`, in order: at most `max_events`, and at most
    /// `max_bytes` if there is more than one.
    pub(super) fn read(
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
        let events = self.events.iter().map(|(_, event)| event);
        events.enumerate().take_while(fits).map(|(_, event)| event.clone()).collect()
    }

    pub(super) fn told(&mut self, number: u64) {
        if number <= self.state.told || number >= self.state.next {
            return;
        }
        while self.events.front().is_some_and(|(_, event)| event.number <= number)
            && let Some((_, event)) = self.events.pop_front()
        {
            self.state.bytes -= cost(&event.bytes);
            self.state.told_time = event.time;
        }
        self.state.told = number;
        self.state().check();
    }

    pub(super) fn erase_room(&mut self, room: &str) {
        let state = &mut self.state;
        self.events.retain(|(of, event)| {
            if of == room {
                state.bytes -= cost(&event.bytes);
                state.dropped += 1;
            }
            of != room
        });
    }

    pub(super) fn state(&self) -> OutboxState {
        let oldest = self.events.front().map(|(_, event)| event.time);
        OutboxState { waiting: self.events.len() as u64, oldest, ..self.state }
    }

    /// Drops the oldest events, as far as the limits demand it.
    fn trim(&mut self, now: u64) {
        let due = now.saturating_sub(self.max_age);
        while let Some((_, event)) = self.events.front()
            && (self.state.bytes > self.max_bytes || event.time < due)
        {
            self.state.bytes -= cost(&event.bytes);
            self.state.dropped += 1;
            self.events.pop_front();
        }
        self.state().check();
    }
}

fn cost(event: &[u8]) -> u64 {
    event.len() as u64 + OVERHEAD
}
