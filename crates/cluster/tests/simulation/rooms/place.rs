//! A room that a process serves, with its side of the store, as the task of a room has it.

use std::collections::VecDeque;
use std::time::Duration;

use groupwire_session::room::{Input, Output, Room, Write, whole_packet};
use groupwire_session::{LinkId, ParticipantId};
use groupwire_store::{Append, Change, Error, Loaded, SavePart};

use super::link::Cargo;
use super::news::{Inbox, News};
use super::stored::{part, record};
use super::{Event, Rooms};
use crate::world::{Event as WorldEvent, World};

/// Clients come back after this time if the store refuses their room, or if it has moved.
const RETRY: Duration = Duration::from_millis(500);
/// A room without participants closes after this time.
const KEEP: Duration = Duration::from_secs(2);

/// The place of a room in a process.
pub(super) enum Place {
    Opening(Opening),
    Open(Box<Open>),
}

/// A room whose numbers of participants are being reserved.
pub(super) struct Opening {
    pub(super) load: u64,
    /// What the store has of it; `None` if it is not stored.
    pub(super) loaded: Option<Loaded>,
    /// The connections that wait.
    pub(super) links: Vec<LinkId>,
}

/// A room that is served.
pub(super) struct Open {
    pub(super) room: Room,
    pub(super) load: u64,
    /// The time at which the room's clock is 0.
    pub(super) started: Duration,
    timer: Duration,
    /// Changes that are not durable. The first one is on its way to the store.
    waiting: VecDeque<Write>,
    is_over: bool,
    empty_since: Option<Duration>,
}

impl Place {
    /// The number of the opening.
    pub(super) fn load(&self) -> u64 {
        match self {
            Place::Opening(opening) => opening.load,
            Place::Open(open) => open.load,
        }
    }
}

impl Open {
    pub(super) fn new(room: Room, load: u64, started: Duration) -> Self {
        let (timer, waiting) = (Duration::MAX, VecDeque::new());
        Open { room, load, started, timer, waiting, is_over: false, empty_since: None }
    }

    /// Takes a change in. Returns true if it is to be sent now.
    fn push(&mut self, mut write: Write) -> bool {
        let was_idle = self.waiting.is_empty();
        let parts = std::mem::take(&mut write.parts);
        if !write.is_empty() {
            self.waiting.push_back(write);
        }
        for part in parts {
            let mut write = Write::default();
            write.parts.push(part);
            self.waiting.push_back(write);
        }
        was_idle && !self.waiting.is_empty()
    }

    /// Joins the changes that wait, up to the first part of a snapshot, and returns the first one
    /// as the store takes it.
    fn next(&mut self) -> Option<Change> {
        let mut joined = self.waiting.pop_front()?;
        while joined.parts.is_empty()
            && self.waiting.front().is_some_and(|next| next.parts.is_empty())
            && let Some(write) = self.waiting.pop_front()
        {
            joined.transactions.extend(write.transactions);
            joined.facts = write.facts.or(joined.facts);
            joined.reserved = write.reserved.or(joined.reserved);
        }
        let (room, incarnation) = (self.room.name().to_owned(), self.room.incarnation());
        let (meta, events) = (joined.facts.clone(), Vec::new());
        let change = match joined.parts.first() {
            Some(first) => {
                Change::SavePart(SavePart { room, incarnation, part: part(first), meta, events })
            }
            None => Change::Append(Append {
                room,
                incarnation,
                records: joined.transactions.iter().map(record).collect(),
                meta,
                reserved: joined.reserved.map(ParticipantId::get),
                events,
            }),
        };
        self.waiting.push_front(joined);
        Some(change)
    }
}

impl World<Rooms> {
    /// The open room of a node.
    pub(super) fn open_room(&mut self, node: usize, room: usize) -> Option<&mut Open> {
        match self.nodes[node].process.as_mut()?.service.rooms.get_mut(&room)? {
            Place::Open(open) => Some(open),
            Place::Opening(_) => None,
        }
    }

    /// Hands an input to a room that was opened under this number, and carries out what follows.
    pub(super) fn room_input(&mut self, node: usize, (room, load): (usize, u64), input: Input<'_>) {
        let now = self.now;
        if let Some(open) = self.open_room(node, room).filter(|open| open.load == load) {
            open.room.handle_input(now - open.started, input);
            self.run_room(node, room);
        }
    }

