//! A store in simulated time: changes become durable after a while, and a crash loses those that
//! were not.

use std::collections::VecDeque;
use std::time::Duration;

use groupwire_session::room::{RESERVED_AT_ONCE, Stored, Write};
use groupwire_session::{ParticipantId, Position};

use super::Random;

#[derive(Debug, Default)]
pub(crate) struct Disk {
    /// The room as it is on the disk; `None` before its first change.
    stored: Option<Stored>,
    /// Changes that are not on the disk yet, with the time at which they will be.
    waiting: VecDeque<(Duration, Write)>,
    /// The longest time until a change is durable, in milliseconds.
    slowest_ms: u64,
    /// True: no further change becomes durable.
    pub(crate) is_stuck: bool,
    /// The number of changes that the room put out.
    pub(crate) writes: usize,
    /// The number of participants that a server reserves when it loads the room.
    pub(crate) reserves: u32,
}

impl Disk {
    /// A disk with nothing on it, whose changes take at most this long.
    pub(crate) fn new(slowest_ms: u64) -> Self {
        Disk { slowest_ms, reserves: RESERVED_AT_ONCE, ..Disk::default() }
    }

    pub(crate) fn put(&mut self, now: Duration, write: Write, random: &mut Random) {
        let due = now + Duration::from_millis(random.below(self.slowest_ms + 1));
        let last = self.waiting.back().map_or(due, |(last, _)| *last);
        self.waiting.push_back((due.max(last), write));
        self.writes += 1;
    }

    /// The last durable position and the last reserved participant, if they have changed by now.
    pub(crate) fn poll(
        &mut self,
        now: Duration,
        incarnation: u64,
    ) -> Option<(Position, ParticipantId)> {
        let mut is_news = false;
        while !self.is_stuck && self.waiting.front().is_some_and(|(due, _)| *due <= now) {
            self.apply(incarnation);
            is_news = true;
        }
        is_news.then(|| {
            (self.head(), self.stored.as_ref().map_or(ParticipantId(0), |one| one.reserved))
        })
    }

    /// The position of the last durable transaction.
    pub(crate) fn head(&self) -> Position {
        let Some(stored) = &self.stored else { return Position(0) };
        stored.head
    }

    /// The server dies. Some of the waiting changes have become durable, which was not reported to
    /// the room; the others are lost.
    pub(crate) fn crash(&mut self, incarnation: u64, random: &mut Random) {
        let kept = random.below(self.waiting.len() as u64 + 1);
        (0..kept).for_each(|_| self.apply(incarnation));
        self.waiting.clear();
    }

    /// The room as a server loads it: it reserves further participants first.
    pub(crate) fn load(&mut self) -> Option<Stored> {
        let stored = self.stored.as_mut()?;
        let last_participant = stored.reserved;
        stored.reserved = ParticipantId(last_participant.get() + self.reserves);
        Some(Stored { last_participant, ..stored.clone() })
    }

    fn apply(&mut self, incarnation: u64) {
        let Some((_, write)) = self.waiting.pop_front() else { return };
        let stored = self.stored.get_or_insert_with(|| Stored { incarnation, ..Stored::default() });
        let mut head = stored.head;
        for transaction in &write.transactions {
            assert_eq!(head.next(), transaction.position, "dense positions");
            head = transaction.position;
        }
        stored.apply(write);
    }
}
