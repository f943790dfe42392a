//! Events that wait in memory.

use std::collections::VecDeque;

use crate::api::{OVERHEAD, OutboxEvent, OutboxLimits, OutboxState};
use crate::outbox::{new_state, row_of, rows_of};

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

    /// Puts events of a room, the first with the number `first`, if they are of a shard.
    pub(super) fn put(&mut self, room: &str, events: &[Vec<u8>], first: Option<u64>, now: u64) {
        for (bytes, number) in events.iter().zip(first.unwrap_or(self.state.next)..) {
            self.state.bytes += cost(bytes);
            let event = OutboxEvent { number, time: now, bytes: bytes.clone() };
            self.events.push_back((room.to_owned(), event));
            self.state.next += 1;
            self.trim(now);
        }
    }

    /// The events of a shard with their rooms and with their numbers there.
    pub(super) fn of_shard(&self, shard: u16) -> impl Iterator<Item = (&str, OutboxEvent)> {
        let (after, last) = rows_of(shard);
        let (after, last) = (after.cast_unsigned(), last.cast_unsigned());
        let is_of_shard = move |number| number > after && number <= last;
        let events = self.events.iter().filter(move |(_, event)| is_of_shard(event.number));
        events.map(move |(room, event)| {
            (room.as_str(), OutboxEvent { number: event.number - after, ..event.clone() })
        })
    }

    /// Erases the events of a shard up to `number`, which were told.
    pub(super) fn erase_told(&mut self, shard: u16, number: u64) {
        let told = row_of(shard, 0) + 1..=row_of(shard, number);
        self.erase(|_, event| told.contains(&event.number));
    }

    /// Erases the events of a shard.
    pub(super) fn erase_shard(&mut self, shard: u16) {
        self.erase_told(shard, rows_of(0).1.cast_unsigned() - row_of(0, 0));
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
        let events = self.events.iter().map(|(_, event)| event.clone());
        fitting(events.take_while(|event| event.number <= last), max_events, max_bytes)
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
        self.state.dropped += self.erase(|of, _| of == room);
    }

    /// Erases the events that `goes` names. Returns their count.
    fn erase(&mut self, goes: impl Fn(&str, &OutboxEvent) -> bool) -> u64 {
        let before = self.events.len();
        let bytes = &mut self.state.bytes;
        self.events.retain(|(room, event)| {
            let goes = goes(room, event);
            *bytes -= if goes { cost(&event.bytes) } else { 0 };
            !goes
        });
        (before - self.events.len()) as u64
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

/// The first events: at most `max_events`, and at most `max_bytes` if there is more than one.
pub(super) fn fitting(
    events: impl Iterator<Item = OutboxEvent>,
    max_events: usize,
    max_bytes: usize,
) -> Vec<OutboxEvent> {
    let mut size = 0;
    let fits = |(at, event): &(usize, OutboxEvent)| {
        size += event.bytes.len();
        *at < max_events && (size <= max_bytes || *at == 0)
    };
    events.enumerate().take_while(fits).map(|(_, event)| event).collect()
}

fn cost(event: &[u8]) -> u64 {
    event.len() as u64 + OVERHEAD
}