    /// Carries out the outputs of a room.
    pub(super) fn run_room(&mut self, node: usize, room: usize) {
        while let Some(open) = self.open_room(node, room) {
            if let Some(shared) = open.room.poll_shared() {
                for link in shared.links {
                    self.send_down(link, Cargo::Packet(shared.packet.to_vec()));
                }
                continue;
            }
            match open.room.poll_output() {
                Output::Send { link, packet, body } => {
                    let packet = whole_packet(packet, body.as_deref());
                    self.send_down(link, Cargo::Packet(packet));
                }
                Output::Close { link, packet, .. } => {
                    self.send_down(link, Cargo::Packet(packet));
                    self.send_down(link, Cargo::Close);
                }
                Output::Store(write) => {
                    let is_first = open.push(write);
                    self.store_next(is_first, node, room);
                }
                Output::Timeout(at) => {
                    let at = at.map_or(Duration::MAX, |at| open.started + at);
                    return self.rest(node, room, at);
                }
                Output::Event(event) => self.log(|| format!("{node} room {room}: {event:?}")),
                _ => {}
            }
        }
    }

    /// The room has nothing to do until `at`. It closes once nobody is there.
    fn rest(&mut self, node: usize, room: usize, at: Duration) {
        let now = self.now;
        let Some(open) = self.open_room(node, room) else { return };
        let load = open.load;
        let mut at = at;
        if open.room.is_empty() && open.waiting.is_empty() {
            let since = *open.empty_since.get_or_insert(now);
            if open.is_over || now >= since + KEEP {
                self.log(|| format!("{node} closes room {room}"));
                self.nodes[node].running().service.rooms.remove(&room);
                return;
            }
            at = at.min(since + KEEP);
        } else {
            open.empty_since = None;
        }
        if at < open.timer {
            open.timer = at;
            let incarnation = self.nodes[node].running().incarnation;
            let event = Event::Room { node, incarnation, room, load };
            self.at(at, WorldEvent::Service(event));
        }
    }

    pub(super) fn room_timer(&mut self, node: usize, room: usize, load: u64) {
        if let Some(open) = self.open_room(node, room).filter(|open| open.load == load) {
            open.timer = Duration::MAX;
            self.room_input(node, (room, load), Input::Timeout);
        }
    }

    /// Hands the first change of a room to the store, if it is its turn.
    fn store_next(&mut self, is_due: bool, node: usize, room: usize) {
        let Some(open) = self.open_room(node, room).filter(|_| is_due) else { return };
        let load = open.load;
        let Some(change) = open.next() else { return };
        let inbox: &Inbox = &self.nodes[node].running().service.inbox;
        let done = inbox.done(move |outcome| News::Answer { room, load, outcome });
        self.change(node, change, done);
    }

    /// Tells a room what has become durable, or ends it.
    pub(super) fn answered(
        &mut self,
        node: usize,
        (room, load): (usize, u64),
        outcome: Result<(), Error>,
    ) {
        let Some(open) = self.open_room(node, room).filter(|open| open.load == load) else {
            return;
        };
        match outcome {
            Ok(()) => {
                let Some(write) = open.waiting.pop_front() else { return };
                let goes_on = !open.waiting.is_empty();
                self.store_next(goes_on, node, room);
                let position = write.transactions.last().map(|last| last.position);
                let input = Input::Durable {
                    position: position.unwrap_or_default(),
                    reserved: write.reserved.unwrap_or_default(),
                };
                self.room_input(node, (room, load), input);
            }
            Err(error) => {
                assert_eq!(error, Error::Moved, "the store refuses a change of room {room}");
                self.end_room(node, room);
            }
        }
    }

    /// Disconnects everybody and ends a room.
    pub(super) fn end_room(&mut self, node: usize, room: usize) {
        let now = self.now;
        self.log(|| format!("{node} ends room {room}"));
        let Some(open) = self.open_room(node, room) else { return };
        open.is_over = true;
        let input = Input::Shutdown { retry: RETRY, step: Duration::ZERO };
        open.room.handle_input(now - open.started, input);
        self.run_room(node, room);
        self.nodes[node].running().service.rooms.remove(&room);
    }
}
