//! What the task of one room tells the webhook.

use std::collections::BTreeMap;
use std::sync::Arc;

use groupwire_session::room::{Ordered, Write};
use groupwire_session::{ParticipantId, Position};

use super::event::{Event, EventKind, Participant};
use super::queue::Queue;

/// Makes the events of one room. It keeps the participants that the receiver has been told of since
/// the start of the server.
pub(crate) struct RoomEvents {
    pub(crate) queue: Arc<Queue>,
    room: String,
    present: BTreeMap<ParticipantId, Participant>,
    /// Snapshots that are not stored yet: name, position and event.
    snapshots: Vec<(String, Position, Event)>,
}

/// The events that are stored in the same commits as a change of a room.
#[derive(Debug, Default)]
pub(crate) struct OfWrite {
    pub(crate) transactions: Vec<Event>,
    /// The events of the change's parts of a snapshot, in their order.
    pub(crate) parts: Vec<Vec<Event>>,
}

impl RoomEvents {
    pub(crate) fn new(queue: Arc<Queue>, room: &str) -> Self {
        let room = room.to_owned();
        RoomEvents { queue, room, present: BTreeMap::new(), snapshots: Vec::new() }
    }

    /// True if transactions are told.
    pub(crate) fn tells_transactions(&self) -> bool {
        self.queue.tells(EventKind::Transaction)
    }

    /// A participant joined, or is back. There is no event for one that is present for the
    /// receiver.
    pub(crate) fn joined(
        &mut self,
        number: ParticipantId,
        user: Option<&str>,
        resumed: bool,
    ) -> Vec<Event> {
        if self.present.contains_key(&number) {
            return Vec::new();
        }
        let is_first = self.present.is_empty();
        let participant = Participant { number, user: user.map(str::to_owned) };
        let opened = is_first.then(|| (EventKind::Opened, Event::opened(&self.room)));
        let joined = (EventKind::Joined, Event::joined(&self.room, &participant, resumed));
        self.present.insert(number, participant);
        self.told(opened.into_iter().chain([joined]))
    }

    /// The events of a participant that left for good.
    pub(crate) fn left(&mut self, number: ParticipantId) -> Vec<Event> {
        let Some(participant) = self.present.remove(&number) else { return Vec::new() };
        let left = (EventKind::Left, Event::left(&self.room, &participant));
        let is_last = self.present.is_empty();
        let empty = is_last.then(|| (EventKind::Empty, Event::empty(&self.room)));
        self.told([left].into_iter().chain(empty))
    }

    /// The room ends: all who are still there leave.
    pub(crate) fn ended(&mut self) -> Vec<Event> {
        let all: Vec<_> = self.present.keys().copied().collect();
        all.into_iter().flat_map(|number| self.left(number)).collect()
    }

    /// A transaction that is durable, or is stored together with the event.
    pub(crate) fn transaction(&self, transaction: &Ordered<'_>) -> Event {
        let user = self.present.get(&transaction.sender).and_then(|author| author.user.as_deref());
        Event::transaction(&self.room, transaction, user)
    }

    /// A part of the snapshot came. `is_stored`: its event is kept until the part is stored.
    pub(crate) fn snapshot(
        &mut self,
        part: &str,
        as_of: Position,
        size: usize,
        is_stored: bool,
    ) -> Vec<Event> {
        if !self.queue.tells(EventKind::Snapshot) {
            return Vec::new();
        }
        let event = Event::snapshot(&self.room, part, as_of, size);
        if !is_stored {
            return vec![event];
        }
        self.snapshots.push((part.to_owned(), as_of, event));
        Vec::new()
    }

    /// The events of a change that the room has just output to be stored, and of its transactions.
    pub(crate) fn of_write<'a>(
        &mut self,
        write: &Write,
        transactions: impl Iterator<Item = Ordered<'a>>,
    ) -> OfWrite {
        let transactions = match self.tells_transactions() {
            true => transactions.map(|one| self.transaction(&one)).collect(),
            false => Vec::new(),
        };
        // There is no event for a part that a newer one of its name replaced before it was stored.
        let snapshots = match write.parts.is_empty() {
            true => Vec::new(),
            false => std::mem::take(&mut self.snapshots),
        };
        let of_part = |name: &str, as_of| {
            let its = snapshots.iter().filter(|(one, at, _)| one == name && *at == as_of);
            its.map(|(_, _, event)| event.clone()).collect()
        };
        let parts = write.parts.iter().map(|part| of_part(&part.name, part.as_of)).collect();
        OfWrite { transactions, parts }
    }

    fn told(&self, events: impl Iterator<Item = (EventKind, Event)>) -> Vec<Event> {
        events.filter(|(kind, _)| self.queue.tells(*kind)).map(|(_, event)| event).collect()
    }
}
